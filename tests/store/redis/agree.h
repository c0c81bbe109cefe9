/*
 * agree.h: what the parts of agree.c share: calls at random, a real server whose keys can be read
 * back as a ledger's text, and a count of what came.
 */
#ifndef TAKT_TESTS_STORE_REDIS_AGREE_H
#define TAKT_TESTS_STORE_REDIS_AGREE_H

#include <hiredis/hiredis.h>

#include "store/store.h"

#define AGREE_TEXT_MAX 65536
#define AGREE_POLICIES 3
#define AGREE_WORKERS  40
#define AGREE_ZONES    4
#define AGREE_SLOTS    16 /* that a settle may be about */
#define AGREE_WAKES    (17 * TAKT_WAKES_MAX + 64)

/* A step: one call at one instant, and what it may point to. */
typedef struct agree_step {
    int64_t now_us;
    takt_store_call call;
    int worker; /* of the claim, in the world */
    takt_claim claim;
    takt_award award;
} agree_step;

/* The timezones that rules name. */
extern const char *const agree_zones[AGREE_ZONES];

/* What a run's calls are drawn from. */
typedef struct agree_world {
    uint64_t random;
    int64_t now_us;
    takt_limit policies[AGREE_POLICIES]; /* what workers with old and new policies say */
    int policy_count;
    int workers;
    int64_t seqs[AGREE_WORKERS];
    int64_t holding[AGREE_WORKERS]; /* permits, as its last award had it, less what it released */
    int64_t slots_us[AGREE_SLOTS];  /* given lately, and what they took */
    int64_t costs[AGREE_SLOTS];
    int slot_count;
    bool calm;  /* few want little: mostly there is no line */
    bool crowd; /* many want one slot each: a permit that one worker has all of, or a place in line
                 */
    bool counts_requests; /* some rules do */
    bool pace;            /* a few stand in line for one rule, and want the same again and again */
    bool share;           /* a few share permits, and mostly want one or two more */
    bool jumps;           /* the clock does */
    bool damages;         /* somebody else writes to the ledger's keys */
} agree_world;

void agree_world_draw(agree_world *world, uint64_t seed);

/* The number of one of the AGREE_WORKERS. */
uint64_t agree_world_worker(int worker);
void agree_step_draw(agree_world *world, agree_step *step);

/* What the step's worker makes of its award. */
void agree_step_learn(agree_world *world, const agree_step *step);

/* A step and what lib/core made of it. */
typedef struct agree_outcome {
    agree_step step;
    char before[AGREE_TEXT_MAX], after[AGREE_TEXT_MAX]; /* the ledger's text; "": there is none */
    int64_t expired_at_us;                              /* that of before */
    int64_t expires_at_us;                              /* that of after */
    int64_t later_us;                                   /* than the step before it */
    bool damaged;                                       /* before could not be read */
    bool touched;                                       /* somebody else wrote to before */
    bool lost_held;                                     /* they deleted what is held */
    bool five; /* the call names the key of the holders; `wish`: it was asked for that */
    bool wish;
    bool brief; /* it can be asked with one key, and was, of a copy of the ledger's text */
} agree_outcome;

/* Counts the outcome among those of its kinds. */
void agree_kinds_count(const agree_outcome *ran);

/* Prints how many came of each kind.  False: there is one of which none came. */
bool agree_kinds_print(void);

/* What the server answered to a claim with one key, and that key before and after it. */
typedef struct agree_brief_answer {
    redisReply *reply, *before, *after;
    int64_t expired_at_ms, expires_at_ms; /* -2: there is none */
} agree_brief_answer;

/* What the server answered to one step, and its keys after it. */
typedef struct agree_answer {
    agree_brief_answer brief; /* if it was asked so, on a copy of the text, before the step */
    redisReply *reply;
    char text[AGREE_TEXT_MAX]; /* the keys as one ledger's text; "" without any */
    size_t size;
    int64_t expires_at_ms;   /* of the ledger's text; -2: there is none */
    bool refused;            /* a call without the key of the holders was not asked for it */
    char wakes[AGREE_WAKES]; /* the workers that were woken */
} agree_answer;

/* Prints what is wrong, with the seed and the step, and ends the program. */
__attribute__((noreturn)) void agree_fail(const char *what);

/* Starts a server of our own, which ends with this process.  False: there is none on this host. */
bool agree_server_start(void);

/* Forgets all ledgers. */
void agree_server_clear(void);

/* Overwrites the ledger's text, without its places. */
void agree_server_put(const char *text, size_t size, int64_t expires_at_ms);

/* Deletes the places and their order. */
void agree_server_lose_line(void);

/* Deletes what is held. */
void agree_server_lose_held(void);

/* Deletes the ledger's text and its line. */
void agree_server_lose_text(void);

/* A step's call goes into the pipeline; answers are taken in the same order.  Where the outcome is
 * a wish, it is said once without the key of the holders, which is to be asked for.  Says whether
 * it was brief. */
void agree_server_send(agree_outcome *ran);
void agree_server_answer(agree_answer *answer, const agree_outcome *ran);
void agree_answer_free(agree_answer *answer);

/* The line as the text lists it, appended at `at`; *latest_us is when its last worker is taken for
 * dead. */
char *agree_keys_line(char *at, const redisReply *places, const redisReply *line,
                      int64_t *latest_us);

/* There are pages for the entries that the text tells of, and no others. */
void agree_keys_log(const char *text, const redisReply *log);

/* Until when the text says that something is held; 0: it does not. */
int64_t agree_keys_leased(const char *text);

/* The holders as the text lists them, appended at `at`.  Where the ledger's text does not tell of
 * any, the key is of no use. */
char *agree_keys_held(char *at, const redisReply *reply, int64_t leased_us, int64_t expires_at_ms);

#endif
