/*
 * What a program may ask a policy about one of its limits: modes, rates of keys, and descriptions.
 */
#include <criterion/criterion.h>

#include <takt/policy.h>

#include "policy/built.h"

Test(queries, tells_what_a_limit_does_without_its_store)
{
    takt_policy *policy = new_policy();
    takt_limit_text text = {
        .name = "b", .rules = &five_per_second, .rule_count = 1, .on_store_failure = "open"};
    takt_limit_text shadow = {
        .name = "c", .rules = &five_per_second, .rule_count = 1, .mode = "shadow"};
    takt_on_store_failure mode = TAKT_ON_STORE_FAILURE_SHARE;
    takt_mode how = TAKT_MODE_SHADOW;
    cr_assert_eq(takt_policy_on_store_failure(policy, "a", &mode), TAKT_E_NO_LIMIT);
    cr_assert_eq(mode, TAKT_ON_STORE_FAILURE_SHARE, "as was");
    cr_assert_eq(add(policy, "a", NULL, NULL), 0);
    cr_assert_eq(takt_policy_add(policy, &text, NULL), 0);
    cr_assert_eq(takt_policy_on_store_failure(policy, "a", &mode), 0);
    cr_assert_eq(mode, TAKT_ON_STORE_FAILURE_WAIT);
    cr_assert_eq(takt_policy_on_store_failure(policy, "b", &mode), 0);
    cr_assert_eq(mode, TAKT_ON_STORE_FAILURE_OPEN);
    cr_assert_eq(takt_policy_mode(policy, "c", &how), TAKT_E_NO_LIMIT);
    cr_assert_eq(takt_policy_mode(policy, "b", &how), 0);
    cr_assert_eq(how, TAKT_MODE_ENFORCE);
    cr_assert_eq(takt_policy_add(policy, &shadow, NULL), 0);
    cr_assert_eq(takt_policy_mode(policy, "c", &how), 0);
    cr_assert_eq(how, TAKT_MODE_SHADOW);
    takt_policy_free(policy);
}

Test(queries, tells_the_rate_of_a_limit)
{
    takt_policy *policy = new_policy();
    takt_rule_text rules[] = {{.rate = "90/2min"}, {.rate = "5/s"}};
    takt_limit_text text = {.name = "b", .rules = rules, .rule_count = 2, .headroom = "10%"};
    takt_limit_text permits = {.name = "c", .concurrency = "3"};
    int64_t tokens = -1, period_us = -1;

    cr_assert_eq(takt_policy_rate(policy, "b", NULL, &tokens, &period_us), TAKT_E_NO_LIMIT);
    cr_assert(tokens == -1 && period_us == -1, "as they were");
    cr_assert_eq(takt_policy_add(policy, &text, NULL), 0);
    cr_assert_eq(takt_policy_add(policy, &permits, NULL), 0);
    cr_assert_eq(takt_policy_rate(policy, "b", NULL, &tokens, &period_us), 0);
    cr_assert(tokens == 90 && period_us == 120000000, "as it is written");
    cr_assert_eq(takt_policy_rate(policy, "c", NULL, &tokens, &period_us), 0);
    cr_assert(tokens == 0 && period_us == 0);
    takt_policy_free(policy);
}

Test(queries, tells_what_a_limit_learns_from)
{
    takt_policy *policy = new_policy();
    takt_limit_text text = {
        .name = "b", .rules = &five_per_second, .rule_count = 1, .learn = "headers"};
    takt_learn learn = TAKT_LEARN_HEADERS;
    cr_assert_eq(takt_policy_learn(policy, "a", &learn), TAKT_E_NO_LIMIT);
    cr_assert_eq(learn, TAKT_LEARN_HEADERS, "as was");
    cr_assert_eq(add(policy, "a", NULL, NULL), 0);
    cr_assert_eq(takt_policy_add(policy, &text, NULL), 0);
    cr_assert_eq(takt_policy_learn(policy, "a", &learn), 0);
    cr_assert_eq(learn, TAKT_LEARN_OFF);
    cr_assert_eq(takt_policy_learn(policy, "b", &learn), 0);
    cr_assert_eq(learn, TAKT_LEARN_HEADERS);
    takt_policy_free(policy);
}

Test(queries, waiters_are_bounded_by_the_limits_outside_as_well)
{
    takt_policy *policy = new_policy();
    takt_limit_text bounded = {
        .name = "b", .rules = &five_per_second, .rule_count = 1, .max_waiting = "9"};
    cr_assert_eq(takt_policy_add(policy, &bounded, NULL), 0);
    cr_assert_eq(add(policy, "a", "b", NULL), 0);
    cr_assert_eq(add(policy, "c", NULL, NULL), 0);
    cr_assert_eq(takt_policy_check(policy, NULL), 0);
    cr_expect_eq(takt_policy_bounds_waiting(policy, "b", NULL), 1);
    cr_expect_eq(takt_policy_bounds_waiting(policy, "a", "k"), 1);
    cr_expect_eq(takt_policy_bounds_waiting(policy, "c", NULL), 0);
    takt_policy_free(policy);
}

Test(queries, tells_whether_a_limit_hashes_its_keys)
{
    takt_policy *policy = new_policy();
    takt_limit_text text = {
        .name = "b", .rules = &five_per_second, .rule_count = 1, .key_hash = "true"};
    cr_assert_eq(add(policy, "a", NULL, NULL), 0);
    cr_assert_eq(takt_policy_add(policy, &text, NULL), 0);
    cr_expect_eq(takt_policy_key_hash(policy, "a"), 0);
    cr_expect_eq(takt_policy_key_hash(policy, "b"), 1);
    cr_expect_eq(takt_policy_key_hash(policy, "c"), 0);
    takt_policy_free(policy);
}

Test(queries, a_description_is_cut_to_size)
{
    takt_policy *policy = new_policy();
    char text[8];
    cr_assert_eq(add(policy, "inner", "outer", NULL), 0);
    cr_assert_eq(takt_policy_describe(policy, "inner", text, sizeof text), 0);
    cr_assert_str_eq(text, "5/s, wi");
    cr_assert_eq(takt_policy_describe(policy, "inner", text, 1), 0);
    cr_assert_str_eq(text, "");
    cr_assert_eq(takt_policy_describe(policy, "inner", NULL, 0), 0);
    takt_policy_free(policy);
}

Test(queries, the_rate_is_that_of_tokens)
{
    static const char text[] =
        "limits:\n"
        "  - name: model\n"
        "    rules: [{rate: 5/min, counts: requests}, {rate: 7/h, burst: 9}, {rate: 8/s}]\n"
        "  - {name: calls, rules: [{rate: 3/min, counts: requests}, {rate: 4/h, counts: "
        "requests}]}\n";
    takt_policy *policy;
    takt_error error = {0};
    int64_t tokens, period_us;

    cr_assert_eq(takt_policy_parse(&policy, "p", text, sizeof text - 1, &error), 0, "%s",
                 error.text);
    cr_assert_eq(takt_policy_rate(policy, "model", NULL, &tokens, &period_us), 0);
    cr_expect(tokens == 7 && period_us == INT64_C(3600000000));
    cr_assert_eq(takt_policy_rate(policy, "calls", NULL, &tokens, &period_us), 0);
    cr_expect(tokens == 3 && period_us == 60000000, "all count requests: the first one");
    takt_policy_free(policy);
}

Test(queries, the_rate_is_that_of_the_key)
{
    static const char text[] = "limits:\n"
                               "  - name: api\n"
                               "    rules: [{rate: 5/s}]\n"
                               "    overrides:\n"
                               "      - {key: acme, rules: [{rate: 50/min}]}\n"
                               "      - {key: free-*, unlimited: true}\n"
                               "      - {key: bad, rules: [{rate: 0}]}\n";
    static const struct {
        const char *key;
        int64_t tokens, period_us;
    } rows[] = {{NULL, 5, 1000000},
                {"other", 5, 1000000},
                {"acme", 50, 60000000},
                {"free-1", 0, 0},
                {"bad", 0, 0}};
    takt_policy *policy;
    takt_error error = {0};

    cr_assert_eq(takt_policy_parse(&policy, "p", text, sizeof text - 1, &error), 0, "%s",
                 error.text);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t tokens = -1, period_us = -1;
        cr_assert_eq(takt_policy_rate(policy, "api", rows[i].key, &tokens, &period_us), 0);
        cr_expect(tokens == rows[i].tokens && period_us == rows[i].period_us, "%s", rows[i].key);
    }
    takt_policy_free(policy);
}
