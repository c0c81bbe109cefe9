/*
 * claim_serve.c: see claim_serve.h.
 */
#include "core/claim_serve.h"

#include "base/integers.h"
#include "core/claim_restate.h"
#include "core/holders.h"
#include "core/inner.h"
#include "core/inner_line.h"
#include "core/inner_permits.h"
#include "core/line.h"
#include "core/meter.h"
#include "core/offers.h"
#include "core/tenants.h"
#include "core/view.h"
#include "core/worth.h"

/* Gives the most urgent place slots that other workers have handed on. These slots were counted
 * when they were given the first time. */
static int64_t hand_on(takt_ledger *ledger, int64_t from_us, const takt_want *want,
                       takt_award *award)
{
    int64_t count = 0;

    while (count < want->count && award->run_count < TAKT_RUNS_MAX &&
           takt_offers_take(ledger, from_us, want, &award->runs[award->run_count])) {
        award->run_count++;
        count++;
    }
    return count;
}

/* For how many requests there is so much left. */
static int64_t count_within(const takt_amounts *left, const takt_amounts *one, int units)
{
    int64_t count = TAKT_ROOM_MAX;

    TAKT_EACH_UNIT(unit, units)
    count = takt_min(count, left->of[unit] > 0 ? left->of[unit] / one->of[unit] : 0);
    return count;
}

/* What a turn may take now, and what the place can use of a share. */
static takt_amounts left_now(const takt_ledger *ledger, int64_t now_us, const takt_place *me,
                             const takt_view *v, takt_amounts *use)
{
    int units = takt_view_units(ledger);
    int64_t whole = v->shares;
    takt_amounts left = {{0}}, need = {{0}};
    bool too_early;

    TAKT_EACH_UNIT(unit, units)
    {
        need.of[unit] = takt_line_need(me, unit);
        use->of[unit] = takt_view_usable(v->share.of[unit], need.of[unit]);
        left.of[unit] = takt_min(takt_view_turn(v->share.of[unit], need.of[unit], v->shares),
                                 v->room.of[unit] - v->ahead.of[unit]);
        whole = takt_min(whole, left.of[unit] / use->of[unit]);
    }
    TAKT_EACH_UNIT(unit, whole > 0 ? units : 0)
    left.of[unit] =
        takt_min(left.of[unit], takt_view_turn(v->share.of[unit], need.of[unit], whole));
    too_early =
        takt_line_is_weighed(ledger, me)
            ? takt_view_too_little(ledger, me, &left, use)
            : v->shared && takt_view_turn_from(ledger, now_us, me, v, false, false) > now_us;
    return too_early ? (takt_amounts){{0}} : left;
}

/* Whether the place's first waiter needs more than a share, or not all turns are worth the same. */
static bool is_uneven(const takt_ledger *ledger, const takt_place *me, takt_amounts first,
                      const takt_view *v)
{
    TAKT_EACH_UNIT(unit, takt_view_units(ledger))
    if (first.of[unit] > v->share.of[unit])
        return true;
    return me->turn > ledger->turn || takt_line_owes(ledger, me->priority);
}

/* The place's turn has given it so much, `used` shares of it. */
static void end_serving(takt_ledger *ledger, takt_place *me, takt_amounts first, const takt_view *v,
                        takt_amounts given, int64_t used)
{
    takt_stated *stated = &ledger->stated[me->priority];

    me->wanting = takt_max(me->wanting - given.of[TAKT_UNIT_TOKENS], 0);
    stated->tokens = takt_max(stated->tokens - given.of[TAKT_UNIT_TOKENS], 0);
    for (int unit = TAKT_UNIT_MORE; unit < takt_view_units(ledger); unit++) {
        me->more.of[unit] = takt_max(me->more.of[unit] - given.of[unit], 0);
        stated->more.of[unit] = takt_max(stated->more.of[unit] - given.of[unit], 0);
    }
    if (given.of[TAKT_UNIT_TOKENS] == 0)
        return;
    me->left = takt_max(v->shares - used, 0);
    me->moves = me->usual = 0;
    if (me->tenant == 0 && is_uneven(ledger, me, first, v))
        takt_worth_note(ledger, me, given);
}

/* Gives a place as much of what its worker wants as its turn allows. Returns that, never more than
 * wanted. */
static takt_amounts serve(takt_ledger *ledger, int64_t now_us, int at, const takt_claim *claim,
                          takt_award *award)
{
    takt_place *me = &ledger->line[at];
    takt_view v = takt_view_of(ledger, now_us, at, false);
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);
    int units = takt_view_units(ledger);
    takt_amounts use = {{0}}, given = {{0}}, first = {{0}}, claimed = {{0}};
    takt_amounts left = left_now(ledger, now_us, me, &v, &use);
    takt_inner_turn inner = {.left = {{0}}};
    int64_t till_us = now_us + ledger->numbers->lookahead_us;
    int64_t near_us = takt_offers_are_awaited(ledger, now_us, me)
                          ? now_us + ledger->numbers->lookahead_us / TAKT_OFFERS_NEAR
                          : till_us;
    int64_t slots = 0, used = 0, permits = v.permits;

    TAKT_EACH_UNIT(unit, units)
    first.of[unit] = takt_line_need(me, unit);
    if (ledger->inner_count > 0) {
        inner = takt_inner_turn_of(ledger, now_us, me);
        permits = takt_min(permits, inner.permits);
    }
    for (int i = 0; i < claim->want_count; i++) {
        const takt_want *want = &claim->wants[i];
        const takt_amounts one = takt_amounts_of(want->cost, want->more);
        const takt_amounts own = takt_amounts_by(ledger->units, one);
        int64_t until_us = want->latest_us < till_us ? want->latest_us : near_us;
        int64_t count, n, handed;
        if (want->priority != me->priority || !takt_claim_can_be_given(ledger, want))
            continue;
        handed = 0;
        if (v.urgent.of[TAKT_UNIT_TOKENS] == 0 && ledger->inner_count == 0)
            handed = hand_on(ledger, from_us, want, award);
        me->wanting -= handed * want->cost;
        count = takt_min(want->count - handed, count_within(&left, &own, units));
        count = takt_min(count, takt_max(permits - slots, 0));
        if (ledger->inner_count > 0)
            count = takt_min(count, count_within(&inner.left, &one, TAKT_UNITS));
        if (ledger->inner_count > 0 || ledger->gaps.count > 0)
            n = takt_inner_take(ledger, from_us, want, claim->worker, count, until_us, award);
        else
            n = takt_numbers_take(ledger->numbers, &ledger->state, from_us, want->cost, want->more,
                                  count, until_us, award->runs, &award->run_count, TAKT_RUNS_MAX);
        slots += n;
        TAKT_EACH_UNIT(unit, units)
        {
            left.of[unit] -= n * own.of[unit];
            given.of[unit] += n * own.of[unit];
        }
        TAKT_EACH_UNIT(unit, ledger->inner_count > 0 ? TAKT_UNITS : 0)
        {
            inner.left.of[unit] -= n * one.of[unit];
            claimed.of[unit] += n * one.of[unit];
        }
        me->waiting -= n + handed;
        me->accepted = takt_max(me->accepted - n - handed, 0);
        if (n + handed < want->count && want->latest_us > until_us) {
            me->need = want->cost; /* first come, first served: later waiters do not overtake it */
            ledger->stated[me->priority].first = want->more;
            me->needs = (takt_amounts){{0}};
            takt_claim_add_more(&me->needs, &own, 1, units);
            break;
        }
    }
    TAKT_EACH_UNIT(unit, units)
    used = takt_max(used, takt_ceil_div(given.of[unit], use.of[unit]));
    if (ledger->numbers->concurrency > 0) {
        used = takt_max(used, takt_ceil_div(slots, v.permit_share));
        takt_holders_give(ledger, now_us, claim, slots);
    }
    takt_inner_permits_give(ledger, now_us, claim, slots);
    end_serving(ledger, me, first, &v, given, used);
    if (ledger->inner_count > 0) {
        takt_inner_served(ledger, me, &inner, claimed);
        takt_inner_count(ledger, claimed);
    }
    given.of[TAKT_UNIT_REQUESTS] = slots; /* permits are of requests, which no rule need count */
    return given;
}

takt_amounts takt_claim_serve(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                              takt_award *award, int64_t *parked_us)
{
    takt_amounts all = {{0}};
    bool foremost = true;

    for (int priority = 0; priority < TAKT_PRIORITIES; priority++) {
        int at = takt_line_find(ledger, claim->worker, priority);
        takt_amounts given;
        if (at < 0)
            continue;
        if (foremost)
            award->news = takt_offers_ask(ledger, now_us, claim, &ledger->line[at]);
        foremost = false;
        given = serve(ledger, now_us, at, claim, award);
        all = takt_amounts_sum(all, given);
        takt_meter_add(ledger, given.of[TAKT_UNIT_TOKENS]);
        if (ledger->tenant_count > 0)
            takt_tenants_charge(ledger, at, given);
        if (ledger->line[at].waiting <= 0)
            takt_line_remove(ledger, at);
        else if (given.of[TAKT_UNIT_TOKENS] > 0 && ledger->line[at].left == 0)
            takt_line_end_turn(ledger, at, ledger->line[at].moves, ledger->line[at].usual);
        if (ledger->inner_count > 0)
            takt_claim_park(ledger, now_us, claim->worker, priority, parked_us);
    }
    return all;
}
