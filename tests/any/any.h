/*
 * any.h: shared by the parts of any_use.c: a world of stores, loops, clients and permits, in which
 * everything that the public headers allow happens in any order, and a model of what must be true.
 */
#ifndef TAKT_TESTS_ANY_ANY_H
#define TAKT_TESTS_ANY_ANY_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <takt/takt.h>
#include <uv.h>

#include "store/redis/server.h"

enum { LOOPS = 2, PARTIES = 4, JOBS = 48, CALLS = 12, KEYS = 5, POLICIES = 3, SLOTS_MAX = 20000 };

typedef enum store_kind { MEMORY, SHARED_MEMORY, FILE_STORE, REDIS, NOWHERE, KINDS } store_kind;

/* A limit of the policies, as the model knows it. */
typedef struct limit_known {
    const char *name;
    int within;      /* index of the limit around; -1: none */
    int concurrency; /* the largest number in any policy; 0: none, or shadow in one */
    bool shadow;     /* in shadow in one of the policies */
} limit_known;

extern const limit_known limits[];
extern const int limit_count;
int limit_named(const char *name);

/* A client, and what the model knows of it. */
typedef struct party {
    takt_client *client; /* NULL: there is none */
    uv_loop_t *loop;
    bool closing;
    int closed; /* how many such events came */
    int64_t accepted, grants, waiting;
} party;

typedef enum phase { AT_REST, WAITING, TRYING, GRANTED } phase;

/* A permit, in memory of its own. */
typedef struct job {
    takt_permit permit;
    takt_call call; /* for a try */
    phase phase;
    party *party; /* the client of the last acquire; NULL: it is closed */
    int limit;    /* the innermost */
    int keys[TAKT_LEVELS_MAX];
    int32_t cost;
    bool cancelled, has_deadline;
    bool counted; /* among the holders of its limits */
    bool settled;
} job;

/* A call that looks or steers. */
typedef struct errand {
    takt_call call;
    party *party;
} errand;

/* A slot of the limit whose rule is checked. */
typedef struct slot {
    int64_t at_us;
    int32_t cost;
} slot;

typedef struct world {
    uint64_t seed, random;
    store_kind kind;
    bool lossy;  /* the store has lost ledgers: permits and slots may be given twice */
    bool ending; /* nothing new is begun */
    int depth;   /* callbacks that we are in */
    char url[PATH_MAX + 64], name_space[32], directory[PATH_MAX];
    uv_loop_t loops[LOOPS];
    takt_policy *policies[POLICIES];
    takt_policy *follower; /* goes by the one in the store; NULL: this kind has none */
    party parties[PARTIES];
    job *jobs[JOBS];
    errand *errands[CALLS];
    int held[32][KEYS]; /* by limits and keys */
    slot slots[KEYS][SLOTS_MAX];
    int slot_count[KEYS];
} world;

extern world here;
extern struct server server;

/* Ends the program with the seed if the condition is false. */
#define MUST(holds, ...)                                                                           \
    do {                                                                                           \
        if (!(holds))                                                                              \
            fail(__FILE__, __LINE__, #holds, __VA_ARGS__);                                         \
    } while (0)
_Noreturn void fail(const char *file, int line, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- any_use.c ------------------------------------------------------------------------------- */

int64_t below(int64_t limit); /* a number from 0 on, drawn from the seed */
bool one_in(int64_t n);

/* ---- any_world.c ----------------------------------------------------------------------------- */

void world_begin(uint64_t seed, store_kind kind);
void world_end(void);
void party_open(party *of);
void party_close(party *of);
party *any_party(void); /* the client to call; NULL: there is none */
void run_loops(void);   /* one turn of each that waits for nothing */
void await_a_while(void);
void do_fault(void);
void do_reload(party *of);
void do_apply(void);

/* ---- any_jobs.c ------------------------------------------------------------------------------ */

const char *job_key(int key);
void job_forget(party *of); /* its client is gone */
void job_lost(takt_permit *permit);
void job_given_back(party *of); /* its client was closed: its permits were released */
void job_release(job *of);
void do_acquire(void);
void do_try(void);
void do_cancel(void);
void do_release(void);
void do_settle(void);
void do_free(void);
void do_call(void);
void check_party(const party *of);
bool jobs_wait(void);
bool calls_wait(void);
void check_slots(void);

/* ---- any_acts.c ------------------------------------------------------------------------------ */

void do_anything(void);
void do_within_callback(void);

#endif
