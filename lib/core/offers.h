/*
 * offers.h: slots in hand that workers hand on to more urgent work.
 *
 * Slots are awarded up to one lookahead ahead, so urgent work that comes now would wait that long
 * behind less urgent work that has them.  Instead its claim makes news: the others claim at once
 * and offer their next slot.  The ledger keeps as many offers as the more urgent waiters need, and
 * gives them to the most urgent.  The slot itself does not change, so no rule is involved.
 * Limits with concurrency or tenants have no offers.
 */
#ifndef TAKT_CORE_OFFERS_H
#define TAKT_CORE_OFFERS_H

#include "core/ledger.h"

/* Slots are offered where a lookahead has so many at least, by so many times as many workers at
 * most: an award then costs the fleet only a few claims more. */
#define TAKT_OFFERS_SLOTS_MIN   4
#define TAKT_OFFERS_WORKERS_MAX 2

/* Urgent work waits so long for offers before it takes a slot far ahead, as a part of the
 * lookahead; slots that are nearer than the second part are near enough. */
#define TAKT_OFFERS_AWAITED 16
#define TAKT_OFFERS_NEAR    8

/* Drops offers that nobody has used in time, or that a clock that jumped has left behind. */
void takt_offers_tidy(takt_ledger *ledger, int64_t now_us);

/* Keeps the claim's offer if more urgent waiters of others need it.  False: it stays the worker's.
 */
bool takt_offers_accept(takt_ledger *ledger, int64_t now_us, const takt_claim *claim);

/* Whether the other workers are to offer slots.  They are if the claimer's most urgent place is new
 * in the line, would wait for long, and goes before places of others that have slots ahead.  They
 * are asked once in a lookahead, not if it costs too much, and not for a distant worker. */
bool takt_offers_ask(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                     const takt_place *place);

/* Whether this place, for which the others were asked, still waits for offers.  It takes only slots
 * that are near, and claims again soon. */
bool takt_offers_are_awaited(const takt_ledger *ledger, int64_t now_us, const takt_place *place);

/* Takes an offer for a want, from from_us on, into the run.  False: there is none. */
bool takt_offers_take(takt_ledger *ledger, int64_t from_us, const takt_want *want, takt_run *run);

#endif
