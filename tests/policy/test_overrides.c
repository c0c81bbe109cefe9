/*
 * Overrides by key: the override of a key, inherited fields, and refused texts.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/broken.h"
#include "policy/overrides.h"
#include "policy/policy.h"

#define API      "limits:\n  - name: api\n    rules: [{rate: 5/s}]\n    max_waiting: 7\n    overrides:\n"
#define ROW(row) "      - " row "\n"

static takt_policy *parse(const char *text)
{
    takt_policy *policy;
    takt_error error = {0};

    cr_assert_eq(takt_policy_parse(&policy, "p", text, strlen(text), &error), 0, "%s", error.text);
    return policy;
}

static const char *of(const takt_policy *policy, const char *key)
{
    static char text[512];

    cr_assert_eq(takt_policy_describe_key(policy, "api", key, text, sizeof text), 0);
    return text;
}

Test(overrides, a_key_comes_before_patterns_and_the_first_pattern_wins)
{
    static const struct {
        const char *key, *numbers;
    } rows[] = {
        {NULL, "5/s, max_waiting 7"},
        {"", "5/s, max_waiting 7"},
        {"b", "5/s, max_waiting 7"},
        {"acme", "50/s burst 9, max_waiting 7, override \"acme\""},
        {"acme-1", "60/s, max_waiting 7, override \"acme-*\""},
        {"acme-", "60/s, max_waiting 7, override \"acme-*\""},
        {"acme-eu", "70/s, max_waiting 7, override \"acme-eu\""},
        {"ac", "1/s, max_waiting 2, override \"a*\""},
        {"x-acme", "5/s, max_waiting 7"},
        {"a@gold.example", "1/s, max_waiting 2, override \"a*\""},
        {"b@gold.example", "unlimited, override \"*@gold.*\""},
        {"b@gold", "5/s, max_waiting 7"},
        {"@gold.", "unlimited, override \"*@gold.*\""},
        {"mallory", "refused, override \"mallory\""},
        {"eve", "refused, override \"eve\""},
        {"long", "5/s, concurrency 3, lease 1min, max_waiting 7, override \"long\""},
        /* a pattern is no key of its own */
        {"acme-*", "60/s, max_waiting 7, override \"acme-*\""},
        {"a*", "1/s, max_waiting 2, override \"a*\""},
    };
    takt_policy *policy =
        parse(API ROW("{key: acme-*, rules: [{rate: 60/s}]}")
                  ROW("{key: a*, rules: [{rate: 1/s}], max_waiting: 2}")
                      ROW("{key: acme-eu, rules: [{rate: 70/s}]}")
                          ROW("{key: acme, rules: [{rate: 50/s, burst: 9}]}")
                              ROW("{key: '*@gold.*', unlimited: true}")
                                  ROW("{key: mallory, rules: [{rate: 0}]}")
                                      ROW("{key: eve, unlimited: false, rules: [{rate: 0/s}]}")
                                          ROW("{key: long, concurrency: 3, lease: 1min}"));
    char text[8];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_str_eq(of(policy, rows[i].key), rows[i].numbers, "row %zu: %s", i,
                         of(policy, rows[i].key));
    cr_expect_eq(takt_policy_describe_key(policy, "other", "a", text, sizeof text),
                 TAKT_E_NO_LIMIT);
    takt_policy_free(policy);
}

Test(overrides, patterns)
{
    static const struct {
        const char *pattern, *key;
        bool matches;
    } rows[] = {
        {"*", "a", true},        {"**", "a", true},
        {"a*", "a", true},       {"a*", "b", false},
        {"*a", "ba", true},      {"*a", "ab", false},
        {"a*b*c", "abc", true},  {"a*b*c", "axbxbxc", true},
        {"a*b*c", "acb", false}, {"*ab", "aab", true},
        {"*ab*", "aaxab", true}, {"a*a", "a", false},
        {"a*a", "aa", true},     {"*.*", "a.b.c", true},
        {"a*", "A", false},      {"\xc3*", "\xc3\xa4", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_override_text override = {.key = rows[i].pattern, .unlimited = "true"};
        takt_rule_text rule = {.rate = "1/s"};
        takt_limit_text text = {.name = "a",
                                .rules = &rule,
                                .rule_count = 1,
                                .overrides = &override,
                                .override_count = 1};
        takt_policy *policy;
        const takt_limit *limit;
        cr_assert_eq(takt_policy_new(&policy, NULL), 0);
        cr_assert_eq(takt_policy_add(policy, &text, NULL), 0);
        limit = takt_policy_find(policy, "a");
        cr_expect_eq(takt_overrides_for(limit, rows[i].key) != limit, rows[i].matches, "row %zu",
                     i);
        takt_policy_free(policy);
    }
}

/* All fields but the numbers are the limit's, also fields that are known only when the policy is
 * complete. */
Test(overrides, the_rest_is_inherited)
{
    takt_policy *policy =
        parse("revision: 4\nlimits:\n"
              "  - name: api\n    rules: [{rate: 5/s}]\n    headroom: 10%\n    priority: 3\n"
              "    mode: shadow\n    on_store_failure: open\n    learn: headers\n"
              "    key_hash: true\n    within: all\n    adapt: {}\n    lookahead: 100ms\n"
              "    overrides: [{key: a, rules: [{rate: 100/s}]}, {key: b, headroom: 50%},\n"
              "                {key: c, adapt: {backoff: 80%}, lookahead: 1s}]\n"
              "  - {name: all, rules: [{rate: 9/s}]}\n");
    const takt_limit *base = takt_policy_find(policy, "api");
    const takt_limit *a = takt_overrides_for(base, "a"), *c = takt_overrides_for(base, "c");

    cr_assert_neq(a, base);
    cr_expect_str_eq(a->name, "api");
    cr_expect_eq(a->base, base);
    cr_expect_null(a->overrides);
    cr_expect_eq(a->priority, 3);
    cr_expect_eq(a->mode, TAKT_MODE_SHADOW);
    cr_expect_eq(a->on_store_failure, TAKT_ON_STORE_FAILURE_OPEN);
    cr_expect_eq(a->learn, TAKT_LEARN_HEADERS);
    cr_expect(a->key_hash);
    cr_expect_eq(a->within, takt_policy_find(policy, "all"));
    cr_expect_eq(a->numbers.revision, 4);
    cr_expect_eq(a->numbers.rules[0].headroom_bp, 1000);
    cr_expect_eq(a->numbers.adapt.backoff, 50);
    cr_expect_eq(a->numbers.lookahead_us, 100000);
    cr_expect_eq(takt_overrides_for(base, "b")->numbers.rules[0].headroom_bp, 5000);
    cr_expect_eq(c->numbers.adapt.backoff, 80);
    cr_expect_eq(c->numbers.lookahead_us, 1000000);
    takt_policy_renumber(policy, 9);
    cr_expect_eq(a->numbers.revision, 9);
    takt_policy_free(policy);
}

static const broken refused[] = {
    {API ROW("{rules: [{rate: 1/s}]}"), 6,
     "limits[0].overrides[0].key: is missing; write a key, or a pattern like acme-*"},
    {API ROW("{key: '', unlimited: true}"), 6, "limits[0].overrides[0].key: is empty"},
    {API ROW("{key: a}"), 6,
     "limits[0].overrides[0].key: the override changes nothing; add rules, like rules: [{rate: "
     "100/s}], or unlimited: true"},
    {API ROW("{key: a, unlimited: false}"), 6,
     "limits[0].overrides[0].key: the override changes nothing"},
    {API ROW("{key: a, unlimited: maybe}"), 6,
     "limits[0].overrides[0].unlimited: \"maybe\": write true or false"},
    {API ROW("{key: a, unlimited: true, max_waiting: 3}"), 6,
     "limits[0].overrides[0].unlimited: an unlimited key has no numbers"},
    {API ROW("{key: b, max_waiting: 3}")
         ROW("key: a\n        unlimited: true\n        rules:\n          - rate: 1/s"),
     8, "limits[0].overrides[1].unlimited: an unlimited key has no numbers; remove unlimited or "},
    {API ROW("{key: a, unlimited: true}") ROW("{key: b, unlimited: true}")
         ROW("{key: a, rules: [{rate: 1/s}]}"),
     8, "limits[0].overrides[2].key: \"a\" is already that of overrides[0]; write each key once"},
    {API ROW("{key: a*, unlimited: true}") ROW("{key: a*, unlimited: true}"), 7,
     "limits[0].overrides[1].key: \"a*\" is already that of overrides[0]"},
    {API ROW("{key: a, rules: [{rate: 0}, {rate: 1/s}]}"), 6,
     "limits[0].overrides[0].rules[0].rate: a rate of 0 refuses all work of its keys; remove all "
     "other fields"},
    {API ROW("{key: a, rules: [{rate: 0, burst: 5}]}"), 6,
     "limits[0].overrides[0].rules[0].rate: a rate of 0 refuses"},
    {API ROW("{key: a, rules: [{rate: 0}], concurrency: 1}"), 6,
     "limits[0].overrides[0].rules[0].rate: a rate of 0 refuses"},
    {API ROW("{key: a, unlimited: true, rules: [{rate: 0}]}"), 6,
     "limits[0].overrides[0].unlimited: an unlimited key has no numbers"},
    {API ROW("{key: a, rules: [{rate: 0/fortnight}]}"), 6,
     "limits[0].overrides[0].rules[0].rate: "},
    {API ROW("{key: a, rules: [{rate: 5}]}"), 6, "limits[0].overrides[0].rules[0].rate: "},
    {API ROW("key: a\n        rules:\n          - rate: 1/s\n            burst: x"), 9,
     "limits[0].overrides[0].rules[0].burst: "},
    {API ROW("{key: a, lease: 5s}"), 6, "limits[0].overrides[0].lease: "},
    {API ROW("{key: a, when_full: never}"), 6, "limits[0].overrides[0].when_full: "},
    {API ROW("{key: a, adapt: {backoff: 0%}}"), 6, "limits[0].overrides[0].adapt.backoff: "},
    {API ROW("{key: a, mode: shadow}"), 6,
     "limits[0].overrides[0].mode: unknown field here; did you mean limits[].mode?"},
    {API ROW("{key: a, rate: 5/s}"), 6,
     "limits[0].overrides[0].rate: unknown field here; did you mean limits[].rules[].rate?"},
    {API ROW("{key: a, colour: 5}"), 6,
     "limits[0].overrides[0].colour: unknown field; known here are key, unlimited, rules, "
     "lookahead, headroom, max_waiting, when_full, concurrency, lease and adapt"},
    {API ROW("acme"), 6, "limits[0].overrides[0]: is one text; write a mapping"},
    {"limits:\n  - {name: a, rules: [{rate: 1/s}], overrides: 5}\n", 2,
     "limits[0].overrides: is one text; write a list"},
    {"limits:\n  - {name: a, rules: [{rate: 0}]}\n", 2, "limits[0].rules[0].rate: "},
};

Test(overrides, refused)
{
    check_broken(refused, sizeof refused / sizeof refused[0]);
}

Test(overrides, a_key_has_at_most_1024_bytes)
{
    char key[TAKT_KEY_SIZE_MAX + 2], text[TAKT_KEY_SIZE_MAX + 256];
    takt_policy *policy;
    takt_error error;

    for (size_t size = TAKT_KEY_SIZE_MAX; size <= TAKT_KEY_SIZE_MAX + 1; size++) {
        memset(key, 'k', size);
        key[size] = '\0';
        snprintf(text, sizeof text, API ROW("{key: %s, unlimited: true}"), key);
        policy = NULL;
        cr_expect_eq(takt_policy_parse(&policy, "p", text, strlen(text), &error),
                     size <= TAKT_KEY_SIZE_MAX ? 0 : TAKT_E_POLICY);
        takt_policy_free(policy);
    }
    cr_expect_str_eq(error.text,
                     "p:6: limits[0].overrides[0].key: has 1025 bytes; write at most 1024");
}

Test(overrides, thousands_of_keys_are_found_by_a_table)
{
    size_t size = 1024 * 1024, used;
    char *text = malloc(size), key[16], expected[64];
    takt_policy *policy;

    used = (size_t)snprintf(text, size, API);
    for (int i = 1; i <= 5000; i++)
        used += (size_t)snprintf(text + used, size - used,
                                 ROW("{key: account-%d, rules: [{rate: %d/s}]}"), i, i);
    policy = parse(text);
    for (int i = 1; i <= 5000; i++) {
        snprintf(key, sizeof key, "account-%d", i);
        snprintf(expected, sizeof expected, "%d/s, max_waiting 7, override \"account-%d\"", i, i);
        cr_assert_str_eq(of(policy, key), expected);
    }
    cr_expect_str_eq(of(policy, "account-0"), "5/s, max_waiting 7");
    takt_policy_free(policy);
    free(text);
}

Test(overrides, are_listed_in_their_order)
{
    takt_policy *policy =
        parse(API ROW("{key: b*, unlimited: true}") ROW("{key: a, rules: [{rate: 9/s}]}"));
    const char *key = NULL;
    char text[64];

    cr_assert_eq(takt_policy_override(policy, "api", 0, &key, text, sizeof text), 0);
    cr_expect_str_eq(key, "b*");
    cr_expect_str_eq(text, "unlimited");
    cr_assert_eq(takt_policy_override(policy, "api", 1, &key, text, sizeof text), 0);
    cr_expect_str_eq(key, "a");
    cr_expect_str_eq(text, "9/s, max_waiting 7");
    cr_expect_eq(takt_policy_override(policy, "api", 2, &key, text, sizeof text), TAKT_E_NO_LIMIT);
    cr_expect_eq(takt_policy_override(policy, "web", 0, &key, text, sizeof text), TAKT_E_NO_LIMIT);
    takt_policy_free(policy);
}

/* What a queue of an older policy continues with. */
Test(overrides, a_policy_that_follows_another)
{
    takt_policy *old =
        parse(API ROW("{key: a, rules: [{rate: 1/s}]}") ROW("{key: p*, lookahead: 1s}"));
    takt_policy *now = parse(API ROW("{key: b, rules: [{rate: 2/s}]}"));
    takt_policy *hashed =
        parse("limits:\n  - name: api\n    key_hash: true\n    rules: [{rate: 5/s}]\n"
              "    overrides: [{key: a, rules: [{rate: 8/s}]}]\n");
    takt_policy *gone = parse("limits:\n  - {name: web, rules: [{rate: 5/s}]}\n");
    const takt_limit *before = takt_policy_find(old, "api"), *api = takt_policy_find(now, "api");
    const takt_limit *hash = takt_policy_find(hashed, "api");

    cr_expect_eq(takt_policy_renewed(now, takt_overrides_for(before, "a"), "a"), api);
    cr_expect_eq(takt_policy_renewed(now, before, "b"), takt_overrides_for(api, "b"));
    cr_expect_eq(takt_policy_renewed(now, takt_overrides_for(api, "b"), "c"),
                 takt_overrides_for(api, "b"), "it is of this policy already");
    cr_expect_eq(takt_policy_renewed(hashed, takt_overrides_for(before, "a"), "0123"),
                 takt_overrides_for(hash, "a"), "the key is not known: the override stays");
    cr_expect_eq(takt_policy_renewed(hashed, takt_overrides_for(before, "pq"), "0123"), hash);
    cr_expect_eq(takt_policy_renewed(hashed, before, "a"), hash, "a hash, not a key");
    cr_expect_null(takt_policy_renewed(gone, before, "a"));
    takt_policy_free(old);
    takt_policy_free(now);
    takt_policy_free(hashed);
    takt_policy_free(gone);
}
