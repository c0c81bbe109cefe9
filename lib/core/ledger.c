/*
 * ledger.c: see ledger.h. Decides which worker gets which slots now, and when each worker should
 * claim again.
 *
 * In short: waiters stand in line by priority, then turn. Each place leaves room for the places
 * before it (their shares, and everything that higher priorities want), takes the earliest slots up
 * to its own shares, and goes to the back. With concurrency, each slot needs a free permit; the
 * time when a permit comes free is unknown, so workers that lack one are woken.
 */
#include "core/ledger.h"

#include "base/integers.h"
#include "core/award.h"
#include "core/brake.h"
#include "core/gaps.h"
#include "core/holders.h"
#include "core/inner.h"
#include "core/line.h"
#include "core/meter.h"
#include "core/offers.h"
#include "core/overflow.h"
#include "core/tenants.h"
#include "core/wakes.h"
#include "core/worth.h"

void takt_ledger_empty(takt_ledger *ledger, const takt_numbers *numbers)
{
    takt_numbers_begin(&ledger->state, ledger->pages);
    ledger->numbers = numbers;
    ledger->turn = 0;
    takt_ledger_unblocked(ledger);
    takt_brake_release(ledger);
    takt_meter_end(ledger);
    ledger->contest = (takt_contest){0};
    ledger->offers = (takt_offers){0};
    ledger->gaps.count = 0;
    ledger->fence = ledger->leased_until_us = 0;
    ledger->line_count = ledger->holder_count = ledger->tenant_count = 0;
}

void takt_ledger_init(takt_ledger *ledger, const takt_numbers *numbers, int64_t now_us)
{
    takt_ledger_empty(ledger, numbers);
    takt_numbers_rest(numbers, &ledger->state, now_us);
}

void takt_ledger_unblocked(takt_ledger *ledger)
{
    ledger->blocked_until_us = 0;
    ledger->reason[0] = '\0';
}

/* A worker states the ledger's rules, which others contest. */
static void uphold(takt_contest *contest, int64_t now_us)
{
    contest->stated_at_us = now_us;
    if (contest->contested_at_us > now_us || contest->contested_at_us + TAKT_CONTEST_US < now_us)
        *contest = (takt_contest){0};
}

/* A worker states other rules with the same revision. Returns whether the ledger's rules stay in
 * force. */
static bool withstands(takt_contest *contest, int64_t now_us)
{
    if (contest->contested_at_us == 0 || contest->stated_at_us > now_us)
        contest->stated_at_us = now_us;
    contest->contested_at_us = now_us;
    return contest->stated_at_us + TAKT_CONTEST_US >= now_us;
}

void takt_ledger_adopt(takt_ledger *ledger, const takt_numbers *numbers, int64_t now_us)
{
    bool same = numbers == ledger->numbers || takt_numbers_same(ledger->numbers, numbers);
    takt_rule_state brake;

    if (numbers->revision < ledger->numbers->revision)
        return;
    if (same && ledger->contest.contested_at_us > 0)
        uphold(&ledger->contest, now_us);
    if (numbers == ledger->numbers)
        return;
    brake = ledger->state.rules[ledger->numbers->rule_count];
    if (!same && numbers->revision == ledger->numbers->revision &&
        withstands(&ledger->contest, now_us)) {
        numbers = ledger->numbers;
    } else if (!same) {
        takt_numbers_convert(ledger->numbers, numbers, &ledger->state, now_us);
        ledger->contest = (takt_contest){0};
        ledger->gaps.count = 0;
    }
    ledger->numbers = numbers;
    takt_brake_follow(ledger, &brake, now_us);
}

static void tidy_rules(takt_ledger *ledger, int64_t now_us)
{
    takt_brake_tidy(ledger, now_us);
    takt_numbers_pull_back(ledger->numbers, &ledger->state, now_us);
    takt_numbers_pay(ledger->numbers, &ledger->state, now_us);
    if (ledger->blocked_until_us > 0 &&
        ledger->blocked_until_us <= now_us + ledger->numbers->lookahead_us) {
        takt_brake_exhaust(ledger, ledger->blocked_until_us);
        if (ledger->blocked_until_us <= now_us)
            takt_ledger_unblocked(ledger);
    }
    takt_gaps_tidy(ledger, now_us);
    takt_meter_tidy(ledger, now_us);
    takt_offers_tidy(ledger, now_us);
}

void takt_ledger_tidy(takt_ledger *ledger, int64_t now_us)
{
    tidy_rules(ledger, now_us);
    takt_line_tidy(ledger, now_us);
    if (ledger->tenant_count > 0)
        takt_tenants_tidy(ledger, now_us);
    takt_holders_tidy(ledger, now_us);
}

/* ---- room and turns -------------------------------------------------------------------------- */

/* The situation of one place in line. */
typedef struct view {
    takt_amounts room;   /* what has slots due by now + lookahead and is not yet given away */
    takt_amounts share;  /* what a turn may take for each process of the worker */
    int64_t shares;      /* that are left of this turn */
    takt_amounts ahead;  /* part of the room that is left to the places before this one */
    takt_amounts first;  /* what the places before this one want in any case */
    takt_amounts urgent; /* what higher priorities want */
    int64_t permits;     /* permits that this turn may take */
    int64_t permit_share;
    bool shared; /* others of its priority are in turn; there are neither tenants nor permits */
} view;

#define EACH_UNIT(unit, count) for (int unit = 0; unit < (count); unit++)

/* How many units the line looks at: among tenants tokens and requests alone. */
static int units_of(const takt_ledger *ledger)
{
    int units = takt_numbers_units(ledger->numbers);

    return ledger->tenant_count > 0 ? (int)takt_min(units, TAKT_UNIT_MORE) : units;
}

static int64_t wanted_by(const takt_place *place, int unit)
{
    return unit == TAKT_UNIT_TOKENS     ? place->wanting
           : unit == TAKT_UNIT_REQUESTS ? place->waiting - place->held_back
                                        : place->more.of[unit];
}

static takt_amounts sum(takt_amounts a, takt_amounts b)
{
    EACH_UNIT(unit, TAKT_UNITS)
    a.of[unit] += b.of[unit];
    return a;
}

/* takt_numbers_room and takt_numbers_due, with the gaps. */
static takt_amounts room_of(const takt_ledger *ledger, int64_t from_us, int64_t until_us)
{
    takt_amounts room = takt_numbers_room(ledger->numbers, &ledger->state, from_us, until_us);

    if (ledger->gaps.count > 0)
        room.of[ledger->numbers->rules[takt_gaps_rule(ledger->numbers)].unit] +=
            takt_gaps_room(ledger, from_us, until_us);
    return room;
}

static int64_t due_of(const takt_ledger *ledger, int64_t from_us, takt_amounts n)
{
    int64_t gaps = ledger->gaps.count > 0 ? takt_gaps_room(ledger, from_us, TAKT_EXACT_MAX) : 0;

    if (gaps > 0) {
        takt_unit unit = ledger->numbers->rules[takt_gaps_rule(ledger->numbers)].unit;
        if (n.of[unit] <= gaps)
            return takt_gaps_due(ledger, from_us, takt_max(n.of[unit], 1));
        n.of[unit] -= gaps;
    }
    return takt_numbers_due(ledger->numbers, &ledger->state, from_us, n);
}

/* The same of a place that has a tenant; `total` is what a lookahead has. */
static void look_at_tenant(const takt_ledger *ledger, int at, const takt_amounts *total, int units,
                           view *v)
{
    int64_t concurrency = ledger->numbers->concurrency;
    takt_tenant_turn turn;

    takt_tenants_count(ledger);
    EACH_UNIT(unit, units)
    {
        turn = takt_tenants_turn(ledger, at, unit, total->of[unit]);
        v->share.of[unit] = turn.share;
        v->shares = turn.shares;
        v->ahead.of[unit] = v->urgent.of[unit] + turn.ahead;
        v->first.of[unit] = v->urgent.of[unit] + turn.first;
    }
    v->permits = takt_holders_free(ledger);
    if (v->permits == TAKT_NEVER)
        return;
    turn = takt_tenants_turn(ledger, at, TAKT_UNIT_TOKENS, concurrency);
    v->permit_share = turn.share;
    v->permits = takt_min(v->permits - v->urgent.of[TAKT_UNIT_TOKENS] - turn.ahead,
                          turn.shares * turn.share);
}

/* With so many shares before it a place is given nothing, and claims next at its keepalive: with
 * weights a script counts no more of them. */
static int64_t shares_in_reach(const takt_ledger *ledger, const view *v, int units)
{
    const takt_numbers *numbers = ledger->numbers;
    takt_amounts soon =
        takt_numbers_throughput(numbers, &ledger->state, TAKT_KEEPALIVE_US + numbers->lookahead_us);
    int64_t shares = 1;

    EACH_UNIT(unit, units)
    shares = takt_max(shares,
                      takt_ceil_div(takt_max(v->room.of[unit], soon.of[unit]), v->share.of[unit]));
    return numbers->concurrency > 0 ? takt_max(shares, takt_ceil_div(v->permits, v->permit_share))
                                    : shares;
}

/* What each share of the first place takes beyond a share: its first waiter's need. The others may
 * need less, so that to `plan` counts them only if all need the same. */
static int64_t beyond_shares(const takt_place *head, int unit, int64_t share, bool plan)
{
    int64_t needed = takt_line_need(head, unit), wanted = wanted_by(head, unit);
    int64_t count = takt_max(head->waiting, 1);
    bool alike = wanted % count == 0 && wanted / count == needed;

    return (plan && !alike ? 1 : takt_line_shares(head)) * takt_max(needed - share, 0);
}

/* The situation of the place `at`. To `plan` its next claim `ahead` is the least that the places
 * before it take: they may be done with their turns before. */
static view look(const takt_ledger *ledger, int64_t now_us, int at, bool plan)
{
    const takt_place *me = &ledger->line[at], *head = NULL;
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);
    int64_t weight = 0, places = 1, before = 0, shares_before = 0;
    int units = units_of(ledger);
    takt_amounts through, others = {{0}}, owed = {{0}};
    view v = {.urgent = {{0}}};

    for (int i = 0; i < ledger->line_count; i++) {
        const takt_place *place = &ledger->line[i];
        if (i == at || place->aside)
            continue;
        EACH_UNIT(unit, place->priority < me->priority ? units : 0)
        v.urgent.of[unit] += wanted_by(place, unit);
        if (place->priority != me->priority)
            continue;
        weight += place->weight;
        places++;
        EACH_UNIT(unit, units)
        others.of[unit] += wanted_by(place, unit);
        before += i < at;
        shares_before += i < at ? takt_line_shares(place) : 0;
        if (i < at && !head)
            head = place;
    }
    /* alone, a place has everything */
    v.shared = weight > 0 && me->tenant == 0 && ledger->numbers->concurrency == 0;
    v.shares = weight > 0 ? takt_line_shares(me) : 1;
    weight = weight > 0 ? weight + me->weight : 1;
    v.room = room_of(ledger, from_us, now_us + ledger->numbers->lookahead_us);
    through =
        takt_numbers_throughput(ledger->numbers, &ledger->state, ledger->numbers->lookahead_us);
    if (me->tenant > 0) {
        EACH_UNIT(unit, units)
        through.of[unit] = takt_max(through.of[unit], v.room.of[unit]);
        look_at_tenant(ledger, at, &through, units, &v);
        return v;
    }
    EACH_UNIT(unit, units)
    v.share.of[unit] = takt_max(takt_max(through.of[unit], v.room.of[unit]) / weight, 1);
    v.permits = takt_holders_free(ledger); /* each wanted permit comes with at least one token */
    v.permit_share = takt_max(ledger->numbers->concurrency / weight, 1);
    if (weight > places)
        shares_before = takt_min(shares_before, shares_in_reach(ledger, &v, units));
    if (plan && head && me->turn > ledger->turn)
        owed = takt_worth_before(ledger, me->turn - head->turn, places - 1);
    EACH_UNIT(unit, units)
    {
        int64_t needed = head ? takt_line_need(head, unit) : 0, share = v.share.of[unit];
        int64_t ahead = takt_max(shares_before * share, owed.of[unit]) +
                        (head ? beyond_shares(head, unit, share, plan) : 0);
        /* room that nobody wants is not reserved */
        v.ahead.of[unit] = v.urgent.of[unit] + takt_min(ahead, others.of[unit]);
        v.first.of[unit] = v.urgent.of[unit] + (head ? needed + before - 1 : 0);
    }
    if (v.permits != TAKT_NEVER)
        v.permits =
            takt_min(v.permits - v.urgent.of[TAKT_UNIT_TOKENS] -
                         takt_min(shares_before * v.permit_share, others.of[TAKT_UNIT_TOKENS]),
                     v.shares * v.permit_share);
    return v;
}

/* What waiters that need so much can use of a share. */
static int64_t usable(int64_t share, int64_t need)
{
    return takt_max(share - share % need, need);
}

/* What a turn of that many shares may take. */
static int64_t turn_of(int64_t share, int64_t need, int64_t shares)
{
    return (shares - 1) * usable(share, need) + takt_max(share, need);
}

/* Under newer numbers a cost may exceed what a rule can ever give. Nobody must wait for such a
 * waiter; its worker refuses it when it learns the numbers. */
static bool can_ever_be_given(const takt_ledger *ledger, const takt_want *want)
{
    takt_amounts one = takt_amounts_of(want->cost, want->more);

    return takt_numbers_can_give(ledger->numbers, one) &&
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

    EACH_UNIT(unit, units)
    count = takt_min(count, left->of[unit] > 0 ? left->of[unit] / one->of[unit] : 0);
    return count;
}

/* What so many waiters want, or its first waiter, beside tokens and requests. */
static void add_more(takt_amounts *more, const takt_amounts *one, int64_t count, int units)
{
    for (int unit = TAKT_UNIT_MORE; unit < units; unit++)
        more->of[unit] += count * one->of[unit];
}

/* A turn ends with the unit that is used up first: of the others no more is needed than requests
 * of the place's average amounts take. */
static void match(const takt_place *me, takt_amounts *turn, int units)
{
    takt_amounts one = {{0}};
    int64_t requests = INT64_MAX;

    EACH_UNIT(unit, units)
    {
        one.of[unit] = takt_max(takt_ceil_div(wanted_by(me, unit), takt_max(me->waiting, 1)), 1);
        requests = takt_min(requests, turn->of[unit] / one.of[unit]);
    }
    requests = takt_max(requests, 1);
    EACH_UNIT(unit, units)
    turn->of[unit] = takt_max(takt_min(turn->of[unit], requests * one.of[unit]),
                              takt_max(takt_line_need(me, unit), 1));
}

/* In a line with weights a place waits until there is room for a share, or for what it will plan
 * for: a part of a share counts as one, and parts of different weights are not in proportion. */
static bool is_too_little(const takt_ledger *ledger, const takt_place *me, const takt_amounts *left,
                          const takt_amounts *use)
{
    takt_amounts enough = {{0}}, half;
    int units = units_of(ledger);

    half =
        takt_numbers_throughput(ledger->numbers, &ledger->state, ledger->numbers->lookahead_us / 2);
    EACH_UNIT(unit, units)
    enough.of[unit] = takt_min(takt_min(use->of[unit], wanted_by(me, unit)), half.of[unit]);
    if (units > 1)
        match(me, &enough, units);
    EACH_UNIT(unit, units)
    if (left->of[unit] < enough.of[unit])
        return true;
    return false;
}

/* From when on there is room for this place's next turn. The time is early enough to have the slots
 * half a lookahead before they are due, including the first one of a rule with uneven slots. A
 * `weighed` place takes nothing before there is room for a share. In a shared line a place that
 * claims earlier gets nothing, because parts of turns are not equal. To `plan` its next claim, its
 * turn is then a share: it may want more by then. */
static int64_t turn_from(const takt_ledger *ledger, int64_t now_us, const takt_place *me, view v,
                         bool weighed, bool plan)
{
    int64_t lookahead_us = ledger->numbers->lookahead_us;
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);
    takt_amounts half = takt_numbers_throughput(ledger->numbers, &ledger->state, lookahead_us / 2);
    takt_amounts need = {{0}}, turn = {{0}};
    int units = units_of(ledger);
    int64_t shares = v.shares, first_us, due_us;

    EACH_UNIT(unit, TAKT_UNITS)
    need.of[unit] = turn.of[unit] = takt_max(takt_line_need(me, unit), 1);
    EACH_UNIT(unit, units)
    shares = takt_min(shares, half.of[unit] / usable(v.share.of[unit], need.of[unit]));
    EACH_UNIT(unit, units)
    {
        int64_t most = turn_of(v.share.of[unit], need.of[unit], takt_max(shares, 1));
        if (!plan || !v.shared || weighed)
            most = takt_min(most, wanted_by(me, unit));
        turn.of[unit] = takt_max(takt_min(most, half.of[unit]), need.of[unit]);
    }
    if (units > 1)
        match(me, &turn, units);
    first_us = due_of(ledger, from_us, sum(v.ahead, need));
    due_us = due_of(ledger, from_us, sum(v.ahead, turn));
    if (!weighed)
        due_us = takt_min(due_us, first_us + lookahead_us / 2);
    return due_us - lookahead_us;
}

/* When the place should claim for its next turn: not at once. */
static int64_t room_at(const takt_ledger *ledger, int64_t now_us, const takt_place *me, view v,
                       bool weighed)
{
    int64_t lookahead_us = ledger->numbers->lookahead_us;

    return takt_max(turn_from(ledger, now_us, me, v, weighed, true),
                    now_us + lookahead_us / (v.ahead.of[TAKT_UNIT_TOKENS] > 0
                                                 ? TAKT_LOOKAHEAD_FRACTION
                                                 : TAKT_LOOKAHEAD_FRACTION_FIRST));
}

/* Gives a place as much of what its worker wants as its turn allows. Returns that, never more than
 * wanted. */
static takt_amounts serve(takt_ledger *ledger, int64_t now_us, int at, const takt_claim *claim,
                          takt_award *award)
{
    takt_place *me = &ledger->line[at];
    view v = look(ledger, now_us, at, false);
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);
    int units = units_of(ledger);
    takt_amounts left = {{0}}, use = {{0}}, given = {{0}};
    int64_t whole = v.shares;
    int64_t till_us = now_us + ledger->numbers->lookahead_us;
    int64_t near_us = takt_offers_are_awaited(ledger, now_us, me)
                          ? now_us + ledger->numbers->lookahead_us / TAKT_OFFERS_NEAR
                          : till_us;
    int64_t slots = 0, used = 0;
    bool large = false; /* the first waiter needs more than a share */

    EACH_UNIT(unit, units)
    {
        large |= takt_line_need(me, unit) > v.share.of[unit];
        use.of[unit] = usable(v.share.of[unit], takt_line_need(me, unit));
        left.of[unit] = takt_min(turn_of(v.share.of[unit], takt_line_need(me, unit), v.shares),
                                 v.room.of[unit] - v.ahead.of[unit]);
        whole = takt_min(whole, left.of[unit] / use.of[unit]);
    }
    EACH_UNIT(unit, whole > 0 ? units : 0)
    left.of[unit] =
        takt_min(left.of[unit], turn_of(v.share.of[unit], takt_line_need(me, unit), whole));
    if (takt_line_is_weighed(ledger, me)
            ? is_too_little(ledger, me, &left, &use)
            : v.shared && turn_from(ledger, now_us, me, v, false, false) > now_us)
        left = (takt_amounts){{0}};
    for (int i = 0; i < claim->want_count; i++) {
        const takt_want *want = &claim->wants[i];
        const takt_amounts one = takt_amounts_of(want->cost, want->more);
        int64_t until_us = want->latest_us < till_us ? want->latest_us : near_us;
        int64_t count, n, handed;
        if (want->priority != me->priority || !can_ever_be_given(ledger, want))
            continue;
        handed = 0;
        if (v.urgent.of[TAKT_UNIT_TOKENS] == 0 && ledger->inner_count == 0)
            handed = hand_on(ledger, from_us, want, award);
        me->wanting -= handed * want->cost;
        count = takt_min(want->count - handed, count_within(&left, &one, units));
        count = takt_min(count, takt_max(v.permits - slots, 0));
        if (ledger->inner_count > 0 || ledger->gaps.count > 0)
            n = takt_inner_take(ledger, from_us, want, claim->worker, count, until_us, award);
        else
            n = takt_numbers_take(ledger->numbers, &ledger->state, from_us, want->cost, want->more,
                                  count, until_us, award->runs, &award->run_count, TAKT_RUNS_MAX);
        slots += n;
        EACH_UNIT(unit, units)
        {
            left.of[unit] -= n * one.of[unit];
            given.of[unit] += n * one.of[unit];
        }
        me->waiting -= n + handed;
        me->accepted = takt_max(me->accepted - n - handed, 0);
        if (n + handed < want->count && want->latest_us > until_us) {
            me->need = want->cost; /* first come, first served: later waiters do not overtake it */
            me->needs = (takt_amounts){{0}};
            add_more(&me->needs, &one, 1, units);
            break;
        }
    }
    me->wanting -= given.of[TAKT_UNIT_TOKENS];
    add_more(&me->more, &given, -1, units);
    EACH_UNIT(unit, units)
    used = takt_max(used, takt_ceil_div(given.of[unit], use.of[unit]));
    if (ledger->numbers->concurrency > 0) {
        used = takt_max(used, takt_ceil_div(slots, v.permit_share));
        takt_holders_give(ledger, now_us, claim, slots);
    }
    if (given.of[TAKT_UNIT_TOKENS] > 0) {
        me->left = takt_max(v.shares - used, 0);
        large |= me->turn > ledger->turn || takt_line_owes(ledger, me->priority);
        me->moves = me->usual = 0;
        if (large && me->tenant == 0)
            takt_worth_note(ledger, me, given);
    }
    return given;
}

/* The worker's first waiter has no slot before this time, since the places before it get at least
 * what they want. 0: no place before it. */
static int64_t turn_at(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim, view v)
{
    if (v.first.of[TAKT_UNIT_TOKENS] == 0)
        return 0;
    return due_of(ledger, takt_max(now_us, ledger->blocked_until_us),
                  sum(v.first, takt_claim_least(claim, ledger->numbers)));
}

/* When a place that lacks a permit should claim again. A release wakes the next worker; the end of
 * a lease wakes nobody, so the first in line claims by itself at that time. TAKT_NEVER: the
 * keepalive is earlier, or other places are before it. */
static int64_t lease_over_at(const takt_ledger *ledger, int64_t now_us, const takt_place *me,
                             view v)
{
    int64_t over_us = TAKT_NEVER;

    if (v.ahead.of[TAKT_UNIT_TOKENS] == 0)
        over_us = takt_holders_over_at(ledger, now_us + TAKT_KEEPALIVE_US);
    return over_us == TAKT_NEVER ? over_us
                                 : takt_max(over_us, room_at(ledger, now_us, me, v,
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

/* ---- a claim --------------------------------------------------------------------------------- */

/* Lowers what a place wants to what inner limits give soon.  False: they give nothing; *parked_us
 * is then not later than when a claim for it has a slot within the lookahead. */
static bool cap(const takt_ledger *ledger, int64_t now_us, takt_place *place, int64_t *parked_us)
{
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us), due_us;

    if (ledger->inner_count == 0 || takt_inner_cap(ledger, now_us, place))
        return true;
    due_us = takt_inner_due(ledger, from_us, takt_amounts_of_cost(place->need));
    *parked_us =
        takt_min(*parked_us, due_us == TAKT_NEVER ? now_us + TAKT_KEEPALIVE_US
                                                  : due_us - ledger->numbers->lookahead_us);
    return false;
}

/* Updates the worker's places to what the claim says. */
static void restate(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                    int64_t *parked_us)
{
    int64_t weight = takt_max(takt_min(claim->weight, TAKT_WEIGHT_MAX), 1);
    int units = units_of(ledger);
    int64_t unlisted = claim->waiting;
    int last = -1;

    for (int i = 0; i < claim->want_count; i++) {
        unlisted -= claim->wants[i].count;
        last = claim->wants[i].priority;
    }
    for (int priority = 0; priority < TAKT_PRIORITIES; priority++) {
        int at = takt_line_find(ledger, claim->worker, priority);
        int64_t wanting = 0, waiting = priority == last ? takt_max(unlisted, 0) : 0, need = 0;
        takt_amounts more = {{0}}, needs = {{0}};
        for (int i = 0; i < claim->want_count; i++) {
            const takt_want *want = &claim->wants[i];
            if (want->priority != priority || !can_ever_be_given(ledger, want))
                continue;
            wanting += want->count * want->cost;
            waiting += want->count;
            if (units > TAKT_UNIT_MORE) {
                takt_amounts one = takt_amounts_of(want->cost, want->more);
                add_more(&more, &one, want->count, units);
                add_more(&needs, &one, need == 0, units);
            }
            need = need ? need : want->cost;
        }
        if (wanting == 0) {
            if (at >= 0)
                takt_line_remove(ledger, at);
            continue;
        }
        if (at < 0)
            at = takt_line_add(ledger,
                               (takt_place){.worker = claim->worker, .priority = (int8_t)priority});
        ledger->line[at].weight = weight;
        if (ledger->line[at].left >= weight)
            ledger->line[at].left = 0;
        ledger->line[at].seq = claim->seq;
        ledger->line[at].came = ledger->line[at].turn;
        ledger->line[at].accepted = ledger->line[at].waiting;
        ledger->line[at].wanting = wanting;
        ledger->line[at].waiting = waiting;
        ledger->line[at].need = need;
        ledger->line[at].more = more;
        ledger->line[at].needs = needs;
        ledger->line[at].held_back = 0;
        ledger->line[at].again_at_us = now_us;
        ledger->line[at].expires_at_us = now_us + TAKT_SILENT_US;
        ledger->line[at].aside = ledger->line[at].lacking = false;
        if (!cap(ledger, now_us, &ledger->line[at], parked_us))
            takt_line_remove(ledger, at);
    }
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
        all = sum(all, given);
        takt_meter_add(ledger, given.of[TAKT_UNIT_TOKENS]);
        takt_inner_count(ledger, given.of[TAKT_UNIT_TOKENS]);
        if (ledger->tenant_count > 0)
            takt_tenants_charge(ledger, at, given.of[TAKT_UNIT_TOKENS]);
        if (ledger->line[at].waiting <= 0 || !cap(ledger, now_us, &ledger->line[at], parked_us)) {
            takt_line_remove(ledger, at);
        } else if (given.of[TAKT_UNIT_TOKENS] > 0 && ledger->line[at].left == 0) {
            takt_line_end_turn(ledger, at, ledger->line[at].moves, ledger->line[at].usual);
        }
    }
    return all;
}

/* No earlier claim of the place has a slot within the lookahead, by its inner limits.  A place that
 * leaves the next slots to others asks from then on whether these are given. */
static int64_t put_off_until(const takt_ledger *ledger, int64_t now_us, const takt_place *place)
{
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);
    int64_t lookahead_us = ledger->numbers->lookahead_us;
    takt_amounts one = takt_amounts_of_cost(place->need);
    int64_t due_us = takt_inner_due(ledger, from_us, one);

    if (due_us == TAKT_NEVER)
        return due_us;
    if (!takt_inner_waits(ledger, place->worker, from_us, due_us, one))
        return due_us - lookahead_us;
    return takt_max(due_us - lookahead_us, now_us + lookahead_us / TAKT_LOOKAHEAD_FRACTION_LEFT);
}

static void plan_all(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                     takt_award *award)
{
    bool foremost = true;

    for (int at = 0; at < ledger->line_count; at++) {
        takt_place *place = &ledger->line[at];
        int64_t keepalive_us = now_us + TAKT_KEEPALIVE_US, again_us;
        view v;
        if (place->worker != claim->worker) {
            award->least_urgent = place->priority;
            continue;
        }
        v = look(ledger, now_us, at, true);
        place->lacking = v.permits <= 0;
        if (foremost && !place->lacking)
            award->next_slot_at_us = turn_at(ledger, now_us, claim, v);
        place->foremost = foremost;
        foremost = false;
        award->in_line |= 1U << place->priority;
        again_us = place->lacking
                       ? lease_over_at(ledger, now_us, place, v)
                       : room_at(ledger, now_us, place, v, takt_line_is_weighed(ledger, place));
        if (ledger->inner_count > 0 && !place->lacking)
            again_us = takt_max(again_us, put_off_until(ledger, now_us, place));
        place->again_at_us = takt_min(again_us, keepalive_us);
        if (place->lacking)
            again_us = takt_min(again_us, head_late_at(ledger, now_us, at));
        if (takt_offers_are_awaited(ledger, now_us, place))
            again_us = takt_min(again_us, now_us + ledger->numbers->lookahead_us /
                                                       TAKT_LOOKAHEAD_FRACTION_FIRST);
        award->claim_again_at_us = takt_min(award->claim_again_at_us, again_us);
    }
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
    EACH_UNIT(unit, units_of(ledger))
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
    EACH_UNIT(unit, TAKT_UNITS)
    if (needed.of[unit] > given.of[unit] && needed.of[unit] > needs.of[unit])
        return true;
    return false;
}

/* With drop-oldest, the places behind the dropped ones move to the front earlier than planned: the
 * first one must claim when its turn is now, or slots would pass unused. */
static void hurry_first(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                        takt_award *award)
{
    int64_t again_us;
    int at = first_in_line(ledger);
    view v;

    if (at == ledger->line_count || ledger->line[at].worker == claim->worker)
        return;
    v = look(ledger, now_us, at, true);
    again_us = room_at(ledger, now_us, &ledger->line[at], v, false);
    if (v.permits > 0 && ledger->line[at].again_at_us >
                             again_us + ledger->numbers->lookahead_us / TAKT_LOOKAHEAD_FRACTION)
        takt_wakes_add(award, &ledger->line[at]);
}

void takt_ledger_claim(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                       takt_award *award)
{
    int64_t parked_us = TAKT_NEVER;
    bool stands = true;

    takt_ledger_tidy(ledger, now_us);
    for (int i = 0; i < ledger->inner_count; i++)
        tidy_rules(ledger->inner[i], now_us);
    takt_award_begin(ledger, now_us, claim, award);
    if (!award->stale) {
        award->holding = takt_holders_state(ledger, now_us, claim);
        if (claim->tenant || ledger->tenant_count > 0)
            stands = takt_tenants_join(ledger, now_us, claim);
        if (!stands)
            award->claim_again_at_us = now_us + TAKT_KEEPALIVE_US;
    }
    if (!award->stale && stands) {
        takt_amounts needed = need_of_head(ledger, claim), given;
        restate(ledger, now_us, claim, &parked_us);
        if (ledger->tenant_count > 0)
            takt_tenants_assign(ledger, claim);
        award->taken = takt_offers_accept(ledger, now_us, claim);
        given = serve_all(ledger, now_us, claim, award, &parked_us);
        takt_overflow_apply(ledger, claim, award);
        if (ledger->tenant_count > 0)
            takt_tenants_settle(ledger);
        plan_all(ledger, now_us, claim, award);
        if (takt_overflow_moves_front(ledger))
            hurry_first(ledger, now_us, claim, award);
        award->news |= is_news(ledger, claim, needed, given, award);
        award->parked = parked_us != TAKT_NEVER && award->in_line == 0;
        award->claim_again_at_us = takt_min(award->claim_again_at_us, parked_us);
    }
    takt_award_end(ledger, now_us, claim, award);
}

void takt_ledger_tell_newer(const takt_ledger *ledger, const takt_numbers *numbers,
                            takt_award *award)
{
    award->outdated =
        numbers != ledger->numbers && (numbers->revision < ledger->numbers->revision ||
                                       !takt_numbers_same(numbers, ledger->numbers));
    if (award->outdated)
        award->newer = *ledger->numbers;
}
