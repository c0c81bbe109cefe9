/*
 * cost.h: the real cost of a call, as the vendor's answer states it: a number in a JSON document,
 * or in the last of several server-sent events that has it. Whoever makes the call settles the job
 * with it.
 */
#ifndef TAKT_WORKERS_CALL_COST_H
#define TAKT_WORKERS_CALL_COST_H

#include <stddef.h>
#include <stdint.h>

#define COST_WHY_SIZE 320

typedef enum takt_caller_cost_verdict {
    TAKT_CALLER_COST_FOUND,
    TAKT_CALLER_COST_MISSING, /* the answer does not state it; null counts as missing */
    TAKT_CALLER_COST_WRONG    /* what stands there is not a cost */
} takt_caller_cost_verdict;

/*
 * Reads the cost at `pointer` (pointer.h) from an answer's body; `type` is its Content-Type. Found:
 * *cost is 0 to TAKT_SETTLED_MAX. Otherwise *cost is unchanged, and `why` says in one line what was
 * found instead.
 */
takt_caller_cost_verdict takt_caller_cost_read(const char *pointer, const char *type,
                                               const char *body, size_t size, int64_t *cost,
                                               char why[COST_WHY_SIZE]);

#endif
