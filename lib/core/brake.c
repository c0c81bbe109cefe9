/*
 * brake.c: see brake.h.
 */
#include "core/brake.h"

#include <assert.h>

#include "base/integers.h"
#include "core/gcra.h"
#include "core/window.h"

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void reduce(int64_t *a, int64_t *b)
{
    int64_t divisor;

    assert(*a > 0 && *b > 0);
    divisor = common_divisor(*a, *b);
    *a /= divisor;
    *b /= divisor;
}

/* The rule that lets through so much of the first rule's rate, at once as much as the limit's rules
 * do: no cost that was possible is refused.  False: its numbers are too large. */
static bool derive(const takt_numbers *numbers, int64_t percent, takt_rule *brake)
{
    int64_t tokens, span_us, whole = TAKT_WHOLE_PERCENT;

    if (numbers->rule_count == 0)
        return false;
    tokens = numbers->rules[0].tokens;
    span_us = numbers->rules[0].span_us;
    reduce(&tokens, &span_us);
    reduce(&percent, &whole);
    reduce(&tokens, &whole);
    reduce(&span_us, &percent);
    if (tokens > TAKT_RULE_LIMIT_MAX / percent || span_us > TAKT_SPAN_MAX_US / whole)
        return false;
    *brake = (takt_rule){.algorithm = &takt_gcra,
                         .limit = tokens * percent,
                         .period_us = span_us * whole,
                         .burst = takt_numbers_capacity(numbers, NULL)};
    return takt_rule_prepare(brake, NULL) == 0;
}

bool takt_brake_fits(const takt_numbers *numbers)
{
    takt_rule brake;

    for (int64_t percent = numbers->adapt.floor; percent < TAKT_WHOLE_PERCENT; percent++)
        if (!derive(numbers, percent, &brake))
            return false;
    return true;
}

static takt_rule_state *state_of(takt_ledger *ledger)
{
    return &ledger->state.rules[ledger->numbers->rule_count];
}

/* Another part of the rate from now on: what was given stays given, and the next token is due as
 * long after the last one as the new rate says. */
static void change(takt_ledger *ledger, int64_t percent, int64_t now_us)
{
    takt_rule brake;

    if (percent >= TAKT_WHOLE_PERCENT || !derive(ledger->numbers, percent, &brake)) {
        takt_brake_release(ledger);
        return;
    }
    takt_gcra_pour(&ledger->state.brake, &brake, state_of(ledger), now_us);
    ledger->state.brake = brake;
    ledger->brake.percent = percent;
}

/* The brake is put on: nothing was given under it yet. */
static void begin(takt_ledger *ledger, int64_t percent, int64_t now_us)
{
    takt_rule brake;

    if (!derive(ledger->numbers, percent, &brake))
        return;
    takt_gcra_rest(&brake, state_of(ledger), now_us);
    ledger->state.brake = brake;
    ledger->brake.percent = percent;
}

void takt_brake_penalize(takt_ledger *ledger, int64_t now_us)
{
    const takt_adapt *adapt = &ledger->numbers->adapt;
    takt_brake *brake = &ledger->brake;
    int64_t percent = brake->percent > 0 ? brake->percent : TAKT_WHOLE_PERCENT;
    int64_t since_us = now_us - brake->counted_at_us, first_us;

    if (adapt->backoff == 0 || ledger->numbers->rule_count == 0)
        return;
    if (brake->percent > 0 &&
        (ledger->blocked_until_us > now_us || (since_us >= 0 && since_us < TAKT_SAME_PENALTY_US)))
        return;
    percent = takt_max(percent * adapt->backoff / TAKT_WHOLE_PERCENT, adapt->floor);
    if (brake->percent > 0)
        change(ledger, percent, now_us);
    else
        begin(ledger, percent, now_us);
    if (brake->percent == 0)
        return;
    brake->since_us = brake->counted_at_us = now_us;
    /* nothing that was saved up; and behind what was given before, as far as that is known */
    first_us = takt_numbers_earliest(ledger->numbers, &ledger->state, now_us, 1);
    takt_gcra_exhaust(&ledger->state.brake, state_of(ledger),
                      takt_min(first_us, now_us + ledger->numbers->lookahead_us));
}

void takt_brake_tidy(takt_ledger *ledger, int64_t now_us)
{
    const takt_adapt *adapt = &ledger->numbers->adapt;
    takt_brake *brake = &ledger->brake;
    int64_t gained;

    if (brake->percent == 0)
        return;
    if (brake->since_us > takt_max(now_us, ledger->blocked_until_us)) /* a block was ended, or it
                                                                     is of another clock */
        brake->since_us = now_us;
    if (now_us > brake->since_us) {
        gained = takt_mul_div(now_us - brake->since_us, adapt->recover, adapt->recover_us);
        gained = takt_min(gained, TAKT_WHOLE_PERCENT);
        brake->since_us += takt_mul_div_up(gained, adapt->recover_us, adapt->recover);
        if (gained > 0)
            change(ledger, brake->percent + gained, now_us);
    }
    if (brake->percent > 0 && brake->since_us < ledger->blocked_until_us &&
        ledger->blocked_until_us > now_us)
        brake->since_us = ledger->blocked_until_us;
}

void takt_brake_follow(takt_ledger *ledger, const takt_rule_state *kept, int64_t now_us)
{
    if (ledger->brake.percent == 0)
        return;
    if (ledger->numbers->adapt.backoff == 0 || ledger->numbers->rule_count == 0) {
        takt_brake_release(ledger);
        return;
    }
    *state_of(ledger) = *kept;
    change(ledger, takt_max(ledger->brake.percent, ledger->numbers->adapt.floor), now_us);
}

void takt_brake_release(takt_ledger *ledger)
{
    ledger->brake = (takt_brake){.percent = 0};
    ledger->state.brake = (takt_rule){.tokens = 0};
}

bool takt_brake_restore(takt_ledger *ledger)
{
    return derive(ledger->numbers, ledger->brake.percent, &ledger->state.brake);
}

int64_t takt_brake_ends_at(const takt_ledger *ledger)
{
    const takt_adapt *adapt = &ledger->numbers->adapt;
    const takt_brake *brake = &ledger->brake;

    if (brake->percent == 0)
        return 0;
    return brake->since_us +
           takt_mul_div_up(TAKT_WHOLE_PERCENT - brake->percent, adapt->recover_us, adapt->recover);
}
