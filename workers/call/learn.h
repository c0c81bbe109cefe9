/*
 * learn.h: lowers our count of remaining tokens to the vendor's, if the policy says so (`learn`).
 * Never raises it.
 */
#ifndef TAKT_WORKERS_CALL_LEARN_H
#define TAKT_WORKERS_CALL_LEARN_H

#include <stdbool.h>
#include <takt/worker.h>

#include "vendor_fields.h"

/* The words of one answer. `age_us`: time since the call was sent; the vendor's numbers are no
 * older. A word about a unit that the limit does not count is ignored. */
void takt_caller_learn(const takt_job *job, const takt_caller_vendor_word *words, int count,
                       int64_t age_us);

/* Whether the vendor's numbers, which must include `remaining`, are still valid at that age. */
bool takt_caller_learn_holds(const takt_caller_vendor_word *word, int64_t age_us);

#endif
