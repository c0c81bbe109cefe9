/*
 * inner_permits.h: the permits of inner limits (`concurrency`) that nested work holds.
 *
 * A job of nested work holds one permit of each level that has permits.  So what a claim says that
 * its worker holds (takt_claim.holding) is true of each of these levels, and each inner ledger
 * records it as an outermost one does (holders.h).  A slot needs a free permit of every level.
 *
 * A place whose inner ledger has no permit for it is parked.  It stays in the line of that ledger,
 * where a release wakes it, and claims at its keepalive or when a lease ends.
 *
 * An inner ledger keeps a lease for as long as the claiming worker's policy says, if that is
 * longer than its own: a worker that only tries has not learned a shorter one.
 */
#ifndef TAKT_CORE_INNER_PERMITS_H
#define TAKT_CORE_INNER_PERMITS_H

#include "core/ledger.h"

/* Whether an inner ledger has heard a younger statement of the worker. */
bool takt_inner_permits_stale(const takt_ledger *ledger, const takt_claim *claim);

/* The worker states what it holds.  Each level records as many as all of them accept; returns that
 * number. */
int64_t takt_inner_permits_state(takt_ledger *ledger, int64_t now_us, const takt_claim *claim);

/* Gives the worker so many more permits of each inner ledger. */
void takt_inner_permits_give(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                             int64_t count);

/* Numbers so many permits in each inner ledger.  Returns the first number of the innermost one that
 * has permits, which the work gets; 0: none has any. */
int64_t takt_inner_permits_number(takt_ledger *ledger, int64_t now_us, int64_t count);

/* When a place that was parked claims again, as far as it lacks permits: at its keepalive, or when
 * a lease ends and it is the first in that line.  now_us: it lacks none. */
int64_t takt_inner_permits_again_at(const takt_ledger *ledger, int64_t now_us,
                                    const takt_place *place);

#endif
