/*
 * queries.c: what a program may ask a policy about one of its limits, found by name: its modes, its
 * rate for a key, what it learns from answers, and its description for people.
 */
#include <string.h>

#include "base/quote.h"
#include "policy/answers.h"
#include "policy/field.h"
#include "policy/limit_text.h"
#include "policy/overrides.h"
#include "policy/policy.h"
#include "policy/unit_text.h"

int takt_policy_on_store_failure(const takt_policy *policy, const char *name,
                                 takt_on_store_failure *mode)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    if (limit == NULL)
        return TAKT_E_NO_LIMIT;
    *mode = limit->on_store_failure;
    return 0;
}

int takt_policy_mode(const takt_policy *policy, const char *name, takt_mode *mode)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    if (limit == NULL)
        return TAKT_E_NO_LIMIT;
    *mode = limit->mode;
    return 0;
}

int takt_policy_rate(const takt_policy *policy, const char *name, const char *key, int64_t *tokens,
                     int64_t *period_us)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    const takt_rule *rule = NULL;
    int count;

    if (limit == NULL)
        return TAKT_E_NO_LIMIT;
    limit = takt_overrides_for(limit, key != NULL ? key : "");
    count = limit->access == TAKT_ACCESS_LIMITED ? limit->numbers.rule_count : 0;
    for (int i = count - 1; i >= 0; i--)
        if (!rule || limit->numbers.rules[i].unit == TAKT_UNIT_TOKENS ||
            rule->unit != TAKT_UNIT_TOKENS)
            rule = &limit->numbers.rules[i];
    *tokens = rule ? rule->limit : 0;
    *period_us = rule ? rule->period_us : 0;
    return 0;
}

static bool bounds_waiting(const takt_limit *limit)
{
    for (int i = 0; i < limit->numbers.rule_count; i++)
        if (limit->numbers.rules[i].queue > 0)
            return true;
    return limit->numbers.max_waiting > 0;
}

int takt_policy_bounds_waiting(const takt_policy *policy, const char *name, const char *key)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    if (limit == NULL)
        return 0;
    bool bounded = bounds_waiting(takt_overrides_for(limit, key != NULL ? key : ""));
    for (const takt_limit *outer = limit->within; outer != NULL; outer = outer->within)
        bounded = bounded || bounds_waiting(outer);
    return bounded;
}

int takt_policy_counts(const takt_policy *policy, const char *name, const char *unit)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    return limit != NULL && takt_unit_is_counted(limit, unit);
}

int takt_policy_learn(const takt_policy *policy, const char *name, takt_learn *learn)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    if (limit == NULL)
        return TAKT_E_NO_LIMIT;
    *learn = limit->learn;
    return 0;
}

/* Whether a rule of the limit counts the unit; "": a cost without a name. */
static bool counts_unit(const takt_limit *limit, const char *unit)
{
    if (unit[0] != '\0')
        return takt_unit_is_counted(limit, unit);
    for (int i = 0; i < limit->numbers.rule_count; i++)
        if (limit->numbers.rules[i].unit == TAKT_UNIT_TOKENS)
            return true;
    return false;
}

int takt_policy_learn_unit(const takt_policy *policy, const char *name, const char *unit,
                           takt_learn *learn)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    if (limit == NULL)
        return TAKT_E_NO_LIMIT;
    if (unit != NULL && limit->unit[0] == '\0' && strcmp(unit, "tokens") == 0)
        unit = "";
    if (unit == NULL || !counts_unit(limit, unit))
        return TAKT_E_INVALID;
    *learn = takt_answers_learn(limit, unit);
    return 0;
}

const char *takt_policy_learn_field(const takt_policy *policy, const char *name, const char *field)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    const struct takt_answers *answers = limit != NULL ? limit->answers : NULL;
    if (answers == NULL || field == NULL)
        return NULL;
    const char *value = strcmp(field, "remaining") == 0 ? answers->remaining
                        : strcmp(field, "reset") == 0   ? answers->reset
                        : strcmp(field, "unit") == 0    ? answers->unit
                                                        : "";
    return value[0] != '\0' ? value : NULL;
}

int takt_policy_settle(const takt_policy *policy, const char *name, size_t index, const char **unit,
                       const char **pointer)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    return limit != NULL ? takt_answers_pointer(limit, index, unit, pointer) : TAKT_E_NO_LIMIT;
}

const char *takt_policy_within(const takt_policy *policy, const char *name)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    return limit != NULL && limit->within != NULL ? limit->within->name : NULL;
}

int takt_policy_fair(const takt_policy *policy, const char *limit)
{
    const takt_limit *at = takt_policy_find(policy, limit);
    while (at != NULL && at->fair == TAKT_FAIR_WORKER)
        at = at->within;
    return at != NULL;
}

int takt_policy_shares_by_key(const takt_policy *policy, const char *name)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    return limit != NULL && limit->fair != TAKT_FAIR_TENANT && limit->within == NULL &&
           takt_policy_has_inner(policy, limit);
}

int takt_policy_key_hash(const takt_policy *policy, const char *name)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    return limit != NULL && limit->key_hash;
}

static const char *within_of(const takt_policy *policy, const char *limit)
{
    return policy->within[takt_policy_index(policy, limit)];
}

int takt_policy_describe_key(const takt_policy *policy, const char *name, const char *key,
                             char *text, size_t size)
{
    char quoted[TAKT_QUOTE_SIZE];
    const takt_limit *limit = takt_policy_find(policy, name);
    if (limit == NULL)
        return TAKT_E_NO_LIMIT;
    limit = takt_overrides_for(limit, key != NULL ? key : "");
    takt_limit_describe(limit, within_of(policy, name), text, size);
    if (limit->base != NULL)
        takt_field_append(text, size, ", override %s",
                          takt_quote(takt_overrides_key(limit), quoted));
    return 0;
}

int takt_policy_override(const takt_policy *policy, const char *name, size_t index,
                         const char **key, char *text, size_t size)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    const takt_limit *override = limit != NULL ? takt_overrides_at(limit, index) : NULL;
    if (override == NULL)
        return TAKT_E_NO_LIMIT;
    *key = takt_overrides_key(override);
    takt_limit_describe(override, within_of(policy, name), text, size);
    return 0;
}

int takt_policy_describe(const takt_policy *policy, const char *name, char *text, size_t size)
{
    const takt_limit *limit = takt_policy_find(policy, name);
    if (limit == NULL)
        return TAKT_E_NO_LIMIT;
    takt_limit_describe(limit, within_of(policy, name), text, size);
    return 0;
}
