/*
 * pass_over.h: lines inside lines, and for which places of inner ones a claim does not wait.
 *
 * In its inner lines a claim does not wait for a place that does not go before its own one in the
 * outermost line, which has tenants: each would wait for the other.  Such places are `behind`:
 * until the claim ends, nothing is left to them there, but their turns are shares of the line.  The
 * innermost line of turns inside turns gives the outermost one its order, and passes over none.
 *
 * Places are told when to claim by an order that others change before then, and parked places are
 * not in the outermost line.  So places may still wait for each other, where a lookahead has hardly
 * a token for seconds.  A slot that has been free on all levels for a lookahead is therefore left
 * to nobody: the first claim that can use it gets it.  Those passed over so keep their turns.
 */
#ifndef TAKT_CORE_PASS_OVER_H
#define TAKT_CORE_PASS_OVER_H

#include "core/ledger.h"

/* Call when the claim's places are in all lines, and have their tenants. */
void takt_pass_over(takt_ledger *outer, int64_t now_us, uint64_t worker);

/* Call when the claim ends. */
void takt_pass_over_none(takt_ledger *outer);

#endif
