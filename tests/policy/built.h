/*
 * Policies built in code, and limits of 5/s for them.
 */
#ifndef TAKT_TESTS_POLICY_BUILT_H
#define TAKT_TESTS_POLICY_BUILT_H

#include <criterion/criterion.h>

#include <takt/policy.h>

static const takt_rule_text five_per_second = {.rate = "5/s"};

static inline int add(takt_policy *policy, const char *name, const char *within, takt_error *error)
{
    takt_limit_text text = {
        .name = name, .rules = &five_per_second, .rule_count = 1, .within = within};
    return takt_policy_add(policy, &text, error);
}

static inline takt_policy *new_policy(void)
{
    takt_policy *policy = NULL;
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    return policy;
}

#endif
