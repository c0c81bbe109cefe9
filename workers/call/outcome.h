/*
 * outcome.h: what an answer's status means for its job.
 */
#ifndef TAKT_WORKERS_CALL_OUTCOME_H
#define TAKT_WORKERS_CALL_OUTCOME_H

#include <stdbool.h>

typedef enum outcome {
    OUTCOME_DONE,
    OUTCOME_RETRY,
    OUTCOME_PENALIZE, /* too fast: the fleet pauses and slows down; then again */
    OUTCOME_BLOCK,    /* overloaded, and said until when: the fleet pauses; then again */
    OUTCOME_DEAD
} outcome;

/* `expected`: it is one of those that the job calls good. `says_when`: there is a Retry-After. */
outcome outcome_of(long status, bool expected, bool says_when);

#endif
