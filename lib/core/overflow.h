/*
 * overflow.h: which waiters leave if more wait than max_waiting allows.
 *
 * With `refuse`, only newcomers leave: waiters of the claim that no award has counted before.
 *
 * With the other strategies nothing remembers a dropped waiter.  The ledger lowers the count of its
 * worker's place, and names the worker among those that should claim now.  That worker's next claim
 * exceeds the bound again by the same rule, and its award says how many to refuse.  If there is
 * space by then, the worker keeps them.
 *
 * An inner limit (inner.h) bounds the waiters in its own line, where parked ones count as well.  A
 * waiter that leaves one level leaves all of them.  So of several full levels the one with the most
 * waiters too many decides how many leave.  If the levels' strategies differ, those that refuse
 * come first, then the others, the innermost first.  A level that refuses counts waiters of other
 * workers that another level has dropped until their worker claims.
 *
 * A line with too many tenants has no space for a claim (takt_award.unlisted): for none of its
 * priorities, if it lacks space for one.  Accepted waiters then lose their places there, too.  With
 * `refuse` the claim's own waiters count beside that line all the same, as far as the innermost
 * line has them, but not those of other such claims.  They do not if the innermost line is the full
 * one.
 */
#ifndef TAKT_CORE_OVERFLOW_H
#define TAKT_CORE_OVERFLOW_H

#include "core/ledger.h"

/* Call after a claim's turns were served.  If too many wait, waiters of other workers that were
 * given nothing leave the line, or award->refused says how many of its own the claiming worker must
 * refuse.  True: waiters that have left may have stood in front, so that others come to the front
 * sooner than planned. */
bool takt_overflow_apply(takt_ledger *ledger, const takt_claim *claim, takt_award *award);

/* Whether an inner limit has more waiters than half of its bound. */
bool takt_overflow_is_near(const takt_ledger *ledger);

#endif
