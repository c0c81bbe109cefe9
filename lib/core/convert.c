/*
 * convert.c: the state of a ledger's rules when its policy changes.  See numbers.h.
 */
#include "core/numbers.h"

#define EACH_RULE(numbers, i) for (int i = 0; i < (numbers)->rule_count; i++)

bool takt_numbers_same(const takt_numbers *a, const takt_numbers *b)
{
    if (a->rule_count != b->rule_count)
        return false;
    EACH_RULE(a, i)
    if (!takt_rule_same(&a->rules[i], &b->rules[i]))
        return false;
    return true;
}

/* The old rule whose state a new one takes over: the first with the same numbers, or if `same` is
 * false, with the same algorithm that counts the same; -1: none. `taken`: old rules that others
 * have taken over. */
static int predecessor(const takt_numbers *from, const takt_rule *rule, bool same, unsigned taken)
{
    EACH_RULE(from, i)
    if (!(taken & 1U << i) && from->rules[i].algorithm->letter == rule->algorithm->letter &&
        from->rules[i].unit == rule->unit && (!same || takt_rule_same(&from->rules[i], rule)))
        return i;
    return -1;
}

void takt_numbers_convert(const takt_numbers *from, const takt_numbers *to, takt_rules_state *state,
                          int64_t now_us)
{
    takt_rules_state old = *state;
    int before[TAKT_RULES_MAX] = {0};
    int64_t begins_us = now_us;
    unsigned taken = 0;

    /* an unchanged rule keeps its own state, even if the list around it changes */
    for (int same = 1; same >= 0; same--)
        EACH_RULE(to, i)
        {
            if (same == 0 && before[i] >= 0)
                continue;
            before[i] = predecessor(from, &to->rules[i], same == 1, taken);
            if (before[i] >= 0)
                taken |= 1U << before[i];
        }
    EACH_RULE(from, i)
    if (!(taken & 1U << i))
        begins_us =
            takt_max(begins_us, from->rules[i].algorithm->rest_at(&from->rules[i], &old.rules[i]));
    begins_us = takt_min(begins_us, now_us + TAKT_PAUSE_MAX_US);
    EACH_RULE(to, i)
    {
        const takt_rule *rule = &to->rules[i];
        if (before[i] >= 0) {
            state->rules[i] = old.rules[before[i]];
            rule->algorithm->convert(&from->rules[before[i]], rule, &state->rules[i], now_us);
        } else {
            state->rules[i] = (takt_rule_state){.pages = old.rules[0].pages};
            rule->algorithm->rest(rule, &state->rules[i], now_us);
            rule->algorithm->exhaust(rule, &state->rules[i], begins_us);
        }
    }
    EACH_RULE(from, i)
    if (!(taken & 1U << i)) /* no rule takes over its pages */
        from->rules[i].algorithm->rest(&from->rules[i], &old.rules[i], now_us);
}
