/*
 * outcome.h: what the status of an answer means for its job.
 */
#ifndef TAKT_WORKERS_CALL_OUTCOME_H
#define TAKT_WORKERS_CALL_OUTCOME_H

#include <stdbool.h>

typedef enum takt_caller_outcome {
    TAKT_CALLER_OUTCOME_DONE,
    TAKT_CALLER_OUTCOME_RETRY,
    /* too fast: the fleet pauses and slows down; the job is tried again */
    TAKT_CALLER_OUTCOME_PENALIZE,
    /* overloaded until a given time: the fleet pauses; the job is tried again */
    TAKT_CALLER_OUTCOME_BLOCK,
    TAKT_CALLER_OUTCOME_DEAD
} takt_caller_outcome;

/* `expected`: the job lists this status as good. `says_when`: the answer has a Retry-After. */
takt_caller_outcome takt_caller_outcome_of(long status, bool expected, bool says_when);

#endif
