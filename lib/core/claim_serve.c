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

/* A place's turn, while its wants are served. */
typedef struct serving {
    takt_place *me;
    takt_view view;
    takt_inner_turn inner; /* of nested work; else it is not set */
    takt_amounts first;    /* what its first waiter needs */
    takt_amounts use;      /* what the place can use of a share */
    takt_amounts left;     /* of the turn */
    takt_amounts given;
    takt_amounts claimed; /* given, in the claim's units, if the work is nested */
    int64_t slots;        /* given */
    int64_t permits;      /* that the turn may take */
    int64_t from_us;      /* slots are given from this time on, */
    int64_t till_us;      /* and until this one, */
    int64_t near_us;      /* or this one to a waiter that stays longer */
} serving;

static void begin_serving(const takt_ledger *ledger, int64_t now_us, int at, serving *turn)
{
    takt_place *me = &ledger->line[at];
    int64_t lookahead_us = ledger->numbers->lookahead_us;

    takt_view_look(ledger, now_us, at, false, &turn->view);
    turn->me = me;
    turn->permits = turn->view.permits;
    turn->from_us = takt_max(now_us, ledger->blocked_until_us);
    turn->till_us = now_us + lookahead_us;
    turn->near_us = takt_offers_are_awaited(ledger, now_us, me)
                        ? now_us + lookahead_us / TAKT_OFFERS_NEAR
                        : turn->till_us;
    turn->first = turn->use = turn->given = turn->claimed = (takt_amounts){{0}};
    turn->slots = 0;
    turn->left = left_now(ledger, now_us, me, &turn->view, &turn->use);
    TAKT_EACH_UNIT(unit, takt_view_units(ledger))
    turn->first.of[unit] = takt_line_need(me, unit);
    if (ledger->inner_count > 0) {
        turn->inner = takt_inner_turn_of(ledger, now_us, me);
        turn->permits = takt_min(turn->permits, turn->inner.permits);
    }
}

/* Gives up to `count` requests of a want the slots that the turn allows. Returns how many. */
static int64_t take(takt_ledger *ledger, const serving *turn, const takt_claim *claim,
                    const takt_want *want, int64_t count, int64_t until_us, takt_award *award)
{
    const takt_amounts one = takt_amounts_of(want->cost, want->more);
    const takt_amounts own = takt_amounts_by(ledger->units, one);

    count = takt_min(count, count_within(&turn->left, &own, takt_view_units(ledger)));
    count = takt_min(count, takt_max(turn->permits - turn->slots, 0));
    if (ledger->inner_count > 0)
        count = takt_min(count, count_within(&turn->inner.left, &one, TAKT_UNITS));
    if (ledger->inner_count > 0 || ledger->gaps.count > 0)
        return takt_inner_take(ledger, turn->from_us, want, claim->worker, count, until_us, award);
    return takt_numbers_take(ledger->numbers, &ledger->state, turn->from_us, want->cost, want->more,
                             count, until_us, award->runs, &award->run_count, TAKT_RUNS_MAX);
}

/* The turn has given n slots of such requests. */
static void count_given(const takt_ledger *ledger, serving *turn, const takt_want *want, int64_t n)
{
    const takt_amounts one = takt_amounts_of(want->cost, want->more);
    const takt_amounts own = takt_amounts_by(ledger->units, one);

    turn->slots += n;
    TAKT_EACH_UNIT(unit, takt_view_units(ledger))
    {
        turn->left.of[unit] -= n * own.of[unit];
        turn->given.of[unit] += n * own.of[unit];
    }
    TAKT_EACH_UNIT(unit, ledger->inner_count > 0 ? TAKT_UNITS : 0)
    {
        turn->inner.left.of[unit] -= n * one.of[unit];
        turn->claimed.of[unit] += n * one.of[unit];
    }
}

/* First come, first served: later waiters do not overtake one that has no slot yet. */
static void wait_for(takt_ledger *ledger, takt_place *me, const takt_want *want)
{
    const takt_amounts own =
        takt_amounts_by(ledger->units, takt_amounts_of(want->cost, want->more));

    me->need = want->cost;
    ledger->stated[me->priority].first = want->more;
    me->needs = (takt_amounts){{0}};
    takt_claim_add_more(&me->needs, &own, 1, takt_view_units(ledger));
}

/* What a want gets in the turn. Returns whether the next want is served, too. */
static bool serve_want(takt_ledger *ledger, serving *turn, const takt_claim *claim,
                       const takt_want *want, takt_award *award)
{
    takt_place *me = turn->me;
    int64_t until_us = want->latest_us < turn->till_us ? want->latest_us : turn->near_us;
    int64_t handed = 0, n;

    if (turn->view.urgent.of[TAKT_UNIT_TOKENS] == 0 && ledger->inner_count == 0)
        handed = hand_on(ledger, turn->from_us, want, award);
    me->wanting -= handed * want->cost;
    n = take(ledger, turn, claim, want, want->count - handed, until_us, award);
    count_given(ledger, turn, want, n);
    me->waiting -= n + handed;
    me->accepted = takt_max(me->accepted - n - handed, 0);
    if (n + handed >= want->count || want->latest_us <= until_us)
        return true;
    wait_for(ledger, me, want);
    return false;
}

/* How many shares the turn has used. */
static int64_t shares_used(const takt_ledger *ledger, const serving *turn)
{
    int64_t used = 0;

    TAKT_EACH_UNIT(unit, takt_view_units(ledger))
    used = takt_max(used, takt_ceil_div(turn->given.of[unit], turn->use.of[unit]));
    if (ledger->numbers->concurrency > 0)
        used = takt_max(used, takt_ceil_div(turn->slots, turn->view.permit_share));
    return used;
}

/* The place has been given what it wanted of that. */
static void count_served(takt_ledger *ledger, const serving *turn)
{
    takt_place *me = turn->me;
    takt_stated *stated = &ledger->stated[me->priority];
    const takt_amounts *given = &turn->given;

    me->wanting = takt_max(me->wanting - given->of[TAKT_UNIT_TOKENS], 0);
    stated->tokens = takt_max(stated->tokens - given->of[TAKT_UNIT_TOKENS], 0);
    for (int unit = TAKT_UNIT_MORE; unit < takt_view_units(ledger); unit++) {
        me->more.of[unit] = takt_max(me->more.of[unit] - given->of[unit], 0);
        stated->more.of[unit] = takt_max(stated->more.of[unit] - given->of[unit], 0);
    }
    if (given->of[TAKT_UNIT_TOKENS] == 0)
        return;
    me->left = takt_max(turn->view.shares - shares_used(ledger, turn), 0);
    me->moves = me->usual = 0;
    if (me->tenant == 0 && is_uneven(ledger, me, turn->first, &turn->view))
        takt_worth_note(ledger, me, *given);
}

/* Gives a place as much of what its worker wants as its turn allows. Returns that, never more than
 * wanted. */
static takt_amounts serve(takt_ledger *ledger, int64_t now_us, int at, const takt_claim *claim,
                          takt_award *award)
{
    serving turn;

    begin_serving(ledger, now_us, at, &turn);
    for (int i = 0; i < claim->want_count; i++) {
        const takt_want *want = &claim->wants[i];
        if (want->priority == turn.me->priority && takt_claim_can_be_given(ledger, want) &&
            !serve_want(ledger, &turn, claim, want, award))
            break;
    }
    if (ledger->numbers->concurrency > 0)
        takt_holders_give(ledger, now_us, claim, turn.slots);
    takt_inner_permits_give(ledger, now_us, claim, turn.slots);
    count_served(ledger, &turn);
    if (ledger->inner_count > 0) {
        takt_inner_served(ledger, turn.me, &turn.inner, turn.claimed);
        takt_inner_count(ledger, turn.claimed);
    }
    turn.given.of[TAKT_UNIT_REQUESTS] = turn.slots; /* permits are of requests; no rule need be */
    return turn.given;
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
