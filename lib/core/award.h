/*
 * award.h: the contents of every answer to a claim or a try: the state of the ledger, what the
 * worker holds and under which numbers, and which workers to wake.
 */
#ifndef TAKT_CORE_AWARD_H
#define TAKT_CORE_AWARD_H

#include "core/ledger.h"

/* Begins an award that gives nothing yet.  award->stale: a younger statement of the worker has
 * arrived, and the call must do nothing. */
void takt_award_begin(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                      takt_award *award);

/* Completes the award.  The slots are in award->runs, the permits held without them in
 * award->holding, and the ledger has recorded both.  award->next_slot_at_us is what the line alone
 * says, 0: nothing. */
void takt_award_end(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                    takt_award *award);

/* How many slots the award gives. */
int64_t takt_award_given(const takt_award *award);

#endif
