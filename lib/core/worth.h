/*
 * worth.h: what a turn in line is worth, and who owes turns to others.
 *
 * Most turns are a share, and count alike.  A worker whose request needs more than a share gets it
 * whole; otherwise small requests would starve it.  Such a turn is worth several of the others', so
 * the place goes so far back that each of these has as much in the meantime.  "As much" is the time
 * in which the rules give it, of the unit that takes longest: so workers that need different units
 * have the same dominant share (Ghodsi et al., Dominant Resource Fairness, NSDI 2011; the order is
 * that of start-time fair queueing).
 */
#ifndef TAKT_CORE_WORTH_H
#define TAKT_CORE_WORTH_H

#include "core/ledger.h"

/* The worth of what the rules give in a lookahead, in numbers of the line. */
#define TAKT_WORTH_STEP 4096
/* So far a place looks ahead: many keepalives. */
#define TAKT_WORTH_AHEAD_MAX (1024 * TAKT_WORTH_STEP)
/* It looks again after a part of that time: the others may leave, or want less. */
#define TAKT_WORTH_AHEAD_PART 4

/* Notes in the place what its turn is worth, in which it was `given` so much, and what a usual turn
 * is: a share, or if each place needs more at once, the least of these needs. */
void takt_worth_note(const takt_ledger *ledger, takt_place *place, takt_amounts given);

/* What a place that owes turns leaves at least to so many others before it, of which the first is
 * so many numbers ahead. */
takt_amounts takt_worth_before(const takt_ledger *ledger, int64_t numbers, int64_t others);

#endif
