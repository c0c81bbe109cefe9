/*
 * debt.c: see debt.h.
 */
#include "core/debt.h"

#include "core/numbers.h"

int64_t takt_debt_due_behind(const takt_rule *rule, const takt_rule_state *state, int64_t n)
{
    return takt_min(rule->algorithm->due(rule, state, 0, state->owed + n), TAKT_WINDOW_END);
}

static void charge_at(const takt_rule *rule, takt_rule_state *state, int64_t at_us, int64_t n)
{
    if (n > 0 && rule->algorithm->charge)
        rule->algorithm->charge(rule, state, at_us, n);
    else if (n > 0)
        rule->algorithm->commit(rule, state, at_us, n);
}

/* False: there is no room after all, as a page is not to be had. */
static bool pay_at(const takt_rule *rule, takt_rule_state *state, int64_t at_us)
{
    int64_t n = takt_min(rule->algorithm->room(rule, state, at_us, at_us), state->owed);

    charge_at(rule, state, at_us, n);
    state->owed -= n;
    return n > 0;
}

/* What falls due until then, part by part of a period.  A state is full as of when it began to owe,
 * so all its room is from after that. */
static void pay(const takt_rule *rule, takt_rule_state *state, int64_t until_us)
{
    for (int steps = 0; state->owed > 0 && steps < TAKT_TAKE_STEPS_MAX; steps++) {
        int64_t at_us = rule->algorithm->earliest(rule, state, 0, 1);
        if (at_us > until_us ||
            !pay_at(rule, state, takt_min(at_us + rule->span_us / TAKT_PAY_PARTS, until_us)))
            break;
    }
}

/* Nobody asked for many periods: what each of them gives, but for the last ones, and but for one
 * that it may not have had from its very begin. */
static void pay_for_pause(const takt_rule *rule, takt_rule_state *state, int64_t now_us)
{
    int64_t at_us = rule->algorithm->earliest(rule, state, 0, 1);
    int64_t periods = (now_us - at_us) / rule->span_us - TAKT_PAY_PERIODS;

    if (periods <= 0)
        return;
    state->owed = periods > state->owed / rule->tokens ? 0 : state->owed - periods * rule->tokens;
    pay_at(rule, state, at_us + (periods + 1) * rule->span_us);
}

void takt_debt_charge(const takt_rule *rule, takt_rule_state *state, int64_t now_us, int64_t tokens)
{
    int64_t n = takt_min(rule->algorithm->room(rule, state, now_us, now_us), tokens);

    charge_at(rule, state, now_us, n);
    state->owed = takt_min(state->owed + tokens - n, TAKT_RULE_LIMIT_MAX);
}

void takt_debt_pay(const takt_rule *rule, takt_rule_state *state, int64_t now_us)
{
    if (takt_debt_of(rule, state) == 0)
        return;
    pay_for_pause(rule, state, now_us);
    pay(rule, state, now_us);
}

void takt_debt_pay_ahead(const takt_rule *rule, takt_rule_state *state, int64_t until_us)
{
    if (takt_debt_of(rule, state) > 0)
        pay(rule, state, until_us);
}

void takt_debt_pay_at(const takt_rule *rule, takt_rule_state *state, int64_t at_us)
{
    if (takt_debt_of(rule, state) > 0)
        (void)pay_at(rule, state, at_us);
}
