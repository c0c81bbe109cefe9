/*
 * claim_restate.c: see claim_restate.h.
 */
#include "core/claim_restate.h"

#include "base/integers.h"
#include "core/inner.h"
#include "core/inner_line.h"
#include "core/inner_permits.h"
#include "core/line.h"
#include "core/pass_over.h"
#include "core/tenants.h"
#include "core/view.h"

bool takt_claim_can_be_given(const takt_ledger *ledger, const takt_want *want)
{
    takt_amounts one = takt_amounts_of(want->cost, want->more);

    return takt_numbers_can_give(ledger->numbers, takt_amounts_by(ledger->units, one)) &&
           (ledger->inner_count == 0 || takt_inner_can_give(ledger, one));
}

void takt_claim_add_more(takt_amounts *more, const takt_amounts *one, int64_t count, int units)
{
    for (int unit = TAKT_UNIT_MORE; unit < units; unit++)
        more->of[unit] += count * one->of[unit];
}

/* Whether claims state amounts of further units. */
static bool has_more(const takt_ledger *ledger)
{
    return ledger->inner_count > 0 || takt_numbers_count_more(ledger->numbers);
}

takt_amounts takt_claim_first_of(const takt_ledger *ledger, const takt_place *place)
{
    return has_more(ledger) ? takt_amounts_of(place->need, ledger->stated[place->priority].first)
                            : takt_amounts_of_cost(place->need);
}

/* When a place that its inner rules hold up now has the first slot of its next turn in this line.
 * 0: it has no tenant, or lacks a permit. */
static int64_t in_turn_at(const takt_ledger *ledger, int64_t now_us, int at)
{
    takt_place *place = &ledger->line[at];
    takt_view v;

    if (place->tenant == 0)
        return 0;
    place->wanting = ledger->stated[place->priority].tokens;
    place->more = ledger->stated[place->priority].more;
    place->held_back = 0;
    takt_view_look(ledger, now_us, at, true, &v);
    return v.permits <= 0 ? 0
                          : takt_view_turn_from(ledger, now_us, place, &v, false, true) +
                                ledger->numbers->lookahead_us;
}

/* Whether the inner rules hold up the place no longer than the others of this line do. */
static bool suits_turn(const takt_ledger *ledger, int64_t now_us, int at)
{
    takt_place *place = &ledger->line[at];
    int64_t turn_us = in_turn_at(ledger, now_us, at);

    if (turn_us > now_us + 2 * ledger->numbers->lookahead_us &&
        takt_inner_cap(ledger, now_us, place, turn_us))
        return true;
    takt_inner_cap(ledger, now_us, place, 0);
    return false;
}

/* Lowers what a place wants to what inner limits give soon.  False: they give nothing; *parked_us
 * is then not later than when a claim for it has a slot within the lookahead. */
static bool cap(takt_ledger *ledger, int64_t now_us, int at, int64_t *parked_us)
{
    takt_place *place = &ledger->line[at];
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us), due_us, again_us;

    if (takt_inner_cap(ledger, now_us, place, 0) || suits_turn(ledger, now_us, at))
        return true;
    due_us = takt_inner_due(ledger, from_us, takt_claim_first_of(ledger, place));
    again_us = due_us == TAKT_NEVER ? now_us + TAKT_KEEPALIVE_US
                                    : takt_max(due_us - ledger->numbers->lookahead_us,
                                               takt_inner_turn_from(ledger, now_us, place, false));
    again_us = takt_max(again_us, takt_inner_permits_again_at(ledger, now_us, place));
    takt_inner_plan(ledger, now_us, place, again_us);
    *parked_us = takt_min(*parked_us, again_us);
    return false;
}

/* What the claim states of its waiters of a priority, in the units of a level.  Waiters for which
 * the claim has no space are of its last priority. */
static void tell(const takt_ledger *ledger, const takt_claim *claim, takt_unit_map map, int units,
                 int priority, takt_place *told)
{
    int64_t unlisted = claim->waiting;

    *told = (takt_place){.worker = claim->worker,
                         .priority = (int8_t)priority,
                         .seq = claim->seq,
                         .weight = takt_max(takt_min(claim->weight, TAKT_WEIGHT_MAX), 1)};

    for (int i = 0; i < claim->want_count; i++) {
        const takt_want *want = &claim->wants[i];
        takt_amounts one;
        unlisted -= want->count;
        if (want->priority != priority || !takt_claim_can_be_given(ledger, want))
            continue;
        one = takt_amounts_by(map, takt_amounts_of(want->cost, want->more));
        told->wanting += want->count * one.of[TAKT_UNIT_TOKENS];
        told->waiting += want->count;
        if (units > TAKT_UNIT_MORE) {
            takt_claim_add_more(&told->more, &one, want->count, units);
            takt_claim_add_more(&told->needs, &one, told->need == 0, units);
        }
        told->need = told->need ? told->need : one.of[TAKT_UNIT_TOKENS];
    }
    if (claim->want_count > 0 && claim->wants[claim->want_count - 1].priority == priority)
        told->waiting += takt_max(unlisted, 0);
}

/* The priorities, as bits, that the claim states, or of which the worker has places. */
static unsigned priorities_of(const takt_ledger *ledger, const takt_claim *claim)
{
    unsigned found = 0;

    for (int i = 0; i < claim->want_count; i++)
        found |= 1U << claim->wants[i].priority;
    for (int at = 0; at < ledger->line_count; at++)
        if (ledger->line[at].worker == claim->worker)
            found |= 1U << ledger->line[at].priority;
    return found;
}

/* Notes the first waiters' amounts. */
static void note_first(takt_ledger *ledger, const takt_claim *claim)
{
    unsigned noted = 0;

    for (int i = 0; i < claim->want_count; i++) {
        const takt_want *want = &claim->wants[i];
        if ((noted & 1U << want->priority) != 0 || !takt_claim_can_be_given(ledger, want))
            continue;
        noted |= 1U << want->priority;
        ledger->stated[want->priority].first = want->more;
    }
}

/* The worker stands in the lines of its inner ledgers, with what it wants of each.
 * False: a line with a bound does not count its waiters. */
static bool stand_inside(takt_ledger *ledger, int64_t now_us, const takt_claim *claim)
{
    takt_place told[TAKT_PRIORITIES];
    bool listed = true;

    for (int i = 0; i < ledger->inner_count; i++) {
        const takt_ledger *inner = ledger->inner[i];
        for (int priority = 0; priority < TAKT_PRIORITIES; priority++)
            tell(ledger, claim, inner->units, takt_view_units(inner), priority, &told[priority]);
        if (!takt_inner_stand(ledger, i, now_us, claim, told))
            listed = false;
    }
    return listed;
}

void takt_claim_park(takt_ledger *ledger, int64_t now_us, uint64_t worker, int priority,
                     int64_t *parked_us)
{
    int at = takt_line_find(ledger, worker, priority);

    if (at >= 0 && !cap(ledger, now_us, at, parked_us))
        takt_line_remove(ledger, at);
}

void takt_claim_restate(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                        takt_award *award, int64_t *parked_us)
{
    unsigned priorities = priorities_of(ledger, claim);

    if (has_more(ledger))
        note_first(ledger, claim);
    if (ledger->inner_count > 0)
        award->unlisted = !stand_inside(ledger, now_us, claim);
    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        if ((priorities & 1U << i) != 0) {
            takt_place told;
            tell(ledger, claim, ledger->units, takt_view_units(ledger), i, &told);
            (void)takt_line_restate(ledger, now_us, &told);
        }
    }
    if (ledger->tenant_count > 0)
        takt_tenants_assign(ledger, claim, claim->tenant);
    takt_pass_over(ledger, now_us, claim->worker);
    for (int i = 0; ledger->inner_count > 0 && i < TAKT_PRIORITIES; i++)
        takt_claim_park(ledger, now_us, claim->worker, i, parked_us);
}
