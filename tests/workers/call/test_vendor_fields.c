/*
 * The remaining quota of a vendor, in all forms of header fields and of their values.
 */
#include <criterion/criterion.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "call/learn.h"
#include "call/vendor_fields.h"

#define NOW            INT64_C(1763692800)
#define UNSAID         VENDOR_UNSAID
#define RESET(seconds) ((int64_t)((seconds)*1e6 + 0.5))
#define COUNT(rows)    (sizeof(rows) / sizeof((rows)[0]))

/* The fields of a limit with `learn: {...}`. */
static takt_caller_vendor_fields fields_of(const char *learn)
{
    takt_caller_vendor_fields fields;
    takt_policy *policy = NULL;
    takt_error error = {0};
    takt_rule_text rules[] = {{.rate = "5/s", .counts = "requests"},
                              {.rate = "5/s", .counts = "tokens"}};
    takt_limit_text limit = {.name = "a", .rules = rules, .rule_count = 2, .learn = learn};

    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    cr_assert_eq(takt_policy_add(policy, &limit, &error), 0, "%s", error.text);
    takt_caller_vendor_fields_open(&fields, policy, "a");
    takt_policy_free(policy);
    return fields;
}

/* Header lines as servers send them: "Name: value", one after the other. */
static void read_lines(takt_caller_vendor_fields *fields, const char *lines)
{
    char name[80], value[120];
    int size = 0;

    for (; sscanf(lines, "%79[^:]: %119[^\n]\n%n", name, value, &size) == 2; lines += size) {
        for (char *at = name; *at; at++)
            *at = (char)tolower((unsigned char)*at);
        takt_caller_vendor_fields_read(fields, name, value);
    }
}

Test(vendor_fields, are_read)
{
    static const struct {
        const char *fields[4][2];
        int64_t remaining;
        double reset; /* seconds */
    } rows[] = {
        {{{"ratelimit", "\"default\";r=50;t=30"}}, 50, 30},
        {{{"ratelimit", "\"burst\";r=10;t=1, \"day\";r=5;t=3600"}}, 5, 3600},
        {{{"ratelimit", "\"a\";r=5;t=3600,\"b\";r=5;t=10"}}, 5, 3600},
        {{{"ratelimit", " \"a, \\\"b;r=1\" ; r=7 ; t=9 "}}, 7, 9},
        {{{"ratelimit", "\"a\";pk=:cHsdsRa894==:;r=7;t=9;x=\"r=1\";y;z=?1"}}, 7, 9},
        {{{"ratelimit", "\"a\";r=7"}}, 7, UNSAID},
        {{{"ratelimit", "\"a\";t=7"}}, UNSAID, UNSAID},
        {{{"ratelimit", "a;r=0;t=4"}}, 0, 4},
        {{{"ratelimit", "\"a\";q=100;w=60"}}, UNSAID, UNSAID},
        {{{"ratelimit", "\"a\";r=-1;t=4"}}, UNSAID, UNSAID},
        {{{"ratelimit", "\"a\";r=x, \"b\";r=3"}}, 3, UNSAID},
        {{{"ratelimit", "\"a;r=3"}}, UNSAID, UNSAID},
        {{{"ratelimit", "limit=100, remaining=10, reset=5"}}, 10, 5},
        {{{"ratelimit", "limit=100,remaining=10"}}, 10, UNSAID},
        {{{"ratelimit", "remaining = 10"}}, UNSAID, UNSAID},
        {{{"ratelimit", ""}}, UNSAID, UNSAID},
        {{{"ratelimit", ",;=,\"\\"}}, UNSAID, UNSAID},
        {{{"ratelimit", "\"a\";r=999999999999999999999;t=4"}}, UNSAID, UNSAID},
        {{{"ratelimit-remaining", "10"}, {"ratelimit-reset", "5"}, {"ratelimit-limit", "9"}},
         10,
         5},
        {{{"x-ratelimit-remaining", " 10 "}, {"x-ratelimit-reset", "5.2"}}, 10, 5.2},
        {{{"x-ratelimit-remaining", "10"}, {"x-ratelimit-reset", "1763692860"}}, 10, 60},
        {{{"x-ratelimit-remaining", "10"}, {"x-ratelimit-reset", "1763692859001"}}, 10, 59.001},
        {{{"x-ratelimit-remaining", "10"}, {"x-ratelimit-reset", "1763692700"}}, 10, 0},
        {{{"x-ratelimit-remaining", "10"}, {"x-ratelimit-reset", "6m0s"}}, 10, 360},
        {{{"x-ratelimit-remaining", "10"}, {"x-ratelimit-reset", "soon"}}, 10, UNSAID},
        {{{"ratelimit", "\"a\";r=9;t=4"}, {"ratelimit", "\"b\";r=3;t=5"}}, 3, 5},
        {{{"x-ratelimit-remaining-requests", "10"}}, UNSAID, UNSAID},
        {{{"x-ratelimit-remaining", "10, 20"}}, UNSAID, UNSAID},
        {{{"x-ratelimit-remaining", "-1"}}, UNSAID, UNSAID},
        {{{"x-ratelimit-remaining", ""}}, UNSAID, UNSAID},
        {{{"x-ratelimit-reset", "5"}}, UNSAID, UNSAID},
        {{{"x-rate-limit-remaining", "10"}, {"x-rate-limit-reset", "5"}}, 10, 5},
        {{{"x-ratelimit-remaining", "10"}, {"ratelimit", "\"a\";r=3;t=60"}}, 3, 60},
        {{{"x-ratelimit-remaining-day", "10"}}, UNSAID, UNSAID},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_caller_vendor_fields fields = fields_of("headers");
        takt_caller_vendor_word words[VENDOR_WORDS_MAX];
        for (int j = 0; j < 4 && rows[i].fields[j][0]; j++)
            takt_caller_vendor_fields_read(&fields, rows[i].fields[j][0], rows[i].fields[j][1]);
        int count = takt_caller_vendor_fields_tell(&fields, NOW, words);
        cr_assert_eq(count, rows[i].remaining != UNSAID, "row %zu", i);
        if (count == 0)
            continue;
        cr_assert_eq(words[0].remaining, rows[i].remaining, "row %zu: %" PRId64, i,
                     words[0].remaining);
        cr_assert_eq(words[0].reset_us, rows[i].reset == UNSAID ? UNSAID : RESET(rows[i].reset),
                     "row %zu: %" PRId64, i, words[0].reset_us);
        cr_assert(!words[0].unit && !words[0].trickles, "row %zu", i);
    }
}

/* Lines as the vendors' documentation and their answers have them. */
Test(vendor_fields, of_each_vendor)
{
    static const struct {
        const char *learn, *lines;
        takt_caller_vendor_word words[5];
    } rows[] = {
        {"openai",
         "x-ratelimit-limit-requests: 60\nx-ratelimit-limit-tokens: 150000\n"
         "x-ratelimit-remaining-requests: 59\nx-ratelimit-remaining-tokens: 149984\n"
         "x-ratelimit-reset-requests: 1s\nx-ratelimit-reset-tokens: 6m0s\n",
         {{"requests", 59, RESET(1), true}, {"tokens", 149984, RESET(360), true}}},
        {"openai",
         "x-ratelimit-limit-requests: 1000\nx-ratelimit-limit-tokens: 8000\n"
         "x-ratelimit-remaining-requests: 998\nx-ratelimit-remaining-tokens: 7927\n"
         "x-ratelimit-reset-requests: 2m52.8s\nx-ratelimit-reset-tokens: 547ms\n",
         {{"requests", 998, RESET(172.8), true}, {"tokens", 7927, RESET(0.547), true}}},
        {"openai",
         "x-ratelimit-remaining-tokens: 159976\n"
         "x-ratelimit-remaining-tokens_usage_based: 7\nx-ratelimit-reset-tokens: 20ms\n",
         {{"tokens", 159976, RESET(0.02), true}}},
        {"openai", "x-ratelimit-remaining: 5\nx-ratelimit-remaining-tokens: -27689\n", {{0}}},
        {"anthropic",
         "anthropic-ratelimit-requests-limit: 1000\nanthropic-ratelimit-requests-remaining: 999\n"
         "anthropic-ratelimit-requests-reset: 2025-11-21T02:41:00Z\n"
         "anthropic-ratelimit-tokens-limit: 100000\nanthropic-ratelimit-tokens-remaining: 99000\n"
         "anthropic-ratelimit-tokens-reset: 2025-11-21T02:40:01Z\n"
         "anthropic-ratelimit-input-tokens-remaining: 80000\n"
         "anthropic-ratelimit-input-tokens-reset: 2025-11-21T02:40:00Z\n"
         "anthropic-ratelimit-output-tokens-remaining: 0\n"
         "anthropic-ratelimit-output-tokens-reset: 2025-11-21T03:41:00+01:00\n",
         {{"requests", 999, RESET(60), true},
          {"tokens", 99000, RESET(1), true},
          {"input_tokens", 80000, RESET(0), true},
          {"output_tokens", 0, RESET(60), true}}},
        {"github",
         "x-ratelimit-limit: 5000\nx-ratelimit-remaining: 4999\nx-ratelimit-used: 1\n"
         "x-ratelimit-reset: 1763696400\nx-ratelimit-resource: core\n",
         {{NULL, 4999, RESET(3600), false}}},
        {"github", "x-ratelimit-reset: 1763696400\n", {{0}}},
        {"github", "X-Shopify-Shop-Api-Call-Limit: 32/40\nratelimit-remaining: 3\n", {{0}}},
        {"shopify", "X-Shopify-Shop-Api-Call-Limit: 32/40\n", {{NULL, 8, UNSAID, false}}},
        {"shopify", "X-Shopify-Shop-Api-Call-Limit: 41/40\n", {{NULL, 0, UNSAID, false}}},
        {"shopify", "X-Shopify-Shop-Api-Call-Limit: 1/x\n", {{0}}},
        {"discord",
         "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1470173023\n"
         "X-RateLimit-Reset-After: 4.815\nX-RateLimit-Bucket: abcd1234\n",
         {{NULL, 0, RESET(4.815), false}}},
        {"{remaining: X-Left, reset: X-Left-Until, unit: tokens}",
         "X-Left: 12\nX-Left-Until: 2025-11-21T02:41:00.5Z\nx-ratelimit-remaining: 1\n",
         {{"tokens", 12, RESET(60.5), false}}},
        {"{remaining: X-Left}", "X-Left-Until: 5\nX-Left: 3/10\n", {{NULL, 7, UNSAID, false}}},
        {"off", "x-ratelimit-remaining: 1\nratelimit: \"a\";r=1\n", {{0}}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_caller_vendor_fields fields = fields_of(rows[i].learn);
        takt_caller_vendor_word words[VENDOR_WORDS_MAX];
        int expected = 0;
        read_lines(&fields, rows[i].lines);
        int count = takt_caller_vendor_fields_tell(&fields, NOW, words);
        for (const takt_caller_vendor_word *word = rows[i].words;
             word->reset_us != 0 || word->remaining != 0; word++, expected++) {
            cr_assert_lt(expected, count, "row %zu: %d words", i, count);
            cr_assert_eq(words[expected].remaining, word->remaining, "row %zu", i);
            cr_assert_eq(words[expected].reset_us, word->reset_us, "row %zu: %" PRId64, i,
                         words[expected].reset_us);
            cr_assert_eq(words[expected].trickles, word->trickles, "row %zu", i);
            cr_assert(word->unit
                          ? words[expected].unit && strcmp(words[expected].unit, word->unit) == 0
                          : !words[expected].unit,
                      "row %zu", i);
        }
        cr_assert_eq(count, expected, "row %zu: %d words", i, count);
        takt_caller_vendor_fields_begin(&fields);
        cr_assert_eq(takt_caller_vendor_fields_tell(&fields, NOW, words), 0, "row %zu", i);
    }
}

Test(vendor_text, resets)
{
    static const struct {
        const char *text;
        int64_t us; /* -1: unreadable */
        bool is_instant;
    } rows[] = {
        {"0", 0, false},
        {"1.5", 1500000, false},
        {" 64 ", 64000000, false},
        {"0.0000001", 1, false},
        {"6m0s", 360000000, false},
        {"20ms", 20000, false},
        {"1h2m3.5s", 3723500000, false},
        {"1d", INT64_C(86400000000), false},
        {"7.66s", 7660000, false},
        {"500us", 500, false},
        {"1.5\xc2\xb5s", 2, false},
        {"1.5\xce\xbcs", 2, false},
        {"17ns", 1, false},
        {"1763692800", INT64_C(1763692800000000), true},
        {"1763692800.25", INT64_C(1763692800250000), true},
        {"1763692800123", INT64_C(1763692800123000), true},
        {"2025-11-21T02:40:00Z", INT64_C(1763692800000000), true},
        {"2025-11-21T02:40:00.25+00:00", INT64_C(1763692800250000), true},
        {"2025-11-21 02:40:00", -1, false},
        {"", -1, false},
        {"-5", -1, false},
        {"5 s", -1, false},
        {"5x", -1, false},
        {"s", -1, false},
        {"1m2", -1, false},
        {"1e3", -1, false},
        {"999999999999999999999", -1, false},
        {"999999999h", -1, false},
        {"in a minute", -1, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_caller_reset reset = {-7, false};
        bool read = takt_caller_vendor_reset(rows[i].text, &reset);
        cr_assert_eq(read, rows[i].us >= 0, "row %zu", i);
        if (read)
            cr_assert(reset.us == rows[i].us && reset.is_instant == rows[i].is_instant,
                      "row %zu: %" PRId64, i, reset.us);
    }
}

Test(vendor_text, counts)
{
    static const struct {
        const char *text;
        int64_t count; /* -1: unreadable */
    } rows[] = {{"0", 0},     {" 10 ", 10}, {"10.9", 10}, {"32/40", 8}, {"40/40", 0},
                {"41/40", 0}, {"0/40", 40}, {"", -1},     {"-1", -1},   {"32/", -1},
                {"/40", -1},  {"1, 2", -1}, {"ten", -1},  {"1/2/3", -1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t count = -7;
        cr_assert_eq(takt_caller_vendor_count(rows[i].text, &count), rows[i].count >= 0, "row %zu",
                     i);
        cr_assert_eq(count, rows[i].count >= 0 ? rows[i].count : -7, "row %zu", i);
    }
}

Test(vendor_fields, a_word_holds_for_a_while)
{
    static const struct {
        takt_caller_vendor_word word;
        int64_t age_us;
        bool holds;
    } rows[] = {
        {{NULL, 10, UNSAID, false}, 1000000, true},
        {{NULL, 10, UNSAID, false}, 1000001, false},
        {{NULL, 10, RESET(1), false}, 0, false},
        {{NULL, 10, RESET(2), false}, 999999, true},
        {{NULL, 10, RESET(2), false}, 1000000, false},
        {{NULL, 10, RESET(3600), false}, 1000001, false},
        {{NULL, 0, RESET(3600), false}, 30000000, true},
        {{NULL, 0, RESET(3600), true}, 30000000, false},
        {{NULL, 0, RESET(3600), true}, 1000000, true},
        {{NULL, 0, RESET(31), false}, 30000000, false},
        {{NULL, 0, UNSAID, false}, 1000001, false},
        {{NULL, 0, RESET(1000000000000), false}, 30000000, true},
        {{NULL, 0, RESET(1000000000000), false}, 86400000000, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        cr_assert_eq(takt_caller_learn_holds(&rows[i].word, rows[i].age_us), rows[i].holds,
                     "row %zu", i);
}
