/*
 * agree.h: shared by the parts of agree.c: random calls, a real server whose keys can be read back
 * as a ledger's text, and a count of the kinds of calls.
 */
#ifndef TAKT_TESTS_STORE_REDIS_AGREE_H
#define TAKT_TESTS_STORE_REDIS_AGREE_H

#include <hiredis/hiredis.h>

#include "store/store.h"

#define AGREE_TEXT_MAX 65536
#define AGREE_POLICIES 3
#define AGREE_WORKERS  40
#define AGREE_ZONES    4
#define AGREE_LEDGERS  (TAKT_INNER_MAX + 2) /* the outermost, and those of inner limits */
#define AGREE_SLOTS    16                   /* that a settle may be about */
#define AGREE_WAKES    (17 * TAKT_WAKES_MAX + 64)

/* A step: one call at one instant, and the data that it points to. */
typedef struct agree_step {
    int64_t now_us;
    takt_store_call call;
    int ledger; /* of the AGREE_LEDGERS */
    takt_store_inner inner[TAKT_INNER_MAX];
    int inner_ledgers[TAKT_INNER_MAX];
    int worker; /* of the claim, in the world */
    takt_claim claim;
    takt_award award;
    takt_tenant_standing tenants[TAKT_TENANTS_MAX]; /* of a peek */
} agree_step;

/* The timezones that rules name. */
extern const char *const agree_zones[AGREE_ZONES];

/* What a run's calls are drawn from. */
typedef struct agree_world {
    uint64_t random;
    int64_t now_us;
    takt_limit policies[AGREE_POLICIES]; /* what workers with old and new policies say */
    int policy_count;
    takt_limit inner[TAKT_INNER_MAX][AGREE_POLICIES];
    int inner_count;                     /* limits within this one, the innermost first */
    takt_unit_map units[TAKT_INNER_MAX]; /* which of the claims' amounts theirs are */
    int workers;
    int64_t seqs[AGREE_WORKERS];
    int64_t holding[AGREE_WORKERS]; /* permits, as in its last award, minus those released */
    int64_t slots_us[AGREE_SLOTS];  /* recent grants and their costs */
    int64_t costs[AGREE_SLOTS];
    takt_more more[AGREE_SLOTS];
    int slot_count;
    bool calm;  /* few want little: mostly there is no line */
    bool crowd; /* many want one slot each: a permit that one worker has all of, or a place in line
                 */
    bool counts_requests; /* some rules do */
    int counts_more;      /* some rules count so many further units */
    bool pace;            /* a few stand in line for one rule, and want the same again and again */
    bool share;           /* a few share permits, and mostly want one or two more */
    bool nests;           /* inner limits are due later than this one */
    bool weighs;          /* some workers state a weight */
    bool uneven;          /* some workers need more at once than a share, and so owe turns */
    int tenants;          /* whose work the workers have; 0: the limit has none */
    int inside;           /* the innermost line has these (1), or its own within their turns (2) */
    bool jumps;           /* the clock does */
    bool damages;         /* somebody else writes to the ledger's keys */
    int filled;           /* the ledger that others fill, which has tenants; -1: none */
} agree_world;

void agree_world_draw(agree_world *world, uint64_t seed);

/* The number of one of the AGREE_WORKERS. */
uint64_t agree_world_worker(int worker);
void agree_step_draw(agree_world *world, agree_step *step);

/* What the step's worker makes of its award. */
void agree_step_learn(agree_world *world, const agree_step *step);

/* The name of one of the AGREE_LEDGERS in a server. */
const char *agree_world_name(int ledger);

/* A step and what lib/core made of it. */
typedef struct agree_outcome {
    agree_step step;
    char before[AGREE_TEXT_MAX], after[AGREE_TEXT_MAX]; /* the ledger's text; "": there is none */
    int64_t expired_at_us;                              /* that of before */
    int64_t expires_at_us;                              /* that of after */
    char inner[TAKT_INNER_MAX][AGREE_TEXT_MAX];         /* after, those of inner limits */
    int64_t inner_expire_at_us[TAKT_INNER_MAX];
    bool inner_dead[TAKT_INNER_MAX]; /* dropped although its line, of silent workers, was there */
    int64_t later_us;                /* than the step before it */
    bool damaged;                    /* before could not be read, or the text of an inner limit */
    bool touched;                    /* somebody else wrote to before */
    bool lost_held;                  /* steps that deleted the holders */
    bool five; /* the call names the key of the holders; `wish`: it was asked for that */
    bool wish;
    bool brief;  /* it has the short form, and was asked so, of a copy of the ledger's text */
    bool spared; /* it was asked with the fewest keys, too, of a copy of the ledger without line and
                    log */
} agree_outcome;

/* Counts the outcome among those of its kinds. */
void agree_kinds_count(const agree_outcome *ran);

/* Prints how many came of each kind.  False: there is one of which none came. */
bool agree_kinds_print(void);

/* What the server answered to a call with few keys, and the first key before and after it. */
typedef struct agree_copy_answer {
    redisReply *reply, *before, *after;
    int64_t expired_at_ms, expires_at_ms; /* -2: there is none */
} agree_copy_answer;

/* The keys of a ledger. */
typedef struct agree_keys {
    redisReply *first;         /* its value */
    char text[AGREE_TEXT_MAX]; /* as one ledger's text; "" without any */
    int64_t expires_at_ms;     /* of the ledger's text; -2: there is none */
} agree_keys;

/* What the server answered to one step, and its keys after it. */
typedef struct agree_answer {
    agree_copy_answer brief, spared; /* if it was asked so, of a copy, before the step */
    redisReply *reply;
    agree_keys own, inner[TAKT_INNER_MAX];
    bool refused;            /* a call without the key of the holders was not asked for it */
    char wakes[AGREE_WAKES]; /* the workers that were woken */
} agree_answer;

/* Prints the difference, with the seed and the step, and ends the program. */
__attribute__((noreturn)) void agree_fail(const char *what);

/* Starts a server of our own, which ends with this process.  False: there is none on this host. */
bool agree_server_start(void);

/* Forgets all ledgers. */
void agree_server_clear(void);

/* Overwrites a ledger's text, without its places. */
void agree_server_put(int ledger, const char *text, size_t size, int64_t expires_at_ms);

/* Deletes the places and their order. */
void agree_server_lose_line(int ledger);

/* Deletes the holders. */
void agree_server_lose_held(int ledger);

/* Deletes the ledger's text and its line. */
void agree_server_lose_text(int ledger);

/* Puts a step's call into the pipeline; answers come in the same order. If the answer would ask for
 * the key of the holders, the call is first sent without it. */
void agree_server_send(agree_outcome *ran);
void agree_server_answer(agree_answer *answer, const agree_outcome *ran);
void agree_answer_free(agree_answer *answer);

/* The line as the text lists it, appended at `at` to the `text` before it; *latest_us is when its
 * last worker is taken for dead. */
char *agree_keys_line(const char *text, char *at, const redisReply *places, const redisReply *line,
                      int64_t *latest_us);

/* The pages are exactly those of the entries in the text. */
void agree_keys_log(const char *text, const redisReply *log);

/* The text's end of the leases; 0: it has none. */
int64_t agree_keys_leased(const char *text);

/* The holders as the text lists them, appended at `at`.  Where the ledger's text does not tell of
 * any, the key is of no use. */
char *agree_keys_held(char *at, const redisReply *reply, int64_t leased_us, int64_t expires_at_ms);

#endif
