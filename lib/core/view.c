/*
 * view.c: see view.h.
 */
#include "core/view.h"

#include "base/integers.h"
#include "core/gaps.h"
#include "core/holders.h"
#include "core/line.h"
#include "core/tenant_inside.h"
#include "core/tenants.h"
#include "core/worth.h"

int takt_view_units(const takt_ledger *ledger)
{
    return takt_numbers_units(ledger->numbers);
}

/* takt_numbers_room, with the gaps. */
static takt_amounts room_of(const takt_ledger *ledger, int64_t from_us, int64_t until_us)
{
    takt_amounts room = takt_numbers_room(ledger->numbers, &ledger->state, from_us, until_us);

    if (ledger->gaps.count > 0)
        room.of[ledger->numbers->rules[takt_gaps_rule(ledger->numbers)].unit] +=
            takt_gaps_room(ledger, from_us, until_us);
    return room;
}

int64_t takt_view_due(const takt_ledger *ledger, int64_t from_us, takt_amounts n)
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
                           bool plan, takt_view *v)
{
    int64_t concurrency = ledger->numbers->concurrency;
    takt_tenant_turn turn;

    takt_tenants_count(ledger);
    takt_tenants_look_inside(ledger, at);
    TAKT_EACH_UNIT(unit, units)
    {
        turn = takt_tenants_turn(ledger, at, unit, total->of[unit], plan);
        v->share.of[unit] = turn.share;
        v->shares = turn.shares;
        v->ahead.of[unit] = v->urgent.of[unit] + turn.ahead;
        v->first.of[unit] = v->urgent.of[unit] + turn.first;
    }
    v->permits = takt_holders_free(ledger);
    if (v->permits == TAKT_NEVER)
        return;
    turn = takt_tenants_turn(ledger, at, TAKT_UNIT_TOKENS, concurrency, false);
    v->permit_share = turn.share;
    v->permits = takt_min(v->permits - v->urgent.of[TAKT_UNIT_TOKENS] - turn.ahead,
                          turn.shares * turn.share);
}

/* With so many shares before it a place is given nothing, and claims next at its keepalive: with
 * weights a script counts no more of them. */
static int64_t shares_in_reach(const takt_ledger *ledger, const takt_view *v, int units)
{
    const takt_numbers *numbers = ledger->numbers;
    takt_amounts soon =
        takt_numbers_throughput(numbers, &ledger->state, TAKT_KEEPALIVE_US + numbers->lookahead_us);
    int64_t shares = 1;

    TAKT_EACH_UNIT(unit, units)
    shares = takt_max(shares,
                      takt_ceil_div(takt_max(v->room.of[unit], soon.of[unit]), v->share.of[unit]));
    return numbers->concurrency > 0 ? takt_max(shares, takt_ceil_div(v->permits, v->permit_share))
                                    : shares;
}

/* What each share of the first place takes beyond a share: its first waiter's need. The others may
 * need less, so that to `plan` counts them only if all need the same. */
static int64_t beyond_shares(const takt_place *head, int unit, int64_t share, bool plan)
{
    int64_t needed = takt_line_need(head, unit), wanted = takt_line_wanted(head, unit);
    int64_t count = takt_max(head->waiting, 1);
    bool alike = wanted % count == 0 && wanted / count == needed;

    return (plan && !alike ? 1 : takt_line_shares(head)) * takt_max(needed - share, 0);
}

/* The other places of one's priority, all together. */
typedef struct rivals {
    const takt_place *head;        /* the first before one's own; NULL: none */
    int64_t weight, places;        /* with one's own place */
    int64_t before, shares_before; /* those before it */
    takt_amounts wanted;
} rivals;

/* `urgent` gets what more urgent places want. */
static rivals look_at_rivals(const takt_ledger *ledger, int at, int units, takt_amounts *urgent)
{
    const takt_place *me = &ledger->line[at];
    rivals all = {.places = 1};

    for (int i = 0; i < ledger->line_count; i++) {
        const takt_place *place = &ledger->line[i];
        if (i == at || place->aside || (place->behind && place->priority == me->priority))
            continue;
        TAKT_EACH_UNIT(unit, place->priority < me->priority ? units : 0)
        urgent->of[unit] += takt_line_wanted(place, unit);
        if (place->priority != me->priority)
            continue;
        all.weight += place->weight;
        all.places++;
        TAKT_EACH_UNIT(unit, units)
        all.wanted.of[unit] += takt_line_wanted(place, unit);
        all.before += i < at;
        all.shares_before += i < at ? takt_line_shares(place) : 0;
        if (i < at && !all.head)
            all.head = place;
    }
    all.weight = all.weight > 0 ? all.weight + me->weight : 0;
    return all;
}

/* What the place leaves to those before it: their shares, or the turns that it owes them.  Room
 * that nobody wants is not left. */
static void leave(const rivals *others, const takt_amounts *owed, int units, bool plan,
                  takt_view *v)
{
    TAKT_EACH_UNIT(unit, units)
    {
        int64_t needed = others->head ? takt_line_need(others->head, unit) : 0;
        int64_t share = v->share.of[unit];
        int64_t ahead = takt_max(others->shares_before * share, owed->of[unit]) +
                        (others->head ? beyond_shares(others->head, unit, share, plan) : 0);
        v->ahead.of[unit] = v->urgent.of[unit] + takt_min(ahead, others->wanted.of[unit]);
        v->first.of[unit] = v->urgent.of[unit] + (others->head ? needed + others->before - 1 : 0);
    }
}

void takt_view_look(const takt_ledger *ledger, int64_t now_us, int at, bool plan, takt_view *v)
{
    const takt_place *me = &ledger->line[at];
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us), weight;
    int units = takt_view_units(ledger);
    takt_amounts through, owed = {{0}};
    rivals others;

    *v = (takt_view){.urgent = {{0}}};
    others = look_at_rivals(ledger, at, units, &v->urgent);
    /* alone, a place has everything */
    v->shared = others.weight > 0 && me->tenant == 0 && ledger->numbers->concurrency == 0;
    v->shares = others.weight > 0 ? takt_line_shares(me) : 1;
    weight = takt_max(others.weight, 1);
    v->room = room_of(ledger, from_us, now_us + ledger->numbers->lookahead_us);
    through =
        takt_numbers_throughput(ledger->numbers, &ledger->state, ledger->numbers->lookahead_us);
    if (me->tenant > 0) {
        TAKT_EACH_UNIT(unit, units)
        through.of[unit] = takt_max(through.of[unit], v->room.of[unit]);
        look_at_tenant(ledger, at, &through, units, plan, v);
        return;
    }
    TAKT_EACH_UNIT(unit, units)
    v->share.of[unit] = takt_max(takt_max(through.of[unit], v->room.of[unit]) / weight, 1);
    v->permits = takt_holders_free(ledger); /* each wanted permit comes with at least one token */
    v->permit_share = takt_max(ledger->numbers->concurrency / weight, 1);
    if (weight > others.places)
        others.shares_before = takt_min(others.shares_before, shares_in_reach(ledger, v, units));
    if (plan && others.head && me->turn > ledger->turn)
        owed = takt_worth_before(ledger, me->turn - others.head->turn, others.places - 1);
    leave(&others, &owed, units, plan, v);
    if (v->permits != TAKT_NEVER)
        v->permits = takt_min(v->permits - v->urgent.of[TAKT_UNIT_TOKENS] -
                                  takt_min(others.shares_before * v->permit_share,
                                           others.wanted.of[TAKT_UNIT_TOKENS]),
                              v->shares * v->permit_share);
}

int64_t takt_view_usable(int64_t share, int64_t need)
{
    return takt_max(share - share % need, need);
}

int64_t takt_view_turn(int64_t share, int64_t need, int64_t shares)
{
    return (shares - 1) * takt_view_usable(share, need) + takt_max(share, need);
}

/* A turn ends with the unit that is used up first: of the others no more is needed than requests
 * of the place's average amounts take. */
static void match(const takt_place *me, takt_amounts *turn, int units)
{
    takt_amounts one = {{0}};
    int64_t requests = INT64_MAX;

    TAKT_EACH_UNIT(unit, units)
    {
        one.of[unit] =
            takt_max(takt_ceil_div(takt_line_wanted(me, unit), takt_max(me->waiting, 1)), 1);
        requests = takt_min(requests, turn->of[unit] / one.of[unit]);
    }
    requests = takt_max(requests, 1);
    TAKT_EACH_UNIT(unit, units)
    turn->of[unit] = takt_max(takt_min(turn->of[unit], requests * one.of[unit]),
                              takt_max(takt_line_need(me, unit), 1));
}

bool takt_view_too_little(const takt_ledger *ledger, const takt_place *me, const takt_amounts *left,
                          const takt_amounts *use)
{
    takt_amounts enough = {{0}}, half;
    int units = takt_view_units(ledger);

    half =
        takt_numbers_throughput(ledger->numbers, &ledger->state, ledger->numbers->lookahead_us / 2);
    TAKT_EACH_UNIT(unit, units)
    enough.of[unit] = takt_min(takt_min(use->of[unit], takt_line_wanted(me, unit)), half.of[unit]);
    if (units > 1)
        match(me, &enough, units);
    TAKT_EACH_UNIT(unit, units)
    if (left->of[unit] < enough.of[unit])
        return true;
    return false;
}

int64_t takt_view_turn_from(const takt_ledger *ledger, int64_t now_us, const takt_place *me,
                            const takt_view *v, bool weighed, bool plan)
{
    int64_t lookahead_us = ledger->numbers->lookahead_us;
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);
    takt_amounts half = takt_numbers_throughput(ledger->numbers, &ledger->state, lookahead_us / 2);
    takt_amounts need = {{0}}, turn = {{0}};
    int units = takt_view_units(ledger);
    int64_t shares = v->shares, first_us, due_us;

    TAKT_EACH_UNIT(unit, TAKT_UNITS)
    need.of[unit] = turn.of[unit] = takt_max(takt_line_need(me, unit), 1);
    TAKT_EACH_UNIT(unit, units)
    shares = takt_min(shares, half.of[unit] / takt_view_usable(v->share.of[unit], need.of[unit]));
    TAKT_EACH_UNIT(unit, units)
    {
        int64_t most = takt_view_turn(v->share.of[unit], need.of[unit], takt_max(shares, 1));
        if (!plan || !v->shared || weighed)
            most = takt_min(most, takt_line_wanted(me, unit));
        turn.of[unit] = takt_max(takt_min(most, half.of[unit]), need.of[unit]);
    }
    if (units > 1)
        match(me, &turn, units);
    first_us = takt_view_due(ledger, from_us, takt_amounts_sum(v->ahead, need));
    due_us = takt_view_due(ledger, from_us, takt_amounts_sum(v->ahead, turn));
    if (!weighed)
        due_us = takt_min(due_us, first_us + lookahead_us / 2);
    return due_us - lookahead_us;
}

int64_t takt_view_room_at(const takt_ledger *ledger, int64_t now_us, const takt_place *me,
                          const takt_view *v, bool weighed)
{
    int64_t lookahead_us = ledger->numbers->lookahead_us;

    return takt_max(takt_view_turn_from(ledger, now_us, me, v, weighed, true),
                    now_us + lookahead_us / (v->ahead.of[TAKT_UNIT_TOKENS] > 0
                                                 ? TAKT_LOOKAHEAD_FRACTION
                                                 : TAKT_LOOKAHEAD_FRACTION_FIRST));
}
