/*
 * outcome.h: what an answer's status means for its job.
 */
#ifndef TAKT_WORKERS_CALL_OUTCOME_H
#define TAKT_WORKERS_CALL_OUTCOME_H

#include <stdbool.h>

typedef enum takt_caller_outcome {
    TAKT_CALLER_OUTCOME_DONE,
    TAKT_CALLER_OUTCOME_RETRY,
    TAKT_CALLER_OUTCOME_PENALIZE, /* too fast: the fleet pauses and slows down; then again */
    TAKT_CALLER_OUTCOME_BLOCK, /* overloaded, and said until when: the fleet pauses; then again */
    TAKT_CALLER_OUTCOME_DEAD
} takt_caller_outcome;

/* `expected`: it is one of those that the job calls good. `says_when`: there is a Retry-After. */
takt_caller_outcome takt_caller_outcome_of(long status, bool expected, bool says_when);

#endif
