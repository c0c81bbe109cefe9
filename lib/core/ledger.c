/*
 * ledger.c: see ledger.h. Decides which worker gets which slots now, and when each worker should
 * claim again.
 *
 * In short: waiters stand in line by priority, then turn. Each place leaves room for the places
 * before it (a share each, and everything that higher priorities want), takes the earliest slots up
 * to its own share, and goes to the back. With concurrency, each slot needs a free permit; the time
 * when a permit comes free is unknown, so workers that lack one are woken.
 */
#include "core/ledger.h"

#include "base/integers.h"
#include "core/award.h"
#include "core/brake.h"
#include "core/holders.h"
#include "core/line.h"
#include "core/meter.h"
#include "core/offers.h"
#include "core/overflow.h"

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
    ledger->fence = ledger->leased_until_us = 0;
    ledger->line_count = ledger->holder_count = 0;
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
    }
    ledger->numbers = numbers;
    takt_brake_follow(ledger, &brake, now_us);
}

void takt_ledger_tidy(takt_ledger *ledger, int64_t now_us)
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
    takt_line_tidy(ledger, now_us);
    takt_holders_tidy(ledger, now_us);
    takt_meter_tidy(ledger, now_us);
    takt_offers_tidy(ledger, now_us);
}

/* ---- room and turns -------------------------------------------------------------------------- */

/* The situation of one place in line. */
typedef struct view {
    takt_amounts room;   /* what has slots due by now + lookahead and is not yet given away */
    takt_amounts share;  /* what one turn may take */
    takt_amounts ahead;  /* part of the room that is left to the places before this one */
    takt_amounts first;  /* what the places before this one want in any case */
    takt_amounts urgent; /* what higher priorities want */
    int64_t permits;     /* permits that this turn may take */
} view;

#define EACH_UNIT(unit, count) for (int unit = 0; unit < (count); unit++)

/* How many units there are to look at: of most limits tokens alone. */
static int units_of(const takt_numbers *numbers)
{
    for (int i = 0; i < numbers->rule_count; i++)
        if (numbers->rules[i].unit != TAKT_UNIT_TOKENS)
            return TAKT_UNITS;
    return 1;
}

static int64_t wanted_by(const takt_place *place, int unit)
{
    return unit == TAKT_UNIT_TOKENS ? place->wanting : place->waiting;
}

static int64_t needed_by(const takt_place *place, int unit)
{
    return unit == TAKT_UNIT_TOKENS ? place->need : 1;
}

static int64_t taken_by(const takt_want *want, int unit)
{
    return unit == TAKT_UNIT_TOKENS ? want->cost : 1;
}

static takt_amounts sum(takt_amounts a, takt_amounts b)
{
    EACH_UNIT(unit, TAKT_UNITS)
    a.of[unit] += b.of[unit];
    return a;
}

static view look(const takt_ledger *ledger, int64_t now_us, int at)
{
    const takt_place *me = &ledger->line[at], *head = NULL;
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);
    int64_t workers = 1, before = 0;
    int units = units_of(ledger->numbers);
    takt_amounts through, others = {{0}};
    view v = {.urgent = {{0}}};

    for (int i = 0; i < ledger->line_count; i++) {
        const takt_place *place = &ledger->line[i];
        if (i == at || place->aside)
            continue;
        EACH_UNIT(unit, place->priority < me->priority ? units : 0)
        v.urgent.of[unit] += wanted_by(place, unit);
        if (place->priority != me->priority)
            continue;
        workers++;
        EACH_UNIT(unit, units)
        others.of[unit] += wanted_by(place, unit);
        before += i < at;
        if (i < at && !head)
            head = place;
    }
    v.room = takt_numbers_room(ledger->numbers, &ledger->state, from_us,
                               now_us + ledger->numbers->lookahead_us);
    through =
        takt_numbers_throughput(ledger->numbers, &ledger->state, ledger->numbers->lookahead_us);
    EACH_UNIT(unit, units)
    {
        int64_t needed = head ? needed_by(head, unit) : 0;
        int64_t share = takt_max(takt_max(through.of[unit], v.room.of[unit]) / workers, 1);
        int64_t ahead = before * share + takt_max(needed - share, 0);
        v.share.of[unit] = share;
        /* room that nobody wants is not reserved */
        v.ahead.of[unit] = v.urgent.of[unit] + takt_min(ahead, others.of[unit]);
        v.first.of[unit] = v.urgent.of[unit] + (head ? needed + before - 1 : 0);
    }
    v.permits = takt_holders_free(ledger); /* each wanted permit comes with at least one token */
    if (v.permits != TAKT_NEVER) {
        int64_t share = takt_max(ledger->numbers->concurrency / workers, 1);
        v.permits = takt_min(v.permits - v.urgent.of[TAKT_UNIT_TOKENS] -
                                 takt_min(before * share, others.of[TAKT_UNIT_TOKENS]),
                             share);
    }
    return v;
}

/* Under newer numbers a cost may exceed what a rule can ever give. Nobody must wait for such a
 * waiter; its worker refuses it when it learns the numbers. */
static bool can_ever_be_given(const takt_ledger *ledger, const takt_want *want)
{
    return want->cost <= takt_numbers_capacity(ledger->numbers, TAKT_UNIT_TOKENS, NULL);
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

/* How many waiters of a want there is so much left for. */
static int64_t count_within(const takt_amounts *left, const takt_want *want, int units)
{
    int64_t count = TAKT_ROOM_MAX;

    EACH_UNIT(unit, units)
    count = takt_min(count, left->of[unit] > 0 ? left->of[unit] / taken_by(want, unit) : 0);
    return count;
}

/* Gives a place as much of what its worker wants as its turn allows. Returns the tokens, never more
 * than wanted. */
static int64_t serve(takt_ledger *ledger, int64_t now_us, int at, const takt_claim *claim,
                     takt_award *award)
{
    takt_place *me = &ledger->line[at];
    view v = look(ledger, now_us, at);
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);
    int units = units_of(ledger->numbers);
    takt_amounts left = {{0}};
    int64_t till_us = now_us + ledger->numbers->lookahead_us;
    int64_t near_us = takt_offers_are_awaited(ledger, now_us, me)
                          ? now_us + ledger->numbers->lookahead_us / TAKT_OFFERS_NEAR
                          : till_us;
    int64_t given = 0, slots = 0;

    EACH_UNIT(unit, units)
    left.of[unit] = takt_min(takt_max(v.share.of[unit], needed_by(me, unit)),
                             v.room.of[unit] - v.ahead.of[unit]);
    for (int i = 0; i < claim->want_count; i++) {
        const takt_want *want = &claim->wants[i];
        int64_t until_us = want->latest_us < till_us ? want->latest_us : near_us;
        int64_t count, n, handed;
        if (want->priority != me->priority || !can_ever_be_given(ledger, want))
            continue;
        handed = v.urgent.of[TAKT_UNIT_TOKENS] == 0 ? hand_on(ledger, from_us, want, award) : 0;
        me->wanting -= handed * want->cost;
        count = takt_min(want->count - handed, count_within(&left, want, units));
        count = takt_min(count, takt_max(v.permits - slots, 0));
        n = takt_numbers_take(ledger->numbers, &ledger->state, from_us, want->cost, count, until_us,
                              award->runs, &award->run_count, TAKT_RUNS_MAX);
        given += n * want->cost;
        slots += n;
        EACH_UNIT(unit, units)
        left.of[unit] -= n * taken_by(want, unit);
        me->waiting -= n + handed;
        me->accepted = takt_max(me->accepted - n - handed, 0);
        if (n + handed < want->count && want->latest_us > until_us) {
            me->need = want->cost; /* first come, first served: later waiters do not overtake it */
            break;
        }
    }
    me->wanting -= given;
    if (ledger->numbers->concurrency > 0)
        takt_holders_give(ledger, now_us, claim, slots);
    return given;
}

/* A turn ends with the unit that is used up first: of the other one no more is needed than requests
 * of the place's average cost take. */
static void match(const takt_place *me, takt_amounts *turn)
{
    int64_t *tokens = &turn->of[TAKT_UNIT_TOKENS], *requests = &turn->of[TAKT_UNIT_REQUESTS];
    int64_t cost = takt_max(takt_ceil_div(me->wanting, takt_max(me->waiting, 1)), 1);

    *requests = takt_max(takt_min(*requests, *tokens / cost), 1);
    *tokens = takt_max(takt_min(*tokens, *requests * cost), takt_max(me->need, 1));
}

/* When there will be room for this place's next turn. The time is early enough to have the slots
 * half a lookahead before they are due, including the first one of a rule with uneven slots. */
static int64_t room_at(const takt_ledger *ledger, int64_t now_us, const takt_place *me, view v)
{
    int64_t lookahead_us = ledger->numbers->lookahead_us;
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);
    takt_amounts half = takt_numbers_throughput(ledger->numbers, &ledger->state, lookahead_us / 2);
    takt_amounts need = {{takt_max(me->need, 1), 1}}, turn = need;
    int units = units_of(ledger->numbers);
    int64_t first_us, due_us;

    EACH_UNIT(unit, units)
    turn.of[unit] = takt_max(
        takt_min(takt_min(wanted_by(me, unit), v.share.of[unit]), half.of[unit]), need.of[unit]);
    if (units == TAKT_UNITS)
        match(me, &turn);
    first_us = takt_numbers_due(ledger->numbers, &ledger->state, from_us, sum(v.ahead, need));
    due_us = takt_numbers_due(ledger->numbers, &ledger->state, from_us, sum(v.ahead, turn));
    due_us = takt_min(due_us, first_us + lookahead_us / 2);
    return takt_max(due_us - lookahead_us,
                    now_us + lookahead_us / (v.ahead.of[TAKT_UNIT_TOKENS] > 0
                                                 ? TAKT_LOOKAHEAD_FRACTION
                                                 : TAKT_LOOKAHEAD_FRACTION_FIRST));
}

/* The worker's first waiter has no slot before this time, since the places before it get at least
 * what they want. 0: no place before it. */
static int64_t turn_at(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim, view v)
{
    int64_t capacity = takt_numbers_capacity(ledger->numbers, TAKT_UNIT_TOKENS, NULL);
    takt_amounts least = {{takt_claim_min_cost(claim, capacity), 1}};

    return v.first.of[TAKT_UNIT_TOKENS] > 0
               ? takt_numbers_due(ledger->numbers, &ledger->state,
                                  takt_max(now_us, ledger->blocked_until_us), sum(v.first, least))
               : 0;
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
    return over_us == TAKT_NEVER ? over_us : takt_max(over_us, room_at(ledger, now_us, me, v));
}

/* If the first place in line lacks a permit and its worker is dead, the place is set aside by the
 * first claim after it is late. So the next place, if it lacks a permit, too, claims at that time.
 * TAKT_NEVER: the keepalive is earlier, or this place is not the second one. */
static int64_t head_late_at(const takt_ledger *ledger, int64_t now_us, int at)
{
    const takt_place *head = NULL;
    int64_t late_us;

    for (int i = 0; i < at; i++) {
        const takt_place *place = &ledger->line[i];
        if (place->aside || place->worker == ledger->line[at].worker)
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

/* Updates the worker's places to what the claim says. */
static void restate(takt_ledger *ledger, int64_t now_us, const takt_claim *claim)
{
    int64_t unlisted = claim->waiting;
    int last = -1;

    for (int i = 0; i < claim->want_count; i++) {
        unlisted -= claim->wants[i].count;
        last = claim->wants[i].priority;
    }
    for (int priority = 0; priority < TAKT_PRIORITIES; priority++) {
        int at = takt_line_find(ledger, claim->worker, priority);
        int64_t wanting = 0, waiting = priority == last ? takt_max(unlisted, 0) : 0, need = 0;
        for (int i = 0; i < claim->want_count; i++) {
            const takt_want *want = &claim->wants[i];
            if (want->priority != priority || !can_ever_be_given(ledger, want))
                continue;
            wanting += want->count * want->cost;
            waiting += want->count;
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
        ledger->line[at].seq = claim->seq;
        ledger->line[at].came = ledger->line[at].turn;
        ledger->line[at].accepted = ledger->line[at].waiting;
        ledger->line[at].wanting = wanting;
        ledger->line[at].waiting = waiting;
        ledger->line[at].need = need;
        ledger->line[at].again_at_us = now_us;
        ledger->line[at].expires_at_us = now_us + TAKT_SILENT_US;
        ledger->line[at].aside = ledger->line[at].lacking = false;
    }
}

/* One turn for each of the worker's places, the most urgent first. Returns the tokens that were
 * taken of the room. */
static int64_t serve_all(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                         takt_award *award)
{
    int64_t all = 0;
    bool foremost = true;

    for (int priority = 0; priority < TAKT_PRIORITIES; priority++) {
        int at = takt_line_find(ledger, claim->worker, priority);
        int64_t given;
        if (at < 0)
            continue;
        if (foremost)
            award->news = takt_offers_ask(ledger, now_us, claim, &ledger->line[at]);
        foremost = false;
        given = serve(ledger, now_us, at, claim, award);
        all += given;
        takt_meter_add(ledger, given);
        if (ledger->line[at].waiting <= 0) {
            takt_line_remove(ledger, at);
        } else if (given > 0) { /* its turn is over: it goes to the back */
            takt_place place = ledger->line[at];
            takt_line_remove(ledger, at);
            takt_line_add(ledger, place);
        }
    }
    return all;
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
        v = look(ledger, now_us, at);
        place->lacking = v.permits <= 0;
        if (foremost && !place->lacking)
            award->next_slot_at_us = turn_at(ledger, now_us, claim, v);
        place->foremost = foremost;
        foremost = false;
        award->in_line |= 1U << place->priority;
        again_us = place->lacking ? lease_over_at(ledger, now_us, place, v)
                                  : room_at(ledger, now_us, place, v);
        place->again_at_us = takt_min(again_us, keepalive_us);
        if (place->lacking)
            again_us = takt_min(again_us, head_late_at(ledger, now_us, at));
        if (takt_offers_are_awaited(ledger, now_us, place))
            again_us = takt_min(again_us, now_us + ledger->numbers->lookahead_us /
                                                       TAKT_LOOKAHEAD_FRACTION_FIRST);
        award->claim_again_at_us = takt_min(award->claim_again_at_us, again_us);
    }
}

/* What the first waiter in line needs, if it is the claimer's and needs more than one token: all
 * other places leave that much to it. */
static int64_t need_of_head(const takt_ledger *ledger, const takt_claim *claim)
{
    int at = 0;

    while (at < ledger->line_count && ledger->line[at].aside)
        at++;
    return at < ledger->line_count && ledger->line[at].worker == claim->worker &&
                   ledger->line[at].need > 1
               ? ledger->line[at].need
               : 0;
}

/* Whether other waiters may get slots earlier than they were told, because the first in line, which
 * needed that much, leaves without it: it was cancelled, is too late, or was given slots that other
 * workers had handed on. */
static bool is_news(const takt_ledger *ledger, const takt_claim *claim, int64_t needed,
                    int64_t given, const takt_award *award)
{
    return needed > given && award->least_urgent >= 0 && needed > need_of_head(ledger, claim);
}

/* With drop-oldest, the places behind the dropped ones move to the front earlier than planned: the
 * first one must claim when its turn is now, or slots would pass unused. */
static void hurry_first(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                        takt_award *award)
{
    int64_t again_us;
    int at = 0;
    view v;

    while (at < ledger->line_count && ledger->line[at].aside)
        at++;
    if (at == ledger->line_count || ledger->line[at].worker == claim->worker)
        return;
    v = look(ledger, now_us, at);
    again_us = room_at(ledger, now_us, &ledger->line[at], v);
    if (v.permits > 0 && ledger->line[at].again_at_us >
                             again_us + ledger->numbers->lookahead_us / TAKT_LOOKAHEAD_FRACTION)
        takt_award_wake(award, ledger->line[at].worker);
}

void takt_ledger_claim(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                       takt_award *award)
{
    takt_ledger_tidy(ledger, now_us);
    takt_award_begin(ledger, now_us, claim, award);
    if (!award->stale) {
        int64_t needed = need_of_head(ledger, claim), given;
        award->holding = takt_holders_state(ledger, now_us, claim);
        restate(ledger, now_us, claim);
        award->taken = takt_offers_accept(ledger, now_us, claim);
        given = serve_all(ledger, now_us, claim, award);
        takt_overflow_apply(ledger, claim, award);
        plan_all(ledger, now_us, claim, award);
        if (takt_overflow_moves_front(ledger))
            hurry_first(ledger, now_us, claim, award);
        award->news |= is_news(ledger, claim, needed, given, award);
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
