/*
 * claim_plan.c: see claim_plan.h.
 */
#include "core/claim_plan.h"

#include "base/integers.h"
#include "core/claim_restate.h"
#include "core/holders.h"
#include "core/inner.h"
#include "core/inner_line.h"
#include "core/line.h"
#include "core/offers.h"
#include "core/tenant_turns.h"
#include "core/view.h"
#include "core/wakes.h"

/* The worker's first waiter has no slot before this time, since the places before it get at least
 * what they want. 0: no place before it. */
static int64_t turn_at(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                       const takt_view *v)
{
    if (v->first.of[TAKT_UNIT_TOKENS] == 0)
        return 0;
    return takt_view_due(
        ledger, takt_max(now_us, ledger->blocked_until_us),
        takt_amounts_sum(v->first, takt_claim_least(claim, ledger->numbers, ledger->units)));
}

/* When a place that lacks a permit should claim again. A release wakes the next worker; the end of
 * a lease wakes nobody, so the first in line claims by itself at that time. TAKT_NEVER: the
 * keepalive is earlier, or other places are before it. */
static int64_t lease_over_at(const takt_ledger *ledger, int64_t now_us, const takt_place *me,
                             const takt_view *v)
{
    int64_t over_us = TAKT_NEVER;

    if (v->ahead.of[TAKT_UNIT_TOKENS] == 0)
        over_us = takt_holders_over_at(ledger, now_us + TAKT_KEEPALIVE_US);
    return over_us == TAKT_NEVER
               ? over_us
               : takt_max(over_us, takt_view_room_at(ledger, now_us, me, v,
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

/* No earlier claim of the place has a slot within the lookahead, by its inner limits.  A place that
 * leaves the next slots to others asks from then on whether these are given. */
static int64_t put_off_until(const takt_ledger *ledger, int64_t now_us, const takt_place *place)
{
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);
    int64_t lookahead_us = ledger->numbers->lookahead_us;
    takt_amounts one = takt_claim_first_of(ledger, place);
    int64_t due_us = takt_inner_due(ledger, from_us, one);

    if (due_us == TAKT_NEVER)
        return due_us;
    if (!takt_inner_waits(ledger, place->worker, from_us, due_us, one))
        return (takt_numbers_count_more(ledger->numbers) ||
                        takt_inner_is_whole(ledger, place->worker, from_us)
                    ? takt_inner_slot(ledger, place->worker, from_us, due_us, one)
                    : due_us) -
               lookahead_us;
    return takt_max(due_us - lookahead_us, now_us + lookahead_us / TAKT_LOOKAHEAD_FRACTION_LEFT);
}

void takt_claim_plan(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
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
        takt_view_look(ledger, now_us, at, true, &v);
        place->lacking = v.permits <= 0;
        if (foremost && !place->lacking)
            award->next_slot_at_us = turn_at(ledger, now_us, claim, &v);
        place->foremost = foremost;
        foremost = false;
        award->in_line |= 1U << place->priority;
        again_us = place->lacking ? lease_over_at(ledger, now_us, place, &v)
                                  : takt_view_room_at(ledger, now_us, place, &v,
                                                      takt_line_is_weighed(ledger, place));
        if (ledger->inner_count > 0 && !place->lacking) {
            int64_t due_us = put_off_until(ledger, now_us, place);
            award->prompt |= due_us > again_us;
            again_us = takt_max(takt_max(again_us, due_us),
                                takt_inner_turn_from(ledger, now_us, place, true));
        }
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

bool takt_claim_is_full(const takt_ledger *ledger, uint64_t worker)
{
    takt_amounts most =
        takt_numbers_throughput(ledger->numbers, &ledger->state, 2 * ledger->numbers->lookahead_us);
    takt_amounts wanted = {{0}};

    for (int at = 0; at < ledger->line_count; at++)
        if (ledger->line[at].worker != worker && !ledger->line[at].aside)
            TAKT_EACH_UNIT(unit, takt_view_units(ledger))
    wanted.of[unit] += takt_line_wanted(&ledger->line[at], unit);
    TAKT_EACH_UNIT(unit, takt_view_units(ledger))
    if (wanted.of[unit] > most.of[unit] && most.of[unit] >= TAKT_FULL_MIN)
        return true;
    return false;
}

int takt_claim_first_in_line(const takt_ledger *ledger)
{
    int at = 0;

    if (ledger->tenant_count > 0)
        return takt_tenants_first(ledger);
    while (at < ledger->line_count && ledger->line[at].aside)
        at++;
    return at;
}

void takt_claim_hurry(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                      takt_award *award)
{
    int64_t again_us;
    int at = takt_claim_first_in_line(ledger);
    takt_view v;

    if (at == ledger->line_count || ledger->line[at].worker == claim->worker)
        return;
    takt_view_look(ledger, now_us, at, true, &v);
    again_us = takt_view_room_at(ledger, now_us, &ledger->line[at], &v, false);
    if (v.permits > 0 && ledger->line[at].again_at_us >
                             again_us + ledger->numbers->lookahead_us / TAKT_LOOKAHEAD_FRACTION)
        takt_wakes_add(award, &ledger->line[at], 0);
}
