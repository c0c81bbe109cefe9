/*
 * line.h: the workers that wait for a ledger's slots, and their order.
 *
 * A worker stands in line once for each priority of its waiters.  The line is sorted by priority,
 * then by turn; a worker that was served goes to the back of its priority.  A place is dropped when
 * its worker is silent, and passed over when the worker does not claim at the time that it was
 * given.
 */
#ifndef TAKT_CORE_LINE_H
#define TAKT_CORE_LINE_H

#include "core/ledger.h"

/* without a claim for that long, a place is dropped */
#define TAKT_SILENT_US (3 * TAKT_KEEPALIVE_US)

/* A worker whose claim is parked (takt_award.parked) comes back after that long at the latest. */
#define TAKT_PARKED_MAX_US INT64_C(30000000)

/* in a line with weights: the numbers from one turn to the next, between which others find space */
#define TAKT_TURN_STEP 4096

int takt_line_find(const takt_ledger *ledger, uint64_t worker, int priority); /* -1: not in line */
/* adds it as the last of its priority, but before those that owe turns; returns its index */
int takt_line_add(takt_ledger *ledger, uint64_t worker, int priority);
void takt_line_remove(takt_ledger *ledger, int at);

/* The place becomes what its worker now says of it, and is added if need be.  Returns its index;
 * -1: it wants nothing, and is not in line. */
int takt_line_restate(takt_ledger *ledger, int64_t now_us, const takt_place *told);

/* The others no longer wait for the place, which keeps its turn. */
void takt_line_set_aside(takt_ledger *ledger, takt_place *place);

/* Whether other places of its priority are in turn with this one, and not all have the weight 1. */
bool takt_line_is_weighed(const takt_ledger *ledger, const takt_place *place);

/*
 * The place's turn is over: it goes to the end of its priority.  If its turn was worth more than a
 * usual one, it owes turns: it goes on beyond the last number given out, by the difference, and
 * others go before it until they have reached its number.  Meanwhile each place `moves` on by the
 * worth of its turn.  moves, usual 0: nobody owes turns, and it was a usual turn.
 *
 * In a line with weights nobody owes turns.  There a place goes before those that have taken their
 * turns earlier than it, because it was late: or each time a small turn overtook a large one, it
 * would come round sooner.
 */
void takt_line_end_turn(takt_ledger *ledger, int at, int64_t moves, int64_t usual);

/* Whether a place of the priority owes turns: its number is not reached yet. */
bool takt_line_owes(const takt_ledger *ledger, int priority);

/* What the place wants of a unit, what it can use of that, and what its first waiter needs.  Of all
 * units but tokens it is at least one. */
int64_t takt_line_wanted(const takt_place *place, int unit);
int64_t takt_line_usable(const takt_place *place, int unit);
int64_t takt_line_need(const takt_place *place, int unit);

/* The shares that are left of the place's turn: one at least, and no more than it has waiters. */
int64_t takt_line_shares(const takt_place *place);

/* Applies the changes that only time brings: drops silent workers, passes over late heads. */
void takt_line_tidy(takt_ledger *ledger, int64_t now_us);

/* Whether a younger statement of the worker has arrived. */
bool takt_line_is_stale(const takt_ledger *ledger, const takt_claim *claim);

/* Counts all waiters, and the workers that they are in. */
void takt_line_count(const takt_ledger *ledger, int64_t *waiting, int64_t *workers);

#endif
