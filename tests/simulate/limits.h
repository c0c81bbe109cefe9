/*
 * Limits for the tests of this folder, written as people write them.
 */
#ifndef TAKT_TESTS_SIM_LIMITS_H
#define TAKT_TESTS_SIM_LIMITS_H

#include <criterion/criterion.h>

#include <takt/simulate.h>

typedef struct test_policy {
    takt_policy *policy;
    const takt_limit *limit;
} test_policy;

static inline test_policy make_limit_of(const takt_limit_text *text)
{
    test_policy made = {0};
    takt_error error = {0};

    cr_assert_eq(takt_policy_new(&made.policy, NULL), 0);
    cr_assert_eq(takt_policy_add(made.policy, text, &error), 0, "%s", error.text);
    made.limit = takt_policy_limit(made.policy, text->name);
    return made;
}

/* Rules end with one that has no rate. */
static inline test_policy make_limit(const takt_rule_text *rules, const char *max_waiting)
{
    takt_limit_text text = {.name = "limit", .rules = rules, .max_waiting = max_waiting};

    while (rules[text.rule_count].rate)
        text.rule_count++;
    return make_limit_of(&text);
}

/* Permits alone. */
static inline test_policy make_permits(const char *concurrency, const char *lease)
{
    takt_limit_text text = {.name = "limit", .concurrency = concurrency, .lease = lease};

    return make_limit_of(&text);
}

#endif
