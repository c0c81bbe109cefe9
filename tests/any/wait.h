/*
 * wait.h: shared by the parts of any_wait.c: a world of one store and several clients with limits
 * within each other, in which everything that waits has to start.
 */
#ifndef TAKT_TESTS_ANY_WAIT_H
#define TAKT_TESTS_ANY_WAIT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <takt/takt.h>
#include <uv.h>

enum { LEVELS = 3, KEYS = 3, PARTIES = 4, JOBS = 80, CALLS = 8, TEXT_SIZE = 4096 };

/* SLOW: the messages to and from the server take their time.  With an agent, some of the clients
 * use it and the others the store that it has. */
typedef enum store_kind {
    MEMORY,
    FILE_STORE,
    REDIS,
    SLOW,
    AGENT_FILE,
    AGENT_REDIS,
    KINDS
} store_kind;

extern const char *const level_names[LEVELS]; /* the innermost first */
extern const char *const level_keys[KEYS];

/* A policy, and what the model knows of it. */
typedef struct plan {
    takt_policy *policy;
    bool has[LEVELS];    /* which limits there are */
    int permits[LEVELS]; /* of each key, where all work is bound by them; 0: not known */
    bool bounded;        /* waiters may fail with FULL */
    char text[TEXT_SIZE];
    struct plan *next;
} plan;

/* A number from 0 on, drawn from the seed. */
int64_t below(int64_t limit);
bool one_in(int64_t n);

/* Ends the program with the seed if the condition is false. */
#define MUST(holds, ...)                                                                           \
    do {                                                                                           \
        if (!(holds))                                                                              \
            fail(__FILE__, __LINE__, #holds, __VA_ARGS__);                                         \
    } while (0)
_Noreturn void fail(const char *file, int line, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- wait_plan.c ----------------------------------------------------------------------------- */

/* What all policies of a world have in common; drawn first. */
void plan_begin(void);
plan *plan_new(void);
void plan_free(plan *plan);

/* A policy that has all limits, and is older than any other: for a client that looks. */
const char *plan_of_observer(void);

#endif
