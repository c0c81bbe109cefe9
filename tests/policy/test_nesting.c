/*
 * The check of a policy as a whole: each `within` names a limit, without circles and not too deep.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "policy/built.h"
#include "policy/policy.h"

Test(nesting, within_may_name_what_is_added_later)
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
Test(nesting, within_must_not_go_round_in_a_circle_nor_too_deep)
{
    static const struct {
        const char *within[6]; /* "" is none; NULL ends the list */
        const char *words;     /* NULL: as it should be */
    } rows[] = {
        {{""}, NULL},
        {{"a"}, "limits[0].within: forms a circle (a -> a); remove within from one of them"},
        {{"b", "a"},
         "limits[0].within: forms a circle (a -> b -> a); remove within from one of them"},
        {{"b", "c", "a"},
         "limits[0].within: forms a circle (a -> b -> c -> a); remove within from one of them"},
        {{"b", "c", "d", ""}, NULL},
        {{"", "a", "b", "c"}, NULL},
        {{"b", "c", "d", "e", ""},
         "limits[0].within: leads through more than 4 limits; nest fewer"},
        {{"", "a", "b", "c", "d"},
         "limits[4].within: leads through more than 4 limits; nest fewer"},
        {{"", "a", "a", "a", "a"}, NULL},
        {{"e", "e", "e", "b", ""}, NULL},
        {{"c", "", "b", "d"},
         "limits[3].within: forms a circle (d -> d); remove within from one of them"},
        {{"d", "c", "d", "c"},
         "limits[2].within: forms a circle (c -> d -> c); remove within from one of them"},
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

/* Work states amounts of four units at most. */
Test(nesting, levels_count_four_units_at_most)
{
    static const char *const rows[] = {"d", "e", NULL}; /* what the innermost limit counts */

    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        takt_policy *policy = NULL;
        takt_error error = {0};
        char text[400], counts[24] = "";
        if (rows[row])
            snprintf(counts, sizeof counts, ", counts: %s", rows[row]);
        snprintf(text, sizeof text,
                 "limits:\n"
                 "  - {name: in, within: mid, rules: [{rate: 1/s%s}]}\n"
                 "  - {name: mid, within: out, rules: [{rate: 1/s, counts: b}, {rate: 1/s, counts: "
                 "c}, {rate: 1/s, counts: requests}]}\n"
                 "  - {name: out, rules: [{rate: 1/s, counts: a}, {rate: 1/s, counts: d}]}\n",
                 counts);
        cr_expect_eq(takt_policy_parse(&policy, "p", text, strlen(text), &error),
                     row == 0 ? 0 : TAKT_E_POLICY, "row %zu: %s", row, error.text);
        if (row == 1)
            cr_expect_not_null(strstr(error.text, "count more than 4 units, and d is"), "%s",
                               error.text);
        if (row == 2)
            cr_expect_not_null(strstr(error.text, "and d is one too many"),
                               "the cost is the first unit: %s", error.text);
        takt_policy_free(policy);
    }
}

/* Of a unit without amounts requests would take 5 in one level and 6 in the other. */
Test(nesting, overrides_and_other_defaults_count_as_units)
{
    static const struct {
        const char *override, *usual;
        bool suits;
    } rows[] = {{"b", "5", true},
                {"e", "5", false},
                {"b", "6", false},
                {"d", "5", true},
                {"d, default_amount: 7", "5", false}};

    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        takt_policy *policy = NULL;
        takt_error error = {0};
        char text[500];
        snprintf(
            text, sizeof text,
            "limits:\n"
            "  - {name: in, within: out, rules: [{rate: 9/s, counts: a}],\n"
            "     overrides: [{key: vip, rules: [{rate: 9/s, counts: %s}]}]}\n"
            "  - {name: out, rules: [{rate: 9/s, counts: a, default_amount: 1},\n"
            "     {rate: 9/s, counts: b}, {rate: 9/s, counts: c}], within: all}\n"
            "  - {name: all, rules: [{rate: 9/s, counts: d, default_amount: 5}], within: top}\n"
            "  - {name: top, rules: [{rate: 9/s, counts: d, default_amount: %s}]}\n",
            rows[row].override, rows[row].usual);
        cr_expect_eq(takt_policy_parse(&policy, "p", text, strlen(text), &error),
                     rows[row].suits ? 0 : TAKT_E_POLICY, "row %zu: %s", row, error.text);
        if (!rows[row].suits)
            cr_expect_not_null(strstr(error.text, "d is one too many"), "%s", error.text);
        takt_policy_free(policy);
    }
}

Test(nesting, a_large_circle_is_told_in_short)
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
    cr_assert(strstr(error.text, "remove within from one of them") != NULL, "%s", error.text);
    takt_policy_free(policy);
}

Test(nesting, a_name_nearly_right_is_offered)
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

/* Limits a, b and so on, each within the next one. */
static void check_chain(takt_limit_text *texts, int count, const char *words, size_t row)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    takt_policy *policy = new_policy();
    takt_rule_text rule = {.rate = "1/s"};
    takt_error error = {0};

    for (int i = 0; i < count; i++) {
        texts[i].name = names[i];
        texts[i].rules = &rule;
        texts[i].rule_count = 1;
        texts[i].within = i + 1 < count ? names[i + 1] : NULL;
        cr_assert_eq(takt_policy_add(policy, &texts[i], &error), 0, "%s", error.text);
    }
    cr_expect_eq(takt_policy_check(policy, &error), words ? TAKT_E_POLICY : 0, "row %zu: %s", row,
                 error.text);
    if (words)
        cr_expect_str_eq(error.text, words, "row %zu", row);
    takt_policy_free(policy);
}

/* What three of them say of tenants. */
Test(nesting, tenants_of_a_chain_agree)
{
    static const char weights[] = "{acme: 3}", same[] = "{beta: 2, acme: 3}", other[] = "{acme: 2}";
    static const char outside[] =
        "limits[1].fair: this limit is between others; give fair to each limit around it, \"c\" "
        "too, or to the innermost one instead";
    static const char kinds[] =
        "limits[0].fair: the limit \"c\", which it is within, has fair too; write fair: tenant in "
        "both, or remove it from one";
    static const char apart[] =
        "limits[0].weights: differ from those of \"c\", which it is within; write the same weights "
        "and default_weight in both, or remove fair from one";
    static const char hashes[] = "limits[0].key_hash: differs from that of \"c\", which it is "
                                 "within and which has fair too; "
                                 "write the same in both, or remove fair from one";
    static const struct {
        const char *fair[3], *weights[3], *usual[3], *key_hash[3];
        const char *words; /* NULL: as it should be */
    } rows[] = {
        {{"tenant"}, {weights}, {"2"}, {"true"}, NULL},
        {{"key"}, {weights}, {NULL}, {NULL}, NULL},
        {{NULL, NULL, "key"}, {NULL}, {NULL}, {NULL}, NULL},
        {{"tenant", NULL, "tenant"}, {weights, NULL, same}, {"2", NULL, "2"}, {NULL}, NULL},
        {{"tenant", "tenant", "tenant"}, {NULL}, {NULL}, {"true", "true", "true"}, NULL},
        {{NULL, "tenant", "tenant"}, {NULL}, {NULL}, {NULL}, NULL},
        {{NULL, "tenant", NULL}, {NULL}, {NULL}, {NULL}, outside},
        {{"tenant", "tenant", NULL}, {NULL}, {NULL}, {NULL}, outside},
        {{"tenant", NULL, "key"}, {NULL}, {NULL}, {NULL}, kinds},
        {{"tenant", NULL, "tenant"}, {weights, NULL, other}, {NULL}, {NULL}, apart},
        {{"tenant", NULL, "tenant"}, {weights}, {NULL}, {NULL}, apart},
        {{"tenant", NULL, "tenant"}, {NULL}, {"2"}, {NULL}, apart},
        {{"tenant", NULL, "tenant"}, {NULL}, {NULL}, {"true"}, hashes},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        takt_limit_text texts[3];
        for (int i = 0; i < 3; i++)
            texts[i] = (takt_limit_text){.fair = rows[row].fair[i],
                                         .weights = rows[row].weights[i],
                                         .default_weight = rows[row].usual[i],
                                         .key_hash = rows[row].key_hash[i]};
        check_chain(texts, 3, rows[row].words, row);
    }
}

/* The outermost one may be in another mode, or unlimited for a key: then the one inside it is the
 * outermost of those that are decided together. */
Test(nesting, a_limit_between_has_tenants_if_all_around_it_have)
{
    static const struct {
        const char *fair[4], *words;
    } rows[] = {
        {{NULL, "tenant", NULL, "tenant"},
         "limits[1].fair: this limit is between others; give fair to each limit around it, \"c\" "
         "too, or to the innermost one instead"},
        {{NULL, "tenant", "tenant", "tenant"}, NULL},
        {{"tenant", NULL, NULL, "tenant"}, NULL},
        {{"tenant", NULL, "tenant", "tenant"}, NULL},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        takt_limit_text texts[4];
        for (int i = 0; i < 4; i++)
            texts[i] = (takt_limit_text){.fair = rows[row].fair[i]};
        check_chain(texts, 4, rows[row].words, row);
    }
}
