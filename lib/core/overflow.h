/*
 * overflow.h: more wait than max_waiting allows: whose waiters leave.
 *
 * Nothing remembers a waiter that was dropped.  The place of its worker counts fewer, and the
 * worker is named among those that should claim now; what it states then is found to be too much
 * again, by the same rule, and it is told so in the answer to its own claim.  If there is space by
 * then, it keeps them.
 */
#ifndef TAKT_CORE_OVERFLOW_H
#define TAKT_CORE_OVERFLOW_H

#include "core/ledger.h"

/* After a claim's turns were served: who of those that were given nothing is more than may wait
 * leaves the line, or award->refused tells the claimer how many of its own do. */
void takt_overflow_apply(takt_ledger *ledger, const takt_claim *claim, takt_award *award);

#endif
