/*
 * brake.c: see brake.h.
 */
#include "core/brake.h"

#include <assert.h>

#include "base/integers.h"
#include "rules/gcra.h"
#include "rules/window.h"

/* ---- a block's pace -------------------------------------------------------------------------- */

/* GCRA up to an instant, from which on it lets everything through: the retry
 * time of a waiter that only the pace holds back. */

static int64_t paced_earliest(const takt_rule *rule, const takt_rule_state *state, int64_t t_us,
                              int64_t cost)
{
    int64_t at_us = takt_gcra_earliest(rule, state, t_us, cost);

    return at_us == TAKT_NEVER ? at_us : takt_min(at_us, takt_max(t_us, state->gcra.until_us));
}

static void paced_commit(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost)
{
    if (t_us < state->gcra.until_us)
        takt_gcra_commit(rule, state, t_us, cost);
}

static int64_t paced_room(const takt_rule *rule, const takt_rule_state *state, int64_t from_us,
                          int64_t until_us)
{
    return until_us < state->gcra.until_us ? takt_gcra_room(rule, state, from_us, until_us)
                                           : TAKT_ROOM_MAX;
}

static int64_t paced_due(const takt_rule *rule, const takt_rule_state *state, int64_t from_us,
                         int64_t n)
{
    return takt_min(takt_gcra_due(rule, state, from_us, n),
                    takt_max(from_us, state->gcra.until_us));
}

static int64_t paced_rest_at(const takt_rule *rule, const takt_rule_state *state)
{
    return takt_min(takt_gcra_rest_at(rule, state), state->gcra.until_us);
}

static const takt_algorithm paced = {.letter = 'g',
                                     .capacity = takt_gcra_capacity,
                                     .rest = takt_gcra_rest,
                                     .earliest = paced_earliest,
                                     .commit = paced_commit,
                                     .room = paced_room,
                                     .owes = true,
                                     .give_back = takt_gcra_give_back,
                                     .due = paced_due,
                                     .exhaust = takt_gcra_exhaust,
                                     .rest_at = paced_rest_at,
                                     .pull_back = takt_gcra_pull_back};

/* ---- the rule -------------------------------------------------------------------------------- */

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

/* Derives the brake: GCRA at `percent` of the first rule's rate, of what that rule counts, with the
 * burst of the limit's rules, so that no cost becomes impossible. False: the numbers are too large.
 */
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
                         .unit = numbers->rules[0].unit,
                         .burst = takt_numbers_capacity(numbers, numbers->rules[0].unit, NULL)};
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

/* The brake of a ledger as a rule: the lower rate of a penalty's and a block's. False: no brake is
 * needed. */
static bool find_rule(const takt_ledger *ledger, takt_rule *rule)
{
    const takt_brake *brake = &ledger->brake;

    if (brake->percent > 0)
        return derive(ledger->numbers, brake->percent, rule);
    if (brake->paced_until_us == 0 || !derive(ledger->numbers, TAKT_WHOLE_PERCENT, rule))
        return false;
    rule->algorithm = &paced;
    return true;
}

/* Puts the brake's new rule in force: tokens given stay given, and the next token is due one new
 * interval after the last one. */
static void put_on(takt_ledger *ledger, int64_t now_us)
{
    takt_rule *rule = &ledger->state.brake, changed;

    if (!find_rule(ledger, &changed)) {
        takt_brake_release(ledger);
        return;
    }
    if (rule->tokens > 0)
        takt_gcra_pour(rule, &changed, state_of(ledger), now_us);
    else
        takt_gcra_rest(&changed, state_of(ledger), now_us);
    state_of(ledger)->gcra.until_us = ledger->brake.paced_until_us;
    *rule = changed;
}

/* Changes the percentage of the rate from now on; all of it: penalties are forgotten. */
static void change(takt_ledger *ledger, int64_t percent, int64_t now_us)
{
    takt_brake *brake = &ledger->brake;

    brake->percent = percent < TAKT_WHOLE_PERCENT ? percent : 0;
    if (brake->percent == 0)
        brake->since_us = brake->counted_at_us = 0;
    put_on(ledger, now_us);
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
    change(ledger, percent, now_us);
    if (brake->percent == 0)
        return;
    brake->since_us = brake->counted_at_us = now_us;
    /* nothing saved up, and not before tokens given earlier, as far as known */
    first_us =
        takt_numbers_earliest(ledger->numbers, &ledger->state, now_us, takt_amounts_of_cost(1));
    takt_gcra_exhaust(&ledger->state.brake, state_of(ledger),
                      takt_min(first_us, now_us + ledger->numbers->lookahead_us));
}

static void end_pace(takt_ledger *ledger)
{
    ledger->brake.paced_from_us = ledger->brake.paced_until_us = 0;
}

void takt_brake_pace(takt_ledger *ledger, int64_t now_us)
{
    takt_brake *brake = &ledger->brake;
    int64_t ends_us = takt_max(ledger->blocked_until_us, now_us);

    if (ledger->numbers->rule_count == 0)
        return;
    if (brake->paced_until_us == 0 || brake->paced_from_us > now_us)
        brake->paced_from_us = now_us;
    brake->paced_until_us = ends_us + takt_min(ends_us - brake->paced_from_us, TAKT_PACED_MAX_US);
    put_on(ledger, now_us);
}

void takt_brake_exhaust(takt_ledger *ledger, int64_t at_us)
{
    if (ledger->state.brake.tokens > 0)
        takt_gcra_exhaust(&ledger->state.brake, state_of(ledger), at_us);
}

static void tidy_pace(takt_ledger *ledger, int64_t now_us)
{
    takt_brake *brake = &ledger->brake;

    if (brake->paced_until_us == 0 || ledger->blocked_until_us > now_us)
        return;
    if (brake->paced_until_us <= now_us)
        end_pace(ledger);
    else if (brake->paced_until_us > now_us + TAKT_PACED_MAX_US) /* it is from another clock */
        brake->paced_until_us = now_us + TAKT_PACED_MAX_US;
    else
        return;
    put_on(ledger, now_us);
}

void takt_brake_tidy(takt_ledger *ledger, int64_t now_us)
{
    const takt_adapt *adapt = &ledger->numbers->adapt;
    takt_brake *brake = &ledger->brake;
    int64_t gained;

    tidy_pace(ledger, now_us);
    if (brake->percent == 0)
        return;
    /* a block was ended, or it is from another clock */
    if (brake->since_us > takt_max(now_us, ledger->blocked_until_us))
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
    const takt_adapt *adapt = &ledger->numbers->adapt;
    int64_t percent = ledger->brake.percent;

    if (ledger->state.brake.tokens == 0)
        return;
    *state_of(ledger) = *kept;
    if (percent == 0)
        put_on(ledger, now_us);
    else
        change(ledger, adapt->backoff > 0 ? takt_max(percent, adapt->floor) : TAKT_WHOLE_PERCENT,
               now_us);
}

void takt_brake_release(takt_ledger *ledger)
{
    ledger->brake = (takt_brake){.percent = 0};
    ledger->state.brake = (takt_rule){.tokens = 0};
}

void takt_brake_reset(takt_ledger *ledger, int64_t now_us)
{
    if (ledger->blocked_until_us <= now_us)
        end_pace(ledger);
    change(ledger, TAKT_WHOLE_PERCENT, now_us);
}

bool takt_brake_restore(takt_ledger *ledger)
{
    return find_rule(ledger, &ledger->state.brake);
}

int64_t takt_brake_ends_at(const takt_ledger *ledger)
{
    const takt_adapt *adapt = &ledger->numbers->adapt;
    const takt_brake *brake = &ledger->brake;

    if (brake->percent == 0)
        return brake->paced_until_us;
    return takt_max(brake->paced_until_us,
                    brake->since_us + takt_mul_div_up(TAKT_WHOLE_PERCENT - brake->percent,
                                                      adapt->recover_us, adapt->recover));
}
