/*
 * inner_line.h: the lines of inner ledgers (inner.h), in which the workers of one inner limit and
 * key take turns.
 *
 * Nested work stands in the line of the outermost ledger, and in those of its inner ledgers.  In
 * each it leaves room to the places before it, as in any line with tenants.  Those of the innermost
 * ledger are the claim's inner_tenant, or have no name; a ledger between has the tenants of the
 * outermost one.  A place stays in an inner line while its claim is parked, with the time at which
 * it comes back.
 *
 * A worker that is alone in an inner line keeps the inner rules, and nothing else.
 *
 * Workers whose work is not nested may stand in an inner line, too.  If they came first, so that
 * the line has no tenants, nested work takes no turns there until it is empty, and does not count
 * for the line's bound of waiters.
 */
#ifndef TAKT_CORE_INNER_LINE_H
#define TAKT_CORE_INNER_LINE_H

#include "core/ledger.h"

/* What a place's turns leave to it now, in all inner lines. */
typedef struct takt_inner_turn {
    takt_amounts left;                   /* in the claim's units */
    int64_t permits;                     /* of every level that has any */
    int at[TAKT_INNER_MAX];              /* its place in each line; -1: it has none */
    int64_t shares[TAKT_INNER_MAX];      /* of its turn there */
    takt_amounts usable[TAKT_INNER_MAX]; /* what it can use of each of these shares */
    int64_t permit_shares[TAKT_INNER_MAX];
} takt_inner_turn;

/* The changes that only time brings. */
void takt_inner_tidy(takt_ledger *ledger, int64_t now_us);

/* The place's index in the line of an inner ledger; -1: it takes no turns there. */
int takt_inner_index(const takt_ledger *inner, const takt_place *place);

/* The permits that a place without a line finds free: none if that line is full. */
int64_t takt_inner_free(const takt_ledger *inner);

/* The worker's places in the line of inner[i] become what its claim says: `told` has one for each
 * priority, in the units of that level, which wants nothing if the worker has no waiters of
 * it. A line with too many tenants has no place for it; if that is the innermost one, and the claim
 * names its tenant there, the claim is given nothing.  False: that line has a bound, which does not
 * count these waiters. */
bool takt_inner_stand(takt_ledger *ledger, int i, int64_t now_us, const takt_claim *claim,
                      const takt_place *told);

/* The ledgers within an inner one give a place so many of its tokens and requests soon: in the line
 * of the inner one others leave no more to it, and do not wait for it if that is nothing.  Returns
 * what it leaves to the places before it, and in *permits what these leave to it. */
takt_amounts takt_inner_ahead(takt_ledger *inner, int64_t now_us, const takt_place *place,
                              takt_amounts able, int64_t *permits);

takt_inner_turn takt_inner_turn_of(const takt_ledger *ledger, int64_t now_us,
                                   const takt_place *place);

/* The place was given that in such a turn, in the claim's units with its requests, and has changed
 * accordingly. */
void takt_inner_served(takt_ledger *ledger, const takt_place *place, const takt_inner_turn *turn,
                       takt_amounts claimed);

/* From when on there is room for the place's next turn in all inner lines where others wait, and in
 * those where it is alone with long turns.  Only a place that also stands in the outermost line has
 * long turns. */
int64_t takt_inner_turn_from(const takt_ledger *ledger, int64_t now_us, const takt_place *place,
                             bool in_line);

/* When the place claims again. */
void takt_inner_plan(takt_ledger *ledger, int64_t now_us, const takt_place *place,
                     int64_t again_at_us);

#endif
