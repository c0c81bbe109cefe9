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

/* A step: one call at one instant, and what it may point to. */
typedef struct agree_step {
    int64_t now_us;
    takt_store_call call;
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
    bool calm;    /* few want little: mostly there is no line */
    bool jumps;   /* the clock does */
    bool damages; /* somebody else writes to the ledger's keys */
} agree_world;

void agree_world_draw(agree_world *world, uint64_t seed);
void agree_step_draw(agree_world *world, agree_step *step);

/* A step and what lib/core made of it. */
typedef struct agree_outcome {
    agree_step step;
    char before[AGREE_TEXT_MAX], after[AGREE_TEXT_MAX]; /* the ledger's text; "": there is none */
    int64_t expired_at_us;                              /* that of before */
    int64_t expires_at_us;                              /* that of after */
    int64_t later_us;                                   /* than the step before it */
    bool damaged;                                       /* before could not be read */
    bool touched;                                       /* somebody else wrote to before */
} agree_outcome;

/* Counts the outcome among those of its kinds. */
void agree_kinds_count(const agree_outcome *ran);

/* Prints how many came of each kind.  False: there is one of which none came. */
bool agree_kinds_print(void);

/* What the server answered to one step, and its keys after it. */
typedef struct agree_answer {
    redisReply *reply;
    char text[AGREE_TEXT_MAX]; /* the keys as one ledger's text; "" without any */
    size_t size;
    int64_t expires_at_ms; /* of the ledger's text; -2: there is none */
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

/* A step's call goes into the pipeline; answers are taken in the same order. */
void agree_server_send(const agree_step *step);
void agree_server_answer(agree_answer *answer);
void agree_answer_free(agree_answer *answer);

#endif
