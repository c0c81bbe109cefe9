/*
 * cost.h: the real costs of a call, as the vendor's answer states them: numbers in a JSON document,
 * or each in the last of several server-sent events that has it. settle.h settles the job with
 * them.
 */
#ifndef TAKT_WORKERS_CALL_COST_H
#define TAKT_WORKERS_CALL_COST_H

#include <stddef.h>
#include <stdint.h>

#include "pointer.h"

#define COST_WHY_SIZE 320

typedef enum takt_caller_cost_verdict {
    TAKT_CALLER_COST_FOUND,
    TAKT_CALLER_COST_MISSING, /* the answer does not state it; null counts as missing */
    TAKT_CALLER_COST_WRONG    /* the value there is not a cost */
} takt_caller_cost_verdict;

typedef struct takt_caller_cost {
    takt_caller_unit_pointer from; /* set by the caller */
    takt_caller_cost_verdict verdict;
    int64_t amount;          /* found: 0 to TAKT_SETTLED_MAX */
    char why[COST_WHY_SIZE]; /* not found: the value there, in one line */
} takt_caller_cost;

/* Reads the costs at their pointers from an answer's body; `type` is its Content-Type. */
void takt_caller_costs_read(takt_caller_cost *costs, int count, const char *type, const char *body,
                            size_t size);

#endif
