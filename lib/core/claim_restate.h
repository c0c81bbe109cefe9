/*
 * claim_restate.h: the places of a claim's worker become what the claim says of its waiters, in the
 * outermost line and in those of inner ledgers.
 *
 * A place to which inner limits give nothing soon is parked: it leaves the outermost line, and
 * comes back with a later claim.
 */
#ifndef TAKT_CORE_CLAIM_RESTATE_H
#define TAKT_CORE_CLAIM_RESTATE_H

#include "core/ledger.h"

/* Updates the worker's places to what the claim says.  *parked_us: as of takt_claim_park. */
void takt_claim_restate(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                        takt_award *award, int64_t *parked_us);

/* A place to which inner limits give nothing soon leaves the outermost line.  *parked_us is then
 * not later than when a claim for it has a slot within the lookahead. */
void takt_claim_park(takt_ledger *ledger, int64_t now_us, uint64_t worker, int priority,
                     int64_t *parked_us);

/* Under newer numbers a cost may exceed what a rule can ever give. Nobody must wait for such a
 * waiter; its worker refuses it when it learns the numbers. */
bool takt_claim_can_be_given(const takt_ledger *ledger, const takt_want *want);

/* What the first waiter of the claiming worker's place takes, in the claim's units. */
takt_amounts takt_claim_first_of(const takt_ledger *ledger, const takt_place *place);

/* What so many waiters want, or its first waiter, beside tokens and requests. */
void takt_claim_add_more(takt_amounts *more, const takt_amounts *one, int64_t count, int units);

#endif
