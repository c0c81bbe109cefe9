/*
 * claim_plan.h: when the worker of a claim should claim again, by each of its places, and which
 * other worker should, out of its turn.
 */
#ifndef TAKT_CORE_CLAIM_PLAN_H
#define TAKT_CORE_CLAIM_PLAN_H

#include "core/ledger.h"

/* Plans the next claim of each of the worker's places, and tells where it stands: in_line,
 * least_urgent, next_slot_at_us.  Sets `prompt` if the inner limits of one hold it up. */
void takt_claim_plan(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                     takt_award *award);

/* Whether others want more than the rules give in the two lookaheads for which they state it, and
 * that is at least TAKT_FULL_MIN.  Where it is less, a slot is rarer than claims are late. */
bool takt_claim_is_full(const takt_ledger *ledger, uint64_t worker);

/* With drop-oldest, the places behind the dropped ones move to the front earlier than planned: the
 * first one must claim when its turn is now, or slots would pass unused. */
void takt_claim_hurry(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                      takt_award *award);

/* The first place in line that is not aside; line_count: none. */
int takt_claim_first_in_line(const takt_ledger *ledger);

#endif
