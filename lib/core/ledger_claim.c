/*
 * ledger_claim.c: takt_ledger_claim. Decides which worker gets which slots now, and when each
 * worker should claim again.
 *
 * In short: waiters stand in line by priority, then turn. Each place leaves room for the places
 * before it (view.h), takes the earliest slots up to its own shares, and goes to the back. With
 * concurrency, each slot needs a free permit; the time when a permit comes free is unknown, so
 * workers that lack one are woken.
 */
#include "core/ledger.h"

#include "base/integers.h"
#include "core/award.h"
#include "core/holders.h"
#include "core/inner.h"
#include "core/inner_line.h"
#include "core/inner_permits.h"
#include "core/lend.h"
#include "core/line.h"
#include "core/meter.h"
#include "core/offers.h"
#include "core/overflow.h"
#include "core/pass_over.h"
#include "core/tenant_inside.h"
#include "core/tenant_turns.h"
#include "core/tenants.h"
#include "core/view.h"
#include "core/wakes.h"
#include "core/worth.h"

/* Under newer numbers a cost may exceed what a rule can ever give. Nobody must wait for such a
 * waiter; its worker refuses it when it learns the numbers. */
static bool can_ever_be_given(const takt_ledger *ledger, const takt_want *want)
{
    takt_amounts one = takt_amounts_of(want->cost, want->more);

    return takt_numbers_can_give(ledger->numbers, takt_amounts_by(ledger->units, one)) &&
           (ledger->inner_count == 0 || takt_inner_can_give(ledger, one));
}

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

/* What so many waiters want, or its first waiter, beside tokens and requests. */
static void add_more(takt_amounts *more, const takt_amounts *one, int64_t count, int units)
{
    for (int unit = TAKT_UNIT_MORE; unit < units; unit++)
        more->of[unit] += count * one->of[unit];
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
        if (want->priority != me->priority || !can_ever_be_given(ledger, want))
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
            add_more(&me->needs, &own, 1, units);
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

/* The worker's first waiter has no slot before this time, since the places before it get at least
 * what they want. 0: no place before it. */
static int64_t turn_at(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                       takt_view v)
{
    if (v.first.of[TAKT_UNIT_TOKENS] == 0)
        return 0;
    return takt_view_due(
        ledger, takt_max(now_us, ledger->blocked_until_us),
        takt_amounts_sum(v.first, takt_claim_least(claim, ledger->numbers, ledger->units)));
}

/* When a place that lacks a permit should claim again. A release wakes the next worker; the end of
 * a lease wakes nobody, so the first in line claims by itself at that time. TAKT_NEVER: the
 * keepalive is earlier, or other places are before it. */
static int64_t lease_over_at(const takt_ledger *ledger, int64_t now_us, const takt_place *me,
                             takt_view v)
{
    int64_t over_us = TAKT_NEVER;

    if (v.ahead.of[TAKT_UNIT_TOKENS] == 0)
        over_us = takt_holders_over_at(ledger, now_us + TAKT_KEEPALIVE_US);
    return over_us == TAKT_NEVER
               ? over_us
               : takt_max(over_us, takt_view_room_at(ledger, now_us, me, &v,
                                                     takt_line_is_weighed(ledger, me)));
}

/* If the first place in line lacks a permit and its worker is dead, the place is set aside by the
 * first claim after it is late. So the next place, if it lacks a permit, too, claims at that time.
 * TAKT_NEVER: the keepalive is earlier, or this place is not the second one. */
static int64_t head_late_at(const takt_ledger *ledger, int64_t now_us, int at)
{
    bool tenants = ledger->tenant_count > 0;
    const takt_place *head = NULL;
    int64_t late_us;

    for (int i = 0; i < (tenants ? ledger->line_count : at); i++) {
        const takt_place *place = &ledger->line[i];
        if (place->aside || place->worker == ledger->line[at].worker ||
            (tenants && !takt_tenants_precede(ledger, i, at)))
            continue;
        if (head)
            return TAKT_NEVER;
        head = place;
    }
    if (!head)
        return TAKT_NEVER;
    late_us = takt_max(head->again_at_us + ledger->numbers->lookahead_us + 1,
                       now_us + ledger->numbers->lookahead_us / TAKT_LOOKAHEAD_FRACTION);
    return late_us < now_us + TAKT_KEEPALIVE_US ? late_us : TAKT_NEVER;
}

/* Whether claims state amounts of further units. */
static bool has_more(const takt_ledger *ledger)
{
    return ledger->inner_count > 0 || takt_numbers_count_more(ledger->numbers);
}

/* What the first waiter of the claiming worker's place takes, in the claim's units. */
static takt_amounts first_of(const takt_ledger *ledger, const takt_place *place)
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
    v = takt_view_of(ledger, now_us, at, true);
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
    due_us = takt_inner_due(ledger, from_us, first_of(ledger, place));
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
static takt_place told_of(const takt_ledger *ledger, const takt_claim *claim, takt_unit_map map,
                          int units, int priority)
{
    takt_place told = {.worker = claim->worker,
                       .priority = (int8_t)priority,
                       .seq = claim->seq,
                       .weight = takt_max(takt_min(claim->weight, TAKT_WEIGHT_MAX), 1)};
    int64_t unlisted = claim->waiting;

    for (int i = 0; i < claim->want_count; i++) {
        const takt_want *want = &claim->wants[i];
        takt_amounts one;
        unlisted -= want->count;
        if (want->priority != priority || !can_ever_be_given(ledger, want))
            continue;
        one = takt_amounts_by(map, takt_amounts_of(want->cost, want->more));
        told.wanting += want->count * one.of[TAKT_UNIT_TOKENS];
        told.waiting += want->count;
        if (units > TAKT_UNIT_MORE) {
            add_more(&told.more, &one, want->count, units);
            add_more(&told.needs, &one, told.need == 0, units);
        }
        told.need = told.need ? told.need : one.of[TAKT_UNIT_TOKENS];
    }
    if (claim->want_count > 0 && claim->wants[claim->want_count - 1].priority == priority)
        told.waiting += takt_max(unlisted, 0);
    return told;
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
        if ((noted & 1U << want->priority) != 0 || !can_ever_be_given(ledger, want))
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
            told[priority] = told_of(ledger, claim, inner->units, takt_view_units(inner), priority);
        if (!takt_inner_stand(ledger, i, now_us, claim, told))
            listed = false;
    }
    return listed;
}

/* A place to which inner limits give nothing soon leaves the outermost line. */
static void park(takt_ledger *ledger, int64_t now_us, uint64_t worker, int priority,
                 int64_t *parked_us)
{
    int at = takt_line_find(ledger, worker, priority);

    if (at >= 0 && !cap(ledger, now_us, at, parked_us))
        takt_line_remove(ledger, at);
}

/* Updates the worker's places to what the claim says. */
static void restate(takt_ledger *ledger, int64_t now_us, const takt_claim *claim, takt_award *award,
                    int64_t *parked_us)
{
    unsigned priorities = priorities_of(ledger, claim);

    if (has_more(ledger))
        note_first(ledger, claim);
    if (ledger->inner_count > 0)
        award->unlisted = !stand_inside(ledger, now_us, claim);
    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        if ((priorities & 1U << i) != 0) {
            takt_place told = told_of(ledger, claim, ledger->units, takt_view_units(ledger), i);
            (void)takt_line_restate(ledger, now_us, &told);
        }
    }
    if (ledger->tenant_count > 0)
        takt_tenants_assign(ledger, claim, claim->tenant);
    takt_pass_over(ledger, now_us, claim->worker);
    for (int i = 0; ledger->inner_count > 0 && i < TAKT_PRIORITIES; i++)
        park(ledger, now_us, claim->worker, i, parked_us);
}

/* One turn for each of the worker's places, the most urgent first. Returns what was taken of the
 * room. */
static takt_amounts serve_all(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
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
            park(ledger, now_us, claim->worker, priority, parked_us);
    }
    return all;
}

/* No earlier claim of the place has a slot within the lookahead, by its inner limits.  A place that
 * leaves the next slots to others asks from then on whether these are given. */
static int64_t put_off_until(const takt_ledger *ledger, int64_t now_us, const takt_place *place)
{
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);
    int64_t lookahead_us = ledger->numbers->lookahead_us;
    takt_amounts one = first_of(ledger, place);
    int64_t due_us = takt_inner_due(ledger, from_us, one);

    if (due_us == TAKT_NEVER)
        return due_us;
    if (!takt_inner_waits(ledger, place->worker, from_us, due_us, one))
        return takt_numbers_count_more(ledger->numbers)
                   ? takt_inner_next(ledger, from_us, one) - lookahead_us
                   : due_us - lookahead_us;
    return takt_max(due_us - lookahead_us, now_us + lookahead_us / TAKT_LOOKAHEAD_FRACTION_LEFT);
}

static void plan_all(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                     takt_award *award)
{
    bool foremost = true;

    for (int at = 0; at < ledger->line_count; at++) {
        takt_place *place = &ledger->line[at];
        int64_t keepalive_us = now_us + TAKT_KEEPALIVE_US, again_us;
        takt_view v;
        if (place->worker != claim->worker) {
            award->least_urgent = place->priority;
            continue;
        }
        v = takt_view_of(ledger, now_us, at, true);
        place->lacking = v.permits <= 0;
        if (foremost && !place->lacking)
            award->next_slot_at_us = turn_at(ledger, now_us, claim, v);
        place->foremost = foremost;
        foremost = false;
        award->in_line |= 1U << place->priority;
        again_us = place->lacking ? lease_over_at(ledger, now_us, place, v)
                                  : takt_view_room_at(ledger, now_us, place, &v,
                                                      takt_line_is_weighed(ledger, place));
        if (ledger->inner_count > 0 && !place->lacking)
            again_us =
                takt_max(again_us, takt_max(put_off_until(ledger, now_us, place),
                                            takt_inner_turn_from(ledger, now_us, place, true)));
        place->again_at_us = takt_min(again_us, keepalive_us);
        if (ledger->inner_count > 0)
            takt_inner_plan(ledger, now_us, place, place->again_at_us);
        if (place->lacking)
            again_us = takt_min(again_us, head_late_at(ledger, now_us, at));
        if (takt_offers_are_awaited(ledger, now_us, place))
            again_us = takt_min(again_us, now_us + ledger->numbers->lookahead_us /
                                                       TAKT_LOOKAHEAD_FRACTION_FIRST);
        award->claim_again_at_us = takt_min(award->claim_again_at_us, again_us);
    }
}

/* There is no space for the claim's tenant: it stands in no line, and claims again later. */
static void stay_out(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                     takt_award *award)
{
    award->claim_again_at_us = now_us + TAKT_KEEPALIVE_US;
    award->parked = claim->waiting > 0;
    award->unlisted = true;
    for (int at = 0; at < ledger->line_count; at++)
        if (ledger->line[at].worker != claim->worker)
            award->least_urgent = ledger->line[at].priority;
}

/* The first place in line that is not aside; line_count: none. */
static int first_in_line(const takt_ledger *ledger)
{
    int at = 0;

    if (ledger->tenant_count > 0)
        return takt_tenants_first(ledger);
    while (at < ledger->line_count && ledger->line[at].aside)
        at++;
    return at;
}

/* What the first waiter in line needs of each unit that counts, if it is the claimer's and needs
 * more than one: all other places leave that much to it. */
static takt_amounts need_of_head(const takt_ledger *ledger, const takt_claim *claim)
{
    takt_amounts needs = {{0}};
    int at = first_in_line(ledger);

    if (at == ledger->line_count || ledger->line[at].worker != claim->worker)
        return needs;
    TAKT_EACH_UNIT(unit, takt_view_units(ledger))
    if (takt_line_need(&ledger->line[at], unit) > 1)
        needs.of[unit] = takt_line_need(&ledger->line[at], unit);
    return needs;
}

/* Whether other waiters may get slots earlier than they were told, because the first in line, which
 * needed that much, leaves without it: it was cancelled, is too late, or was given slots that other
 * workers had handed on. */
static bool is_news(const takt_ledger *ledger, const takt_claim *claim, takt_amounts needed,
                    takt_amounts given, const takt_award *award)
{
    takt_amounts needs;

    if (award->least_urgent < 0)
        return false;
    needs = need_of_head(ledger, claim);
    TAKT_EACH_UNIT(unit, TAKT_UNITS)
    if (needed.of[unit] > given.of[unit] && needed.of[unit] > needs.of[unit])
        return true;
    return false;
}

/* Whether all waiters of the claim were given slots or refused. */
static bool is_done(const takt_claim *claim, const takt_award *award)
{
    int64_t given = 0;

    for (int i = 0; i < award->run_count; i++)
        given += award->runs[i].count;
    return given + award->refused >= claim->waiting;
}

/* With drop-oldest, the places behind the dropped ones move to the front earlier than planned: the
 * first one must claim when its turn is now, or slots would pass unused. */
static void hurry_first(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                        takt_award *award)
{
    int64_t again_us;
    int at = first_in_line(ledger);
    takt_view v;

    if (at == ledger->line_count || ledger->line[at].worker == claim->worker)
        return;
    v = takt_view_of(ledger, now_us, at, true);
    again_us = takt_view_room_at(ledger, now_us, &ledger->line[at], &v, false);
    if (v.permits > 0 && ledger->line[at].again_at_us >
                             again_us + ledger->numbers->lookahead_us / TAKT_LOOKAHEAD_FRACTION)
        takt_wakes_add(award, &ledger->line[at], 0);
}

void takt_ledger_claim(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                       takt_award *award)
{
    int64_t parked_us = TAKT_NEVER;
    bool stands = true, moved;

    ledger->within_turns = claim->within_turns && ledger->inner_count > 0;
    takt_ledger_tidy(ledger, now_us);
    takt_inner_tidy(ledger, now_us);
    takt_award_begin(ledger, now_us, claim, award);
    if (!award->stale) {
        award->holding = ledger->inner_count > 0 ? takt_inner_permits_state(ledger, now_us, claim)
                                                 : takt_holders_state(ledger, now_us, claim);
        if (claim->tenant || ledger->tenant_count > 0)
            stands = takt_tenants_join(ledger, now_us, claim, claim->tenant, claim->tenant_weight);
        if (!stands)
            stay_out(ledger, now_us, claim, award);
    }
    if (!award->stale && stands) {
        takt_amounts needed = need_of_head(ledger, claim), given;
        restate(ledger, now_us, claim, award, &parked_us);
        award->taken = takt_offers_accept(ledger, now_us, claim);
        given = serve_all(ledger, now_us, claim, award, &parked_us);
        moved = takt_overflow_apply(ledger, claim, award);
        if (ledger->tenant_count > 0)
            takt_tenants_settle(ledger);
        takt_tenants_arrange(ledger, claim);
        if (ledger->inner_count > 0 && ledger->tenant_count > 0)
            takt_lend_note(ledger, now_us, claim->worker);
        takt_pass_over(ledger, now_us, claim->worker); /* its turns may be over */
        plan_all(ledger, now_us, claim, award);
        if (moved)
            hurry_first(ledger, now_us, claim, award);
        award->news |= is_news(ledger, claim, needed, given, award);
        if (parked_us != TAKT_NEVER && is_done(claim, award))
            parked_us = TAKT_NEVER;
        award->parked = parked_us != TAKT_NEVER && award->in_line == 0;
        award->crowded = takt_overflow_is_near(ledger);
        award->claim_again_at_us = takt_min(award->claim_again_at_us, parked_us);
    }
    takt_pass_over_none(ledger);
    takt_award_end(ledger, now_us, claim, award);
    ledger->within_turns = false;
}
