/*
 * award.h: what every answer to a worker tells, whether it claims or tries: how the ledger stands,
 * what the worker holds and under which numbers, and who is to be woken.
 */
#ifndef TAKT_CORE_AWARD_H
#define TAKT_CORE_AWARD_H

#include "core/ledger.h"

/* An award of nothing yet.  award->stale: a younger statement of the worker was heard, and nothing
 * is to be done. */
void takt_award_begin(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                      takt_award *award);

/* Names a worker among those that should claim now, once, as long as there is space. */
void takt_award_wake(takt_award *award, uint64_t worker);

/* Its slots are in award->runs, what the worker holds without them in award->holding, and the
 * ledger has written both down. */
void takt_award_end(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                    takt_award *award);

#endif
