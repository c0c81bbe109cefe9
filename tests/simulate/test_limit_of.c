/*
 * A simulation finds a policy's limits by their names.
 */
#include <criterion/criterion.h>

#include <takt/simulate.h>

#include "core/limit.h"

Test(limit_of, finds_by_name)
{
    takt_policy *policy;
    takt_rule_text rule = {.rate = "7/s"};
    takt_limit_text text = {.name = "mail", .rules = &rule, .rule_count = 1};

    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    cr_assert_eq(takt_policy_add(policy, &text, NULL), 0);
    cr_expect_null(takt_policy_limit(policy, "male"));
    cr_assert_not_null(takt_policy_limit(policy, "mail"));
    cr_expect_eq(takt_policy_limit(policy, "mail")->numbers.rules[0].limit, 7);
    takt_policy_free(policy);
}
