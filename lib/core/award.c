/*
 * award.c: see award.h.
 */
#include "core/award.h"

#include "base/integers.h"
#include "core/holders.h"
#include "core/inner.h"
#include "core/inner_permits.h"
#include "core/line.h"
#include "core/wake_next.h"

void takt_award_begin(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                      takt_award *award)
{
    award->now_us = now_us;
    award->claim_again_at_us = TAKT_NEVER;
    award->next_slot_at_us = 0;
    award->blocked_until_us = takt_inner_from(ledger, 0);
    award->refused = award->leave_count = 0;
    award->in_line = 0;
    award->tag = 0;
    award->least_urgent = -1;
    award->holding = award->lease_spent_us = award->fence = award->reuses = 0;
    award->wake_count = 0;
    award->uncontended = award->news = award->taken = award->parked = false;
    award->crowded = award->unlisted = award->prompt = false;
    award->run_count = 0;
    award->stale = takt_line_is_stale(ledger, claim) || takt_holders_is_stale(ledger, claim) ||
                   takt_inner_permits_stale(ledger, claim);
}

int64_t takt_award_given(const takt_award *award)
{
    int64_t given = 0;

    for (int i = 0; i < award->run_count; i++)
        given += award->runs[i].count;
    return given;
}

/* How many of the numbers from `next_us` on are for permits that the worker hands on within itself,
 * which it may do if there is no rule and nobody else is in line. The numbers stay near the clock,
 * since a ledger that was lost starts again with the clock. */
static int64_t count_reuses(const takt_ledger *ledger, int64_t now_us, int64_t next_us,
                            const takt_award *award)
{
    if (ledger->numbers->rule_count > 0 || ledger->inner_count > 0 || award->least_urgent >= 0)
        return 0;
    return takt_max(takt_min(TAKT_REUSES, now_us + TAKT_REUSES_AHEAD_US - next_us), 0);
}

/* Numbers the permits given, and the permits handed on. */
static void number(takt_ledger *ledger, int64_t now_us, takt_award *award)
{
    int64_t given = takt_award_given(award), inner_fence;

    award->holding += given;
    if (award->holding == 0)
        return;
    inner_fence = takt_inner_permits_number(ledger, now_us, given);
    if (ledger->numbers->concurrency > 0) {
        award->fence = takt_holders_next_fence(ledger, now_us);
        award->reuses = count_reuses(ledger, now_us, award->fence + given, award);
        ledger->fence = award->fence + given + award->reuses - 1;
    }
    if (inner_fence > 0)
        award->fence = inner_fence;
}

takt_amounts takt_claim_least(const takt_claim *claim, const takt_numbers *numbers,
                              takt_unit_map map)
{
    takt_amounts least = takt_amounts_of_cost(1);
    int units = takt_numbers_units(numbers);
    int64_t unlisted = claim->waiting;
    bool found = false;

    for (int i = 0; i < claim->want_count; i++) {
        takt_amounts one = takt_amounts_of(claim->wants[i].cost, claim->wants[i].more);
        one = takt_amounts_by(map, one);
        unlisted -= claim->wants[i].count;
        if (!takt_numbers_can_give(numbers, one))
            continue;
        for (int unit = 0; unit < units; unit++)
            least.of[unit] = found ? takt_min(least.of[unit], one.of[unit]) : one.of[unit];
        found = true;
    }
    return unlisted > 0 ? takt_amounts_of_cost(1) : least;
}

void takt_award_end(takt_ledger *ledger, int64_t now_us, const takt_claim *claim, takt_award *award)
{
    int64_t from_us = award->blocked_until_us > now_us ? award->blocked_until_us : now_us;

    number(ledger, now_us, award);
    takt_wake_next(ledger, claim->worker, 0, award);
    for (int i = 0; i < ledger->inner_count; i++)
        if (ledger->inner[i]->tenant_count > 0) /* else the line is not read: inner_line.h */
            takt_wake_next(ledger->inner[i], claim->worker, i + 1, award);
    award->next_slot_at_us = takt_max(
        award->next_slot_at_us,
        takt_inner_next(ledger, from_us, takt_claim_least(claim, ledger->numbers, ledger->units)));
    takt_line_count(ledger, &award->waiting, &award->workers);
}
