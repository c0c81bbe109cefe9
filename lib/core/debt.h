/*
 * debt.h: a rule that can owe.
 *
 * Work that has used more than its slot leaves a debt (numbers.h).  An algorithm that `owes` has it
 * in its state.  Of the others the rest of the debt stands beside the state, in `owed`: the rule
 * gives its n-th token when the state gives the (owed + n)-th.  What falls due is taken from the
 * state as time passes.
 */
#ifndef TAKT_CORE_DEBT_H
#define TAKT_CORE_DEBT_H

#include "rules/rule.h"
#include "rules/window.h"

/* What a rule owes beyond its state. */
static inline int64_t takt_debt_of(const takt_rule *rule, const takt_rule_state *state)
{
    return rule->algorithm->owes ? 0 : state->owed;
}

/* When n more tokens may have been taken, after those that are owed. */
int64_t takt_debt_due_behind(const takt_rule *rule, const takt_rule_state *state, int64_t n);

/* The functions of an algorithm (rule.h), behind what is owed. */

static inline int64_t takt_debt_earliest(const takt_rule *rule, const takt_rule_state *state,
                                         int64_t t_us, int64_t cost)
{
    int64_t at_us = rule->algorithm->earliest(rule, state, t_us, cost);

    if (at_us != TAKT_NEVER && takt_debt_of(rule, state) > 0)
        at_us = takt_max(at_us, takt_debt_due_behind(rule, state, cost));
    return at_us;
}

static inline int64_t takt_debt_room(const takt_rule *rule, const takt_rule_state *state,
                                     int64_t from_us, int64_t until_us)
{
    int64_t owed = takt_debt_of(rule, state);

    if (owed == 0)
        return rule->algorithm->room(rule, state, from_us, until_us);
    return until_us < from_us ? 0
                              : takt_max(rule->algorithm->room(rule, state, 0, until_us) - owed, 0);
}

static inline int64_t takt_debt_due(const takt_rule *rule, const takt_rule_state *state,
                                    int64_t from_us, int64_t n)
{
    if (takt_debt_of(rule, state) > 0)
        return takt_max(from_us, takt_debt_due_behind(rule, state, n));
    return rule->algorithm->due(rule, state, from_us, n);
}

static inline int64_t takt_debt_rest_at(const takt_rule *rule, const takt_rule_state *state)
{
    int64_t at_us = rule->algorithm->rest_at(rule, state);

    if (takt_debt_of(rule, state) > 0)
        at_us = takt_max(at_us, takt_min(takt_debt_due_behind(rule, state, 0) + 2 * rule->span_us,
                                         TAKT_WINDOW_END));
    return at_us;
}

/* Takes the tokens that are left now, and owes the rest. */
void takt_debt_charge(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                      int64_t tokens);

/* Takes what is owed and has fallen due; or what falls due until then; or what can be taken at that
 * instant. */
void takt_debt_pay(const takt_rule *rule, takt_rule_state *state, int64_t now_us);
void takt_debt_pay_ahead(const takt_rule *rule, takt_rule_state *state, int64_t until_us);
void takt_debt_pay_at(const takt_rule *rule, takt_rule_state *state, int64_t at_us);

#endif
