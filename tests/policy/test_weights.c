/*
 * Whether tenants take turns, and how much each gets: `fair`, `weights` and `default_weight`, and
 * what is refused with what to write instead.
 */
#include "policy/broken.h"
#include "policy/overrides.h"
#include "policy/policy.h"
#include "policy/weights.h"

#define LIMIT_OF(lines) "limits:\n  - name: a\n    rules: [{rate: 5/s}]\n" lines
#define FAIR            "    fair: tenant\n"
#define AT              "limits[0]."
#define SIXTY_FOUR      "X234567890123456789012345678901234567890123456789012345678901234"

static const broken broken_weights[] = {
    {LIMIT_OF("    fair: tenants\n"), 4,
     AT "fair: there is no \"tenants\"; did you mean \"tenant\"?"},
    {LIMIT_OF("    fair: yes\n"), 4, AT "fair: there is no \"yes\"; write tenant or key"},
    {LIMIT_OF("    fair: {tenant: 3}\n"), 4, AT "fair: is a mapping; write one value"},
    {LIMIT_OF("    weights: {acme: 3}\n"), 4,
     AT "weights: needs fair; add fair: tenant or fair: key, or remove weights"},
    {LIMIT_OF("    default_weight: 3\n"), 4,
     AT "default_weight: needs fair; add fair: tenant or fair: key, or remove default_weight"},
    {LIMIT_OF(FAIR "    default_weight: 0\n"), 5,
     AT "default_weight: \"0\": write a whole number from 1 to 1000"},
    {LIMIT_OF(FAIR "    default_weight: 1001\n"), 5, AT "default_weight: \"1001\": write a whole"},
    {LIMIT_OF(FAIR "    weights: acme\n"), 5,
     AT "weights: write {NAME: VALUE, NAME: VALUE}, without commas and braces in the values"},
    {LIMIT_OF(FAIR "    weights: {acme: 0}\n"), 5,
     AT "weights: \"acme\": \"0\": write a whole number from 1 to 1000"},
    {LIMIT_OF(FAIR "    weights: {acme: -3}\n"), 5, AT "weights: \"acme\": \"-3\": write a whole"},
    {LIMIT_OF(FAIR "    weights: {acme: 1.5}\n"), 5, AT "weights: \"acme\": \"1.5\": write a"},
    {LIMIT_OF(FAIR "    weights: {acme: 1001}\n"), 5, AT "weights: \"acme\": \"1001\": write a"},
    {LIMIT_OF(FAIR "    weights: {acme: 1, acme: 2}\n"), 5,
     AT "weights: \"acme\" is repeated; write it once"},
    {LIMIT_OF(FAIR "    weights: {" SIXTY_FOUR "5: 2}\n"), 5, AT "weights: \"X234567890"},
    {LIMIT_OF(FAIR "    weights: {acme: [1]}\n"), 5, AT "weights: has a list inside"},
    {LIMIT_OF("    overrides: [{key: k, fair: tenant}]\n"), 4,
     AT "overrides[0].fair: unknown field here; did you mean limits[].fair?"},
};

Test(weights, broken_ones_are_refused_with_words)
{
    check_broken(broken_weights, sizeof broken_weights / sizeof broken_weights[0]);
}

static takt_policy *parse(const char *text)
{
    takt_policy *policy = NULL;
    takt_error error = {0};
    cr_assert_eq(takt_policy_parse(&policy, "takt.yaml", text, strlen(text), &error), 0, "%s",
                 error.text);
    return policy;
}

Test(weights, reads_them)
{
    takt_policy *policy = parse(
        LIMIT_OF(FAIR "    weights:\n      zeta: 2\n      acme corp: 1000\n      '3': 1\n"
                      "      ' lead': 5\n      \"it's: \\\"\": 6\n"
                      "    default_weight: 7\n    overrides: [{key: k, rules: [{rate: 9/s}]}]\n"
                      "  - {name: b, rules: [{rate: 5/s}], within: a}\n"
                      "  - {name: c, rules: [{rate: 5/s}]}\n"));
    const takt_limit *limit = takt_policy_find(policy, "a"), *other = takt_policy_find(policy, "c");
    char text[200];

    cr_assert_eq(limit->fair, TAKT_FAIR_TENANT);
    cr_expect_eq(takt_weights_of(limit, "zeta"), 2);
    cr_expect_eq(takt_weights_of(limit, "acme corp"), 1000);
    cr_expect_eq(takt_weights_of(limit, "3"), 1);
    cr_expect_eq(takt_weights_of(limit, " lead"), 5);
    cr_expect_eq(takt_weights_of(limit, "lead"), 7);
    cr_expect_eq(takt_weights_of(limit, "it's: \""), 6);
    cr_expect_eq(takt_weights_of(limit, "beta"), 7);
    cr_expect_eq(takt_weights_of(limit, ""), 7);
    cr_expect_eq(takt_weights_of(limit, SIXTY_FOUR "5"), 7);
    takt_policy_describe(policy, "a", text, sizeof text);
    cr_expect_str_eq(
        text, "5/s, fair tenant, weights { lead: 5, 3: 1, acme corp: 1000, it's: \": 6, zeta: 2}, "
              "default_weight 7");
    cr_expect_eq(takt_weights_of(takt_overrides_for(limit, "k"), "zeta"), 2,
                 "an override has them");
    cr_expect_eq(takt_overrides_for(limit, "k")->fair, TAKT_FAIR_TENANT);
    cr_expect_eq(other->fair, TAKT_FAIR_WORKER);
    cr_expect_eq(takt_weights_of(other, "zeta"), 1);
    takt_policy_describe(policy, "c", text, sizeof text);
    cr_expect_str_eq(text, "5/s");
    cr_expect_eq(takt_policy_fair(policy, "a"), 1);
    cr_expect_eq(takt_policy_fair(policy, "b"), 1, "the limit around it");
    cr_expect_eq(takt_policy_fair(policy, "c"), 0);
    cr_expect_eq(takt_policy_fair(policy, "none"), 0);
    cr_expect_eq(takt_policy_shares_by_key(policy, "a"), 0);
    cr_expect_str_eq(takt_policy_within(policy, "b"), "a");
    cr_expect_null(takt_policy_within(policy, "a"));
    cr_expect_null(takt_policy_within(policy, "none"));
    takt_policy_free(policy);
}

Test(weights, keys_of_the_limits_inside_have_them_too)
{
    takt_policy *policy = parse(LIMIT_OF("    fair: key\n    weights: {zeta: 2}\n"
                                         "  - {name: b, rules: [{rate: 5/s}], within: a}\n"));
    char text[200];

    cr_expect_eq(takt_policy_find(policy, "a")->fair, TAKT_FAIR_KEY);
    cr_expect_eq(takt_weights_of(takt_policy_find(policy, "a"), "zeta"), 2);
    takt_policy_describe(policy, "a", text, sizeof text);
    cr_expect_str_eq(text, "5/s, fair key, weights {zeta: 2}");
    cr_expect_eq(takt_policy_fair(policy, "b"), 1);
    cr_expect_eq(takt_policy_shares_by_key(policy, "a"), 1);
    cr_expect_eq(takt_policy_shares_by_key(policy, "b"), 0, "nothing is within it");
    takt_policy_free(policy);
}

Test(weights, keys_of_the_limits_inside_take_turns_without_fair)
{
    takt_policy *policy = parse(LIMIT_OF("") "  - {name: b, rules: [{rate: 5/s}], within: a}\n"
                                             "  - {name: c, rules: [{rate: 5/s}], within: b}\n"
                                             "  - {name: d, rules: [{rate: 5/s}]}\n");

    cr_expect_eq(takt_policy_shares_by_key(policy, "a"), 1);
    cr_expect_eq(takt_policy_shares_by_key(policy, "b"), 0, "turns are taken at the outermost");
    cr_expect_eq(takt_policy_shares_by_key(policy, "c"), 0);
    cr_expect_eq(takt_policy_shares_by_key(policy, "d"), 0);
    cr_expect_eq(takt_policy_shares_by_key(policy, "none"), 0);
    takt_policy_free(policy);
}

/* Writes so many names of 60 bytes. */
static void write_many(char *text, int count)
{
    char *at = text + sprintf(text, LIMIT_OF(FAIR "    weights: {"));
    for (int i = 0; i < count; i++)
        at += sprintf(at, "%s%060d: %d", i > 0 ? ", " : "", i, i + 1);
    strcpy(at, "}\n");
}

Test(weights, so_many_tenants_have_weights_of_their_own)
{
    char text[8192];
    takt_policy *policy = NULL;
    takt_error error = {0};

    write_many(text, TAKT_WEIGHTS_MAX);
    policy = parse(text);
    cr_expect_eq(takt_policy_find(policy, "a")->weights->count, TAKT_WEIGHTS_MAX);
    cr_expect_eq(takt_weights_of(takt_policy_find(policy, "a"),
                                 "000000000000000000000000000000000000000000000000000000000063"),
                 64);
    takt_policy_free(policy);
    write_many(text, TAKT_WEIGHTS_MAX + 1);
    cr_expect_eq(takt_policy_parse(&policy, "takt.yaml", text, strlen(text), &error),
                 TAKT_E_POLICY);
    cr_expect_str_eq(error.text, "takt.yaml:5: limits[0].weights: has more than 64 entries; write "
                                 "fewer");
}

/* In code the mapping is one text. */
Test(weights, are_texts_in_code)
{
    takt_rule_text rule = {.rate = "5/s"};
    takt_limit_text text = {.name = "a",
                            .rules = &rule,
                            .rule_count = 1,
                            .fair = "tenant",
                            .weights = "{acme: 3}",
                            .default_weight = "2"};
    takt_policy *policy = NULL;
    takt_error error = {0};
    char words[100];

    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    cr_assert_eq(takt_policy_add(policy, &text, &error), 0, "%s", error.text);
    takt_policy_describe(policy, "a", words, sizeof words);
    cr_expect_str_eq(words, "5/s, fair tenant, weights {acme: 3}, default_weight 2");
    takt_policy_free(policy);
}
