/*
 * ledger_calls.c: the calls on a ledger besides claims and tries: peek and watch, blocks, a reset,
 * and corrections by the true cost of work or a vendor's count. See ledger.h.
 */
#include <string.h>

#include "base/integers.h"
#include "core/brake.h"
#include "core/holders.h"
#include "core/line.h"
#include "core/meter.h"

void takt_ledger_watch(takt_ledger *ledger, int64_t now_us, int64_t for_us)
{
    takt_meter *meter = &ledger->meter;

    takt_ledger_tidy(ledger, now_us);
    if (meter->until_us == 0)
        *meter = (takt_meter){.since_us = now_us};
    if (now_us + for_us > meter->until_us)
        meter->until_us = now_us + for_us;
}

/* What is said of a limit in one number: its tokens, or where no rule counts them its requests. */
static takt_unit told_unit(const takt_numbers *numbers)
{
    for (int i = 0; i < numbers->rule_count; i++)
        if (numbers->rules[i].unit != TAKT_UNIT_REQUESTS)
            return TAKT_UNIT_TOKENS;
    return numbers->rule_count > 0 ? TAKT_UNIT_REQUESTS : TAKT_UNIT_TOKENS;
}

/* A limit of one rule that counts tokens, and of no permits, is that rule: answers of scripts need
 * not say more of it. */
static bool is_one_rule(const takt_numbers *numbers)
{
    return numbers->rule_count == 1 && numbers->concurrency == 0 &&
           numbers->rules[0].unit == TAKT_UNIT_TOKENS;
}

static void tell_rules(const takt_ledger *ledger, takt_standing *standing)
{
    const takt_numbers *numbers = ledger->numbers;

    standing->rule_count = numbers->rule_count;
    if (is_one_rule(numbers)) {
        standing->rules[0] = (takt_rule_standing){takt_unit_name(TAKT_UNIT_TOKENS), standing->limit,
                                                  standing->remaining, standing->reset_after_us};
        return;
    }
    takt_numbers_tell(numbers, &ledger->state, standing->now_us, standing->rules);
    for (int i = 0; ledger->blocked_until_us > standing->now_us && i < numbers->rule_count; i++)
        standing->rules[i].remaining = 0;
}

void takt_ledger_peek(takt_ledger *ledger, int64_t now_us, takt_standing *standing)
{
    takt_unit unit = told_unit(ledger->numbers);
    int64_t from_us;

    takt_ledger_tidy(ledger, now_us);
    from_us = takt_max(now_us, ledger->blocked_until_us);
    standing->now_us = now_us;
    standing->limit = takt_numbers_capacity(ledger->numbers, unit, NULL);
    standing->remaining =
        from_us > now_us
            ? 0
            : takt_numbers_room(ledger->numbers, &ledger->state, now_us, now_us).of[unit];
    standing->concurrency = ledger->numbers->concurrency;
    standing->held = takt_holders_held(ledger);
    standing->holders = ledger->holder_count;
    if (standing->concurrency > 0) {
        standing->limit = takt_min(standing->limit, standing->concurrency);
        standing->remaining = takt_min(standing->remaining, takt_holders_free(ledger));
    }
    standing->retry_after_us =
        takt_numbers_earliest(ledger->numbers, &ledger->state, from_us, takt_amounts_of_cost(1)) -
        now_us;
    standing->reset_after_us = takt_max(
        takt_max(takt_numbers_rest_at(ledger->numbers, &ledger->state), ledger->blocked_until_us) -
            now_us,
        0);
    standing->blocked_until_us = ledger->blocked_until_us;
    takt_reason_read(ledger->reason, strlen(ledger->reason), standing->reason);
    standing->rate_percent = ledger->brake.percent > 0 ? ledger->brake.percent : TAKT_WHOLE_PERCENT;
    takt_line_count(ledger, &standing->waiting, &standing->workers);
    standing->watched_since_us = ledger->meter.since_us;
    standing->taken = ledger->meter.taken;
    tell_rules(ledger, standing);
}

static void extend_block(takt_ledger *ledger, int64_t now_us, int64_t for_us, const char *reason)
{
    if (now_us + for_us <= ledger->blocked_until_us)
        return;
    ledger->blocked_until_us = now_us + for_us;
    if (reason && reason[0])
        takt_reason_write(reason, ledger->reason);
    takt_brake_pace(ledger, now_us);
    takt_brake_tidy(ledger, now_us); /* the rate does not recover during a block */
}

void takt_ledger_block(takt_ledger *ledger, int64_t now_us, int64_t for_us, const char *reason)
{
    takt_ledger_tidy(ledger, now_us);
    extend_block(ledger, now_us, for_us, reason);
}

void takt_ledger_penalize(takt_ledger *ledger, int64_t now_us, int64_t for_us, const char *reason)
{
    takt_ledger_tidy(ledger, now_us);
    takt_brake_penalize(ledger, now_us);
    if (for_us > 0)
        extend_block(ledger, now_us, for_us, reason);
}

void takt_ledger_unblock(takt_ledger *ledger, int64_t now_us)
{
    takt_ledger_tidy(ledger, now_us);
    if (ledger->blocked_until_us == 0)
        return;
    takt_ledger_unblocked(ledger);
    takt_brake_pace(ledger, now_us);
    takt_brake_exhaust(ledger, now_us);
    takt_brake_tidy(ledger, now_us);
}

void takt_ledger_settle(takt_ledger *ledger, int64_t now_us, int64_t slot_us, takt_amounts taken,
                        takt_amounts used)
{
    takt_amounts more, less;

    for (int unit = 0; unit < TAKT_UNITS; unit++) {
        more.of[unit] = takt_max(used.of[unit] - taken.of[unit], 0);
        less.of[unit] = takt_max(taken.of[unit] - used.of[unit], 0);
    }
    takt_ledger_tidy(ledger, now_us);
    takt_numbers_charge(ledger->numbers, &ledger->state, now_us, more);
    takt_numbers_give_back(ledger->numbers, &ledger->state, now_us, slot_us, taken, less);
    takt_meter_add(ledger, used.of[TAKT_UNIT_TOKENS] - taken.of[TAKT_UNIT_TOKENS]);
}

void takt_ledger_lower(takt_ledger *ledger, int64_t now_us, takt_amounts most)
{
    takt_amounts room, used = {{0}};
    takt_rule brake;

    takt_ledger_tidy(ledger, now_us);
    brake = ledger->state.brake;
    ledger->state.brake.tokens = 0; /* the remaining quota may not start at once */
    room = takt_numbers_room(ledger->numbers, &ledger->state, now_us, now_us);
    for (int unit = 0; unit < TAKT_UNITS; unit++)
        if (most.of[unit] >= 0)
            used.of[unit] = takt_max(0, room.of[unit] - most.of[unit]);
    takt_numbers_charge(ledger->numbers, &ledger->state, now_us, used);
    ledger->state.brake = brake;
}

void takt_ledger_reset(takt_ledger *ledger, int64_t now_us)
{
    takt_ledger_tidy(ledger, now_us);
    takt_brake_reset(ledger, now_us);
    takt_numbers_rest(ledger->numbers, &ledger->state, now_us);
}

int64_t takt_ledger_expires_at(const takt_ledger *ledger)
{
    int64_t at_us = takt_numbers_rest_at(ledger->numbers, &ledger->state);

    at_us = takt_max(at_us, ledger->blocked_until_us);
    at_us = takt_max(at_us, takt_brake_ends_at(ledger));
    at_us = takt_max(at_us, ledger->meter.until_us);
    for (int i = 0; i < ledger->line_count; i++)
        at_us = takt_max(at_us, ledger->line[i].expires_at_us);
    at_us = takt_max(at_us, ledger->leased_until_us);
    if (ledger->offers.asked_at_us > 0)
        at_us = takt_max(at_us, ledger->offers.asked_at_us + ledger->numbers->lookahead_us);
    return takt_max(at_us, ledger->fence); /* numbers only grow, also in a fresh ledger */
}
