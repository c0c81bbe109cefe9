/*
 * Policies built in code: added limits are found, refused ones leave no trace, and `within` names a
 * limit.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "policy/policy.h"

static const takt_rule_text five_per_second = {.rate = "5/s"};

static int add(takt_policy *policy, const char *name, const char *within, takt_error *error)
{
    takt_limit_text text = {
        .name = name, .rules = &five_per_second, .rule_count = 1, .within = within};
    return takt_policy_add(policy, &text, error);
}

static takt_policy *new_policy(void)
{
    takt_policy *policy = NULL;
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    return policy;
}

Test(policy, an_empty_one_answers_everything)
{
    takt_policy *policy = new_policy();
    char text[8] = "as was";
    cr_assert_eq(takt_policy_count(policy), 0);
    cr_assert_null(takt_policy_name(policy, 0));
    cr_assert_null(takt_policy_find(policy, "a"));
    cr_assert_eq(takt_policy_has(policy, "a"), 0);
    cr_assert_null(takt_policy_store(policy));
    cr_assert_str_eq(takt_policy_namespace(policy), "default");
    cr_assert_eq(takt_policy_describe(policy, "a", text, sizeof text), TAKT_E_NO_LIMIT);
    cr_assert_str_eq(text, "as was");
    cr_assert_eq(takt_policy_check(policy, NULL), 0);
    takt_policy_free(policy);
    takt_policy_free(NULL);
}

Test(policy, tells_what_a_limit_does_without_its_store)
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

Test(policy, tells_the_rate_of_a_limit)
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

Test(policy, tells_what_a_limit_learns_from)
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

Test(policy, tells_whether_a_limit_hashes_its_keys)
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

Test(policy, arguments_that_are_none)
{
    takt_policy *policy = new_policy();
    takt_limit_text text = {0};
    takt_error error = {0};
    cr_assert_eq(takt_policy_new(NULL, NULL), TAKT_E_INVALID);
    cr_assert_eq(takt_policy_new(NULL, &error), TAKT_E_INVALID);
    cr_assert_eq(error.code, TAKT_E_INVALID);
    cr_assert_not_null(strstr(error.text, "takt_policy_new"), "%s", error.text);
    cr_assert_eq(takt_policy_add(NULL, &text, NULL), TAKT_E_INVALID);
    cr_assert_eq(takt_policy_add(policy, NULL, NULL), TAKT_E_INVALID);
    cr_assert_eq(takt_policy_check(NULL, NULL), TAKT_E_INVALID);
    cr_assert_eq(takt_policy_has(policy, NULL), 0);
    takt_policy_free(policy);
}

Test(policy, finds_each_of_many_and_keeps_their_places)
{
    enum { COUNT = 3000 };
    takt_policy *policy = new_policy();
    const takt_limit *first = NULL;
    char name[32];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "limit-%d", i);
        cr_assert_eq(add(policy, name, NULL, NULL), 0);
        if (i == 0)
            first = takt_policy_find(policy, name);
    }
    cr_assert_eq(takt_policy_count(policy), COUNT);
    cr_assert_eq(takt_policy_find(policy, "limit-0"), first);
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "limit-%d", i);
        cr_assert_str_eq(takt_policy_name(policy, (size_t)i), name);
        cr_assert_str_eq(takt_policy_find(policy, name)->name, name);
        cr_assert_eq(add(policy, name, NULL, NULL), TAKT_E_POLICY);
    }
    cr_assert_null(takt_policy_find(policy, "limit-3000"));
    cr_assert_null(takt_policy_find(policy, ""));
    takt_policy_free(policy);
}

Test(policy, what_is_refused_leaves_no_trace)
{
    takt_policy *policy = new_policy();
    takt_error error = {0};
    cr_assert_eq(add(policy, "a", NULL, &error), 0);
    cr_assert_eq(add(policy, "a", NULL, &error), TAKT_E_POLICY);
    cr_assert_str_eq(error.text, "name: \"a\" is already the name of limits[0]; write another");
    cr_assert_eq(add(policy, "b", "no name", &error), TAKT_E_POLICY);
    cr_assert_str_eq(error.text, "within: \"no name\": a name is made of a-z A-Z 0-9 . _ - only");
    cr_assert_eq(add(policy, "b", "", &error), TAKT_E_POLICY);
    cr_assert_str_eq(error.text, "within: is empty; write 1 to 64 of a-z A-Z 0-9 . _ -");
    cr_assert_eq(error.code, TAKT_E_POLICY);
    cr_assert_eq(takt_policy_count(policy), 1);
    cr_assert_eq(takt_policy_has(policy, "b"), 0);
    cr_assert_eq(add(policy, "b", NULL, &error), 0);
    takt_policy_free(policy);
}

Test(policy, within_may_name_what_is_added_later)
{
    takt_policy *policy = new_policy();
    takt_error error = {0};
    cr_assert_eq(add(policy, "account", "vendor", &error), 0);
    cr_assert_eq(takt_policy_check(policy, &error), TAKT_E_POLICY);
    cr_assert_str_eq(
        error.text,
        "limits[0].within: there is no limit \"vendor\"; write the name of another limit");
    cr_assert_eq(add(policy, "vendor", "world", &error), 0);
    cr_assert_eq(add(policy, "world", NULL, &error), 0);
    cr_assert_eq(takt_policy_check(policy, &error), 0, "%s", error.text);
    cr_assert_eq(takt_policy_find(policy, "account")->within, takt_policy_find(policy, "vendor"));
    cr_assert_eq(takt_policy_find(policy, "vendor")->within, takt_policy_find(policy, "world"));
    cr_assert_null(takt_policy_find(policy, "world")->within);
    takt_policy_free(policy);
}

/* Limits a, b, c ... with what each is within, and the verdict. */
Test(policy, within_must_not_go_round_in_a_circle_nor_too_deep)
{
    static const struct {
        const char *within[6]; /* "" is none; NULL ends the list */
        const char *words;     /* NULL: as it should be */
    } rows[] = {
        {{""}, NULL},
        {{"a"}, "limits[0].within: forms a circle (a -> a); remove one of them"},
        {{"b", "a"}, "limits[0].within: forms a circle (a -> b -> a); remove one of them"},
        {{"b", "c", "a"},
         "limits[0].within: forms a circle (a -> b -> c -> a); remove one of them"},
        {{"b", "c", "d", ""}, NULL},
        {{"", "a", "b", "c"}, NULL},
        {{"b", "c", "d", "e", ""},
         "limits[0].within: leads through more than 4 limits; nest fewer"},
        {{"", "a", "b", "c", "d"},
         "limits[4].within: leads through more than 4 limits; nest fewer"},
        {{"", "a", "a", "a", "a"}, NULL},
        {{"e", "e", "e", "b", ""}, NULL},
        {{"c", "", "b", "d"}, "limits[3].within: forms a circle (d -> d); remove one of them"},
        {{"d", "c", "d", "c"},
         "limits[2].within: forms a circle (c -> d -> c); remove one of them"},
    };
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        takt_policy *policy = new_policy();
        takt_error error = {0};
        for (size_t i = 0; rows[row].within[i] != NULL; i++)
            cr_assert_eq(add(policy, names[i],
                             rows[row].within[i][0] != '\0' ? rows[row].within[i] : NULL, NULL),
                         0);
        int code = takt_policy_check(policy, &error);
        cr_assert_eq(code, rows[row].words == NULL ? 0 : TAKT_E_POLICY, "row %zu: %s", row,
                     error.text);
        if (rows[row].words != NULL)
            cr_assert_str_eq(error.text, rows[row].words, "row %zu: %s", row, error.text);
        takt_policy_free(policy);
    }
}

Test(policy, a_large_circle_is_told_in_short)
{
    takt_policy *policy = new_policy();
    takt_error error = {0};
    char name[65], within[65];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "%064d", i);
        snprintf(within, sizeof within, "%064d", (i + 1) % 100);
        cr_assert_eq(add(policy, name, within, NULL), 0);
    }
    cr_assert_eq(takt_policy_check(policy, &error), TAKT_E_POLICY);
    cr_assert_eq(strncmp(error.text, "limits[0].within: forms a circle (000", 37), 0);
    cr_assert(strstr(error.text, "-> ... -> 000") != NULL, "%s", error.text);
    cr_assert(strstr(error.text, "remove one of them") != NULL, "%s", error.text);
    takt_policy_free(policy);
}

Test(policy, a_name_nearly_right_is_offered)
{
    takt_policy *policy = new_policy();
    takt_error error = {0};
    cr_assert_eq(add(policy, "sendgrid-u", "sendgrid-ut", NULL),
                 0); /* itself is as near, and never offered */
    cr_assert_eq(add(policy, "sendgrid-eu", NULL, NULL), 0);
    cr_assert_eq(add(policy, "sendgrid-us", NULL, NULL), 0);
    cr_assert_eq(takt_policy_check(policy, &error), TAKT_E_POLICY);
    cr_assert_str_eq(
        error.text,
        "limits[0].within: there is no limit \"sendgrid-ut\"; did you mean \"sendgrid-us\"?");
    takt_policy_free(policy);
}

Test(policy, store_and_namespace)
{
    takt_policy *policy = new_policy();
    takt_error error = {0};
    cr_assert_eq(takt_policy_set_store(policy, "memory:x", &error), 0);
    cr_assert_eq(takt_policy_set_store(policy, "nonsense", &error), TAKT_E_POLICY);
    cr_assert_eq(strncmp(error.text, "store: ", 7), 0, "%s", error.text);
    cr_assert_eq(error.code, TAKT_E_POLICY);
    cr_assert_str_eq(takt_policy_store(policy), "memory:x");
    cr_assert_eq(takt_policy_set_namespace(policy, "prod", &error), 0);
    cr_assert_eq(takt_policy_set_namespace(policy, "staging", &error), 0);
    cr_assert_eq(takt_policy_set_namespace(policy, "a/b", &error), TAKT_E_POLICY);
    cr_assert_str_eq(error.text, "namespace: \"a/b\": a name is made of a-z A-Z 0-9 . _ - only");
    cr_assert_str_eq(takt_policy_namespace(policy), "staging");
    cr_assert_eq(takt_policy_set_namespace(policy, "{staging}", &error), 0);
    cr_assert_eq(takt_policy_set_namespace(policy, "{}", &error), TAKT_E_POLICY);
    cr_assert_eq(takt_policy_set_namespace(policy, "{a}b", &error), TAKT_E_POLICY);
    cr_assert_eq(takt_policy_set_namespace(policy, "{a}}", &error), TAKT_E_POLICY);
    cr_assert_str_eq(takt_policy_namespace(policy), "{staging}");
    takt_policy_free(policy);
}

Test(policy, a_description_is_cut_to_size)
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

Test(policy, the_rate_is_that_of_tokens)
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

Test(policy, the_rate_is_that_of_the_key)
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
