/*
 * Policies built in code: added limits are found, and refused ones leave no trace.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "policy/built.h"
#include "policy/policy.h"

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
