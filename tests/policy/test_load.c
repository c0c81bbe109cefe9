/*
 * Whole files: good ones with their numbers, and fields with refused values, each with its line.
 * Errors in a file's shape are in test_outline.c, in its YAML in test_syntax.c.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/broken.h"
#include "policy/policy.h"

#define RULE(rate) "limits:\n  - name: a\n    rules:\n      - rate: " rate "\n"
#define BURST(burst)                                                                               \
    "limits:\n  - name: a\n    rules:\n      - rate: 5/s\n        burst: " burst "\n"
#define FIELD(field, value) LIMIT "    " field ": " value "\n"
#define PERMITS(lease)      "limits:\n  - name: a\n    concurrency: 3\n    lease: " lease "\n"
#define NAME(name)          "limits:\n  - rules: [{rate: 5/s}]\n    name: " name "\n"
#define RATE_AT             "limits[0].rules[0].rate: "
#define BURST_AT            "limits[0].rules[0].burst: "
#define LONG_16             "abcdefghijklmnop"
#define LONG_64             LONG_16 LONG_16 LONG_16 LONG_16

static const broken broken_values[] = {
    {"limits:\n  - name: a\n    rules: [{rate: 5/s}]\n  - name: b\n    rules:\n\n      - rate: "
     "100/m\n",
     7, "limits[1].rules[0].rate: \"100/m\": unknown unit \"m\"; use ms, s, min, h or day"},
    {RULE("100"), 4, RATE_AT "\"100\": is not a rate; write TOKENS/PERIOD, like 100/s or 10/60s"},
    {RULE("10 / s"), 4,
     RATE_AT "\"10 / s\": has blanks in it; write it without, like 100/s or 30s"},
    {RULE("0/s"), 4, RATE_AT "\"0/s\": lets nothing through; write at least 1 token"},
    {RULE("-5/s"), 4, RATE_AT "\"-5/s\": is negative"},
    {RULE("+5/s"), 4, RATE_AT "\"+5/s\": begins with a sign"},
    {RULE("5/-1s"), 4, RATE_AT "\"5/-1s\": has a negative period"},
    {RULE("5/0s"), 4, RATE_AT "\"5/0s\": has a period of 0"},
    {RULE("1.5/s"), 4, RATE_AT "\"1.5/s\": has tokens that are not a whole number"},
    {RULE("5/1.5s"), 4, RATE_AT "\"5/1.5s\": is not a whole number and a unit"},
    {RULE("010/s"), 4, RATE_AT "\"010/s\": has a number that begins with 0"},
    {RULE("0x10/s"), 4, RATE_AT "\"0x10/s\": is not a rate"},
    {RULE("1e3/s"), 4, RATE_AT "\"1e3/s\": is not a rate"},
    {RULE("1000000001/s"), 4, RATE_AT "\"1000000001/s\": has too many tokens"},
    {RULE("18446744073709551617/s"), 4, RATE_AT "\"18446744073709551617/s\": has too many tokens"},
    {RULE("1/18251day"), 4, RATE_AT "\"1/18251day\": is too long"},
    {RULE("1/9223372036854775808us"), 4, RATE_AT "\"1/9223372036854775808us\": is too long"},
    {RULE("1/9223372036854775807day"), 4, RATE_AT "\"1/9223372036854775807day\": is too long"},
    {RULE("5/m"), 4, RATE_AT "\"5/m\": unknown unit \"m\""},
    {RULE("5/S"), 4, RATE_AT "\"5/S\": unknown unit \"S\""},
    {RULE("5/week"), 4, RATE_AT "\"5/week\": unknown unit \"week\""},
    {RULE("5/"), 4, RATE_AT "\"5/\": has no period"},
    {RULE("5/60"), 4, RATE_AT "\"5/60\": has no unit"},
    {RULE("yes"), 4, RATE_AT "\"yes\": is not a rate"},
    {RULE("'5/s '"), 4, RATE_AT "\"5/s \": has blanks in it"},
    {RULE("\"\\e[2J\""), 4, RATE_AT "has a line break or another control character"},
    {RULE("\xe2\x80\xae"
          "5/s"),
     4, RATE_AT "\"\\xe2\\x80\\xae5/s\": is not a rate"},
    {"limits:\n  - name: a\n    rules:\n      - rate:\n          5/m\n", 5, RATE_AT "\"5/m\""},
    {"limits:\n  - name: a\n    rules:\n      - burst: 3\n", 4,
     "limits[0].rules[0].rate: is missing; write one"},
    {BURST("0"), 5, BURST_AT "\"0\": write a whole number from 1 to 1000000000"},
    {BURST("-1"), 5, BURST_AT "\"-1\": write a whole number"},
    {BURST("1.0"), 5, BURST_AT "\"1.0\": write a whole number"},
    {BURST("10/s"), 5, BURST_AT "\"10/s\": write a whole number"},
    {BURST("maybe"), 5, BURST_AT "\"maybe\": write a whole number"},
    {BURST("true"), 5, BURST_AT "\"true\": write a whole number"},
    {BURST("0x10"), 5, BURST_AT "\"0x10\": write a whole number"},
    {BURST("1_000"), 5, BURST_AT "\"1_000\": write a whole number"},
    {BURST("1000000001"), 5, BURST_AT "\"1000000001\": write a whole number"},
    {BURST("18446744073709551617"), 5, BURST_AT "\"18446744073709551617\": write a whole number"},
    {"limits:\n  - name: a\n    rules:\n      - rate: 1/365day\n        burst: 51\n", 5,
     BURST_AT "51 is more"},
    {FIELD("lookahead", "250"), 4, "limits[0].lookahead: \"250\": has no unit"},
    {FIELD("lookahead", "0ms"), 4, "limits[0].lookahead: \"0ms\": write 1ms to 10s"},
    {FIELD("lookahead", "999us"), 4, "limits[0].lookahead: \"999us\": write 1ms to 10s"},
    {FIELD("lookahead", "10001ms"), 4, "limits[0].lookahead: \"10001ms\": write 1ms to 10s"},
    {FIELD("lookahead", "-1s"), 4, "limits[0].lookahead: \"-1s\": is negative"},
    {FIELD("lookahead", "0.5s"), 4, "limits[0].lookahead: \"0.5s\": is not a whole number"},
    {FIELD("lookahead", "1 s"), 4, "limits[0].lookahead: \"1 s\": has blanks"},
    {FIELD("headroom", "2"), 4, "limits[0].headroom: \"2\": write 0% to 99.99%"},
    {FIELD("headroom", "0.02"), 4, "limits[0].headroom: \"0.02\": write 0%"},
    {FIELD("headroom", "100%"), 4, "limits[0].headroom: \"100%\": write 0%"},
    {FIELD("headroom", "\"-1%\""), 4, "limits[0].headroom: \"-1%\": write 0%"},
    {FIELD("headroom", ".5%"), 4, "limits[0].headroom: \".5%\": write 0%"},
    {FIELD("headroom", "5.%"), 4, "limits[0].headroom: \"5.%\": write 0%"},
    {FIELD("headroom", "0.125%"), 4, "limits[0].headroom: \"0.125%\": write 0%"},
    {FIELD("headroom", "02%"), 4, "limits[0].headroom: \"02%\": write 0%"},
    {FIELD("headroom", "2 %"), 4, "limits[0].headroom: \"2 %\": write 0%"},
    {FIELD("headroom", "2%%"), 4, "limits[0].headroom: \"2%%\": write 0%"},
    {"limits:\n  - name: a\n    headroom: 0.01%\n    rules: [{rate: 999999999/s}]\n", 3,
     "limits[0].headroom: too fine"},
    {FIELD("max_waiting", "0"), 4,
     "limits[0].max_waiting: \"0\": write a whole number from 1 to 1000000000"},
    {FIELD("max_waiting", "-5"), 4, "limits[0].max_waiting: \"-5\": write a whole number"},
    {FIELD("max_waiting", "1000000001"), 4, "limits[0].max_waiting: \"1000000001\": write"},
    {FIELD("max_waiting", "99999999999999999999"), 4,
     "limits[0].max_waiting: \"99999999999999999999\": write"},
    {FIELD("max_waiting", "many"), 4, "limits[0].max_waiting: \"many\": write a whole number"},
    {FIELD("concurrency", "0"), 4,
     "limits[0].concurrency: \"0\": write a whole number from 1 to 1000000000"},
    {FIELD("concurrency", "-1"), 4, "limits[0].concurrency: \"-1\": write a whole number"},
    {FIELD("concurrency", "1000000001"), 4, "limits[0].concurrency: \"1000000001\": write"},
    {FIELD("concurrency", "3/s"), 4, "limits[0].concurrency: \"3/s\": write a whole number"},
    {FIELD("concurrency", "unlimited"), 4, "limits[0].concurrency: \"unlimited\": write"},
    {FIELD("lease", "30s"), 4, "limits[0].lease: needs concurrency; add it or remove lease"},
    {PERMITS("30"), 4, "limits[0].lease: \"30\": has no unit"},
    {PERMITS("999ms"), 4, "limits[0].lease: \"999ms\": write 1s to 1day"},
    {PERMITS("0s"), 4, "limits[0].lease: \"0s\": write 1s to 1day"},
    {PERMITS("2day"), 4, "limits[0].lease: \"2day\": write 1s to 1day"},
    {PERMITS("-1s"), 4, "limits[0].lease: \"-1s\": is negative"},
    {PERMITS("30s\n    headroom: 2%"), 5,
     "limits[0].headroom: needs rules; add them or remove headroom"},
    {FIELD("mode", "shadows"), 4,
     "limits[0].mode: there is no \"shadows\"; did you mean \"shadow\"?"},
    {FIELD("on_store_failure", "shared"), 4,
     "limits[0].on_store_failure: there is no \"shared\"; did you mean \"share\"?"},
    {"limits:\n  - rules: [{rate: 5/s}]\n", 2,
     "limits[0].name: is missing; write a name for the limit, like name: mail"},
    {NAME("a b"), 3, "limits[0].name: \"a b\": a name is made of a-z A-Z 0-9 . _ - only"},
    {NAME("a/b"), 3, "limits[0].name: \"a/b\": a name is made of"},
    {NAME("a:b"), 3, "limits[0].name: \"a:b\": a name is made of"},
    {NAME("caf\xc3\xa9"), 3, "limits[0].name: \"caf\xc3\xa9\": a name is made of"},
    {NAME("{x}"), 3,
     "limits[0].name: is a mapping; write one value, in quotes if it begins with a bracket or "
     "brace"},
    {NAME("'{x}'"), 3, "limits[0].name: \"{x}\": a name is made of"},
    {NAME(LONG_64 "q"), 3,
     "limits[0].name: \"" LONG_16 LONG_16 LONG_16 "...\": has 65 characters; write at most 64"},
    {LIMIT "  - name: a\n    rules: [{rate: 1/s}]\n", 4,
     "limits[1].name: \"a\" is already the name of limits[0]; write another"},
    {LIMIT "  - name: b\n    rules: [{rate: 1/s}]\n  - rules: [{rate: 1/s}]\n    name: a\n", 7,
     "limits[2].name: \"a\" is already the name of limits[0]"},
    {"limits:\n  - name: a\n", 2, "limits[0].rules: are missing; write at least one"},
    {"limits:\n  - name: a\n    rules: []\n", 3,
     "limits[0].rules: are missing; write at least one"},
    {"limits:\n  - name: a\n    rules:\n    - {rate: 1/s}\n    - {rate: 1/s}\n    - {rate: 1/s}\n"
     "    - {rate: 1/s}\n    - {rate: 1/s}\n    - {rate: 1/s}\n    - {rate: 1/s}\n    - {rate: "
     "1/s}\n"
     "    - {rate: 1/s}\n",
     4, "limits[0].rules: there are 9; write at most 8"},
    {"store: 'memory:'\n", 1, "limits: are missing; write at least one limit"},
    {"limits: []\n", 1, "limits: are missing; write at least one limit"},
    {"{}\n", 1, "limits: are missing; write at least one limit"},
    {LIMIT "namespace: a b\n", 4, "namespace: \"a b\": a name is made of"},
    {LIMIT "namespace: \"{mail\"\n", 4, "namespace: \"{mail\": has a brace at one end"},
    {LIMIT "namespace: " LONG_64 "q\n", 4, "namespace: \"" LONG_16},
    {"# first\n\nstore: nonsense\n" LIMIT, 3, "store: "},
    {FIELD("within", "b"), 4,
     "limits[0].within: there is no limit \"b\"; write the name of another limit"},
    {FIELD("within", "a"), 4,
     "limits[0].within: forms a circle (a -> a); remove within from one of them"},
    {FIELD("within", "a b"), 4, "limits[0].within: \"a b\": a name is made of"},
    {"limits:\n  - {name: sendgrid, rules: [{rate: 1/s}]}\n  - name: account\n    rules: [{rate: "
     "1/s}]\n"
     "    within: sendgird\n",
     5, "limits[1].within: there is no limit \"sendgird\"; did you mean \"sendgrid\"?"},
    {"limits:\n  - {name: d, rules: [{rate: 1/s}], within: b}\n  - {name: c, rules: [{rate: 1/s}], "
     "within: a}\n"
     "  - {name: a, rules: [{rate: 1/s}], within: b}\n  - {name: b, rules: [{rate: 1/s}], within: "
     "c}\n",
     3, "limits[1].within: forms a circle (c -> a -> b -> c); remove within from one of them"},
};

Test(load, refuses_values_at_their_line)
{
    check_broken(broken_values, sizeof broken_values / sizeof broken_values[0]);
}

/* One good file each: what the first limit must come to. */
static const struct {
    const char *text;
    int rule_count;
    int64_t limit, period_us, burst, headroom_bp; /* of the last rule */
    int64_t lookahead_us, max_waiting;
    const char *words;
} good[] = {
    {RULE("100/s"), 1, 100, 1000000, 1, 0, 250000, 0, "100/s"},
    {RULE("20/min"), 1, 20, 60000000, 1, 0, 250000, 0, "20/min"},
    {RULE("10/60s"), 1, 10, 60000000, 1, 0, 250000, 0, "10/min"},
    {RULE("3/250ms"), 1, 3, 250000, 1, 0, 250000, 0, "3/250ms"},
    {RULE("800/day"), 1, 800, INT64_C(86400000000), 1, 0, 250000, 0, "800/day"},
    {RULE("1/us"), 1, 1, 1, 1, 0, 250000, 0, "1/us"},
    {RULE("1/18250day"), 1, 1, INT64_C(1576800000000000), 1, 0, 250000, 0, "1/18250day"},
    {RULE("1000000000/s"), 1, 1000000000, 1000000, 1, 0, 250000, 0, "1000000000/s"},
    {RULE("\"100/s\""), 1, 100, 1000000, 1, 0, 250000, 0, "100/s"},
    {RULE("'100/s'   # a comment"), 1, 100, 1000000, 1, 0, 250000, 0, "100/s"},
    {RULE(">-\n          100/s"), 1, 100, 1000000, 1, 0, 250000, 0, "100/s"},
    {BURST("1"), 1, 5, 1000000, 1, 0, 250000, 0, "5/s"},
    {BURST("10"), 1, 5, 1000000, 10, 0, 250000, 0, "5/s burst 10"},
    {BURST("1000000000"), 1, 5, 1000000, 1000000000, 0, 250000, 0, "5/s burst 1000000000"},
    {FIELD("lookahead", "1ms"), 1, 5, 1000000, 1, 0, 1000, 0, "5/s, lookahead 1ms"},
    {FIELD("lookahead", "10s"), 1, 5, 1000000, 1, 0, 10000000, 0, "5/s, lookahead 10s"},
    {FIELD("headroom", "0%"), 1, 5, 1000000, 1, 0, 250000, 0, "5/s"},
    {FIELD("headroom", "2%"), 1, 5, 1000000, 1, 200, 250000, 0, "5/s, headroom 2%"},
    {FIELD("headroom", "0.5%"), 1, 5, 1000000, 1, 50, 250000, 0, "5/s, headroom 0.5%"},
    {FIELD("headroom", "0.50%"), 1, 5, 1000000, 1, 50, 250000, 0, "5/s, headroom 0.5%"},
    {FIELD("headroom", "0.05%"), 1, 5, 1000000, 1, 5, 250000, 0, "5/s, headroom 0.05%"},
    {FIELD("headroom", "99.99%"), 1, 5, 1000000, 1, 9999, 250000, 0, "5/s, headroom 99.99%"},
    {FIELD("max_waiting", "1"), 1, 5, 1000000, 1, 0, 250000, 1, "5/s, max_waiting 1"},
    {FIELD("max_waiting", "1000000000"), 1, 5, 1000000, 1, 0, 250000, 1000000000,
     "5/s, max_waiting 1000000000"},
    {FIELD("on_store_failure", "wait"), 1, 5, 1000000, 1, 0, 250000, 0, "5/s"},
    {FIELD("on_store_failure", "share"), 1, 5, 1000000, 1, 0, 250000, 0,
     "5/s, on_store_failure share"},
    {FIELD("mode", "enforce"), 1, 5, 1000000, 1, 0, 250000, 0, "5/s"},
    {FIELD("mode", "shadow"), 1, 5, 1000000, 1, 0, 250000, 0, "5/s, mode shadow"},
    {FIELD("key_hash", "false"), 1, 5, 1000000, 1, 0, 250000, 0, "5/s"},
    {FIELD("key_hash", "true"), 1, 5, 1000000, 1, 0, 250000, 0, "5/s, key_hash"},
    {FIELD("learn", "off"), 1, 5, 1000000, 1, 0, 250000, 0, "5/s"},
    {FIELD("learn", "headers"), 1, 5, 1000000, 1, 0, 250000, 0, "5/s, learn headers"},
    {NAME(LONG_64), 1, 5, 1000000, 1, 0, 250000, 0, "5/s"},
    {NAME("true"), 1, 5, 1000000, 1, 0, 250000, 0, "5/s"},
    {NAME("'null'"), 1, 5, 1000000, 1, 0, 250000, 0, "5/s"},
    {NAME("0"), 1, 5, 1000000, 1, 0, 250000, 0, "5/s"},
    {"\xef\xbb\xbf" LIMIT, 1, 5, 1000000, 1, 0, 250000, 0, "5/s"},
    {"%YAML 1.1\n---\n" LIMIT "...\n", 1, 5, 1000000, 1, 0, 250000, 0, "5/s"},
    {"limits:\r\n- name: a\r\n  rules:\r\n  - rate: 5/s\r\n", 1, 5, 1000000, 1, 0, 250000, 0,
     "5/s"},
    {"{\"limits\": [{\"name\": \"a\", \"rules\": [{\"rate\": \"5/s\", \"burst\": 7}]}]}", 1, 5,
     1000000, 7, 0, 250000, 0, "5/s burst 7"},
    {"limits:\n- name: a\n  headroom: 1%\n  rules:\n  - rate: 1/s\n  - rate: 20/min\n    burst: 3\n"
     "  - rate: 800/day\n    burst: 20\n",
     3, 800, INT64_C(86400000000), 20, 100, 250000, 0,
     "1/s, 20/min burst 3, 800/day burst 20, headroom 1%"},
};

Test(load, reads_the_numbers)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        takt_policy *policy = NULL;
        takt_error error = {0};
        char words[256];
        cr_assert_eq(
            takt_policy_parse(&policy, "takt.yaml", good[i].text, strlen(good[i].text), &error), 0,
            "row %zu: %s", i, error.text);
        const takt_limit *limit = takt_policy_find(policy, takt_policy_name(policy, 0));
        cr_assert_eq(limit->numbers.rule_count, good[i].rule_count, "row %zu", i);
        const takt_rule *rule = &limit->numbers.rules[limit->numbers.rule_count - 1];
        cr_expect_eq(rule->algorithm, &takt_gcra, "row %zu", i);
        cr_expect_eq(rule->limit, good[i].limit, "row %zu", i);
        cr_expect_eq(rule->period_us, good[i].period_us, "row %zu", i);
        cr_expect_eq(rule->burst, good[i].burst, "row %zu", i);
        cr_expect_eq(rule->headroom_bp, good[i].headroom_bp, "row %zu", i);
        cr_expect_gt(rule->tokens, 0, "row %zu is not prepared", i);
        cr_expect_eq(limit->numbers.lookahead_us, good[i].lookahead_us, "row %zu", i);
        cr_expect_eq(limit->numbers.max_waiting, good[i].max_waiting, "row %zu", i);
        cr_expect_null(limit->within, "row %zu", i);
        cr_assert_eq(takt_policy_describe(policy, limit->name, words, sizeof words), 0);
        cr_expect_str_eq(words, good[i].words, "row %zu: %s", i, words);
        takt_policy_free(policy);
    }
}

Test(load, reads_everything_there_is)
{
    static const char text[] =
        "store: memory:fleet\nnamespace: prod\nlimits:\n"
        "  - name: account\n    rules: [{rate: 5/s}]\n    within: vendor\n"
        "  - name: vendor\n    rules: [{rate: 100/s, burst: 10}]\n    lookahead: 1s\n"
        "    headroom: 2%\n    max_waiting: 10000\n";
    takt_policy *policy = NULL;
    takt_error error = {0};
    char words[64];
    cr_assert_eq(takt_policy_parse(&policy, "takt.yaml", text, strlen(text), &error), 0, "%s",
                 error.text);
    cr_assert_str_eq(takt_policy_store(policy), "memory:fleet");
    cr_assert_str_eq(takt_policy_namespace(policy), "prod");
    cr_assert_eq(takt_policy_count(policy), 2);
    cr_assert_str_eq(takt_policy_name(policy, 0), "account");
    cr_assert_str_eq(takt_policy_name(policy, 1), "vendor");
    cr_assert_eq(takt_policy_find(policy, "account")->within, takt_policy_find(policy, "vendor"));
    cr_assert_eq(takt_policy_describe(policy, "account", words, sizeof words), 0);
    cr_assert_str_eq(words, "5/s, within vendor");
    takt_policy_free(policy);
}

Test(load, permits)
{
    static const struct {
        const char *text;
        int rule_count;
        int64_t concurrency, lease_us;
        const char *words;
    } rows[] = {
        {LIMIT, 1, 0, 0, "5/s"},
        {FIELD("concurrency", "1"), 1, 1, INT64_C(30000000), "5/s, concurrency 1"},
        {FIELD("concurrency", "1000000000"), 1, 1000000000, INT64_C(30000000),
         "5/s, concurrency 1000000000"},
        {"limits:\n  - name: a\n    concurrency: 3\n", 0, 3, INT64_C(30000000), "concurrency 3"},
        {"limits:\n  - name: a\n    rules: []\n    concurrency: 3\n", 0, 3, INT64_C(30000000),
         "concurrency 3"},
        {PERMITS("30s"), 0, 3, INT64_C(30000000), "concurrency 3"},
        {PERMITS("1s"), 0, 3, 1000000, "concurrency 3, lease 1s"},
        {PERMITS("90s"), 0, 3, 90000000, "concurrency 3, lease 90s"},
        {PERMITS("1day\n    max_waiting: 5\n    lookahead: 1s"), 0, 3, INT64_C(86400000000),
         "concurrency 3, lease 1day, lookahead 1s, max_waiting 5"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_policy *policy = NULL;
        takt_error error = {0};
        char words[128];
        cr_assert_eq(
            takt_policy_parse(&policy, "takt.yaml", rows[i].text, strlen(rows[i].text), &error), 0,
            "row %zu: %s", i, error.text);
        const takt_limit *limit = takt_policy_find(policy, "a");
        cr_expect_eq(limit->numbers.rule_count, rows[i].rule_count, "row %zu", i);
        cr_expect_eq(limit->numbers.concurrency, rows[i].concurrency, "row %zu", i);
        cr_expect_eq(limit->numbers.lease_us, rows[i].lease_us, "row %zu", i);
        takt_policy_describe(policy, "a", words, sizeof words);
        cr_expect_str_eq(words, rows[i].words, "row %zu: %s", i, words);
        takt_policy_free(policy);
    }
}

Test(load, the_text_need_not_end_with_nul)
{
    static const char text[] = LIMIT "nonsense";
    takt_policy *policy = NULL;
    cr_assert_eq(takt_policy_parse(&policy, "takt.yaml", text, sizeof LIMIT - 1, NULL), 0);
    takt_policy_free(policy);
}

Test(load, arguments_that_are_none)
{
    takt_policy *policy = NULL;
    takt_error error = {0};
    cr_assert_eq(takt_policy_parse(NULL, "takt.yaml", "", 0, &error), TAKT_E_INVALID);
    cr_assert_eq(takt_policy_parse(&policy, NULL, "", 0, &error), TAKT_E_INVALID);
    cr_assert_eq(takt_policy_parse(&policy, "takt.yaml", NULL, 1, &error), TAKT_E_INVALID);
    cr_assert_eq(takt_policy_load(&policy, NULL, NULL), TAKT_E_INVALID);
    cr_assert_eq(takt_policy_parse(&policy, "takt.yaml", "x", 1, NULL), TAKT_E_POLICY);
    cr_assert_eq(takt_policy_parse(&policy, "takt.yaml", NULL, 0, NULL), TAKT_E_POLICY);
    cr_assert_null(policy);
}

Test(load, files)
{
    char path[] = "/tmp/takt-test-load-XXXXXX";
    takt_policy *policy = NULL;
    takt_error error = {0};
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, LIMIT, sizeof LIMIT - 1), (ssize_t)sizeof LIMIT - 1);
    int code = takt_policy_load(&policy, path, &error);
    close(file);
    unlink(path);
    cr_assert_eq(code, 0, "%s", error.text);
    cr_assert_eq(takt_policy_has(policy, "a"), 1);
    takt_policy_free(policy);
    policy = NULL;
    cr_assert_eq(takt_policy_load(&policy, "/nowhere/takt.yaml", &error), TAKT_E_POLICY);
    cr_assert_str_eq(error.text, "/nowhere/takt.yaml: cannot be read: No such file or directory");
    cr_assert_null(policy);
}

/* ---- policies that follow -------------------------------------------------------------------- */

Test(load, one_that_follows)
{
    static const char text[] = "policy: store\nstore: redis://h\nnamespace: prod\n";
    takt_rule_text rule = {.rate = "1/s"};
    takt_limit_text limit = {.name = "a", .rules = &rule, .rule_count = 1};
    takt_policy *policy = NULL;
    takt_error error = {0};
    cr_assert_eq(takt_policy_parse(&policy, "takt.yaml", text, strlen(text), &error), 0, "%s",
                 error.text);
    cr_expect(takt_policy_follows(policy));
    cr_expect_eq(takt_policy_count(policy), 0);
    cr_expect_str_eq(takt_policy_store(policy), "redis://h");
    cr_expect_str_eq(takt_policy_namespace(policy), "prod");
    cr_expect_eq(takt_policy_add(policy, &limit, &error), TAKT_E_POLICY);
    cr_expect_not_null(strstr(error.text, "takt apply"), "%s", error.text);
    takt_policy_free(policy);

    cr_assert_eq(takt_policy_parse(&policy, "takt.yaml", LIMIT, strlen(LIMIT), &error), 0);
    cr_expect(!takt_policy_follows(policy));
    cr_expect_eq(takt_policy_follow(policy, &error), TAKT_E_POLICY);
    cr_expect(!takt_policy_follows(policy));
    takt_policy_free(policy);
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    cr_expect_eq(takt_policy_follow(policy, &error), 0);
    cr_expect(takt_policy_follows(policy));
    takt_policy_free(policy);
}

Test(load, one_that_follows_has_no_limits)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"policy: stor\n", "takt.yaml:1: policy: \"stor\": write store "},
        {"policy: store\n" LIMIT, "takt.yaml:3: limits: with `policy: store` "},
        {"policy: store\nrevision: 3\n", "takt.yaml:2: revision: with `policy: store` "},
        {"polcy: store\n", "takt.yaml:1: polcy: unknown field; did you mean \"policy\"?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_policy *policy = NULL;
        takt_error error = {0};
        cr_expect_eq(
            takt_policy_parse(&policy, "takt.yaml", rows[i].text, strlen(rows[i].text), &error),
            TAKT_E_POLICY);
        cr_expect_eq(strncmp(error.text, rows[i].words, strlen(rows[i].words)), 0, "%s",
                     error.text);
        cr_expect_null(policy);
    }
}

Test(load, keeps_its_text)
{
    takt_policy *policy = NULL;
    size_t size;
    cr_assert_eq(
        takt_policy_parse(&policy, "takt.yaml", "\xef\xbb\xbf" LIMIT, strlen(LIMIT) + 3, NULL), 0);
    cr_expect_str_eq(takt_policy_text(policy, &size), LIMIT);
    cr_expect_eq(size, strlen(LIMIT));
    takt_policy_free(policy);
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    cr_expect_null(takt_policy_text(policy, &size));
    takt_policy_free(policy);
}
