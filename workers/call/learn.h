/*
 * learn.h: what becomes of a vendor's word on what is left, where the policy wants it
 * (`learn: headers`): our own number goes down to it, and never up.
 */
#ifndef TAKT_WORKERS_CALL_LEARN_H
#define TAKT_WORKERS_CALL_LEARN_H

#include <stdbool.h>
#include <takt/worker.h>

#include "vendor_fields.h"

/* `age_us`: how long ago the call was sent, which the vendor cannot have answered before. */
void takt_caller_learn(const takt_job *job, const takt_caller_vendor_word *word, int64_t age_us);

/* Whether a word is still true after that age; its remaining is said. */
bool takt_caller_learn_holds(const takt_caller_vendor_word *word, int64_t age_us);

#endif
