/*
 * inner.h: a claim whose slots keep the rules of inner limits as well (`within`).
 *
 * Work of an inner limit waits in the line of the outermost limit of its chain, and in the lines of
 * its inner ledgers (inner_line.h).  In the outermost line it is a tenant (tenants.h): its subject,
 * which the inner keys name, or with `fair` of that limit the tenant that the work names.  The
 * rules, blocks and permits (inner_permits.h) of these ledgers are conditions of the claim.  A slot
 * is an instant at which the rules of all levels conform, and it is taken from all of them in one
 * step, with a permit of each level that has any. What conforms at an instant conforms later as
 * well, so one round over the levels is enough.
 *
 * A place wants no more than its inner rules give soon, beside what it leaves to the places before
 * it in its inner lines: within two lookaheads, or until the next window of an outermost ledger
 * that gives all at once.  The rest of its waiters is held back, and others leave no room for them.
 * A claim whose inner rules give nothing soon does not stand in line (takt_award.parked).
 *
 * If the inner rules are due later than the outermost one, the slots in between are not lost: they
 * become gaps (gaps.h).
 *
 * A level with max_waiting bounds the waiters in its line: overflow.h.
 *
 * A claim states its amounts in the units of the outermost ledger, and behind these the amounts of
 * units that only inner ledgers count.  takt_ledger.units says which of them an inner ledger takes,
 * and how many of its units the claim states: newer numbers may count more.
 */
#ifndef TAKT_CORE_INNER_H
#define TAKT_CORE_INNER_H

#include "core/ledger.h"

/* The first instant that is in no block of any level. */
int64_t takt_inner_from(const takt_ledger *ledger, int64_t now_us);

/* Whether the rules of the inner limits can ever give that. */
bool takt_inner_can_give(const takt_ledger *ledger, takt_amounts taken);

/* When the inner rules alone let one request start; TAKT_NEVER: never. */
int64_t takt_inner_due(const takt_ledger *ledger, int64_t from_us, takt_amounts one);

/* When all rules let one request start, if nothing else is taken. */
int64_t takt_inner_next(const takt_ledger *ledger, int64_t from_us, takt_amounts one);

/* Whether slots that its inner rules put off lie on whole intervals for a worker (gaps.h). */
bool takt_inner_is_whole(const takt_ledger *ledger, uint64_t worker, int64_t from_us);

/* The next slot of a worker whose inner rules are due at due_us, if nothing else is taken. */
int64_t takt_inner_slot(const takt_ledger *ledger, uint64_t worker, int64_t from_us, int64_t due_us,
                        takt_amounts one);

/* Lowers what a place wants, of what its claim states, to what the inner rules give soon, or until
 * its turn in this ledger's line, if that is later.  False: that is nothing. */
bool takt_inner_cap(const takt_ledger *ledger, int64_t now_us, takt_place *place, int64_t turn_us);

/* Whether a worker leaves a slot to others, which it could take only at due_us: the ledger has
 * rules and no gaps, and the slots before it would be lost (gaps.h). */
bool takt_inner_waits(const takt_ledger *ledger, uint64_t worker, int64_t from_us, int64_t due_us,
                      takt_amounts one);

/* takt_numbers_take of all levels and of gaps, for a worker's want; also without inner limits. */
int64_t takt_inner_take(takt_ledger *ledger, int64_t from_us, const takt_want *want,
                        uint64_t worker, int64_t count, int64_t until_us, takt_award *award);

/* Counts what a claim was given in the inner ledgers' meters. */
void takt_inner_count(takt_ledger *ledger, takt_amounts given);

#endif
