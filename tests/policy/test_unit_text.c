/*
 * What rules count: requests and up to four named units, the amount of an acquire that states none,
 * and errors with what to write instead.
 */
#include "policy/broken.h"
#include "policy/overrides.h"
#include "policy/policy.h"

#define RULES(rules) "limits:\n  - name: a\n    rules: [" rules "]\n"
#define LINE(line)   "limits:\n  - name: a\n    rules:\n      - rate: 5/s\n        " line "\n"
#define AT           "limits[0].rules[0]."
#define SECOND       "limits[0].rules[1]."
#define COUNT(a)     (sizeof(a) / sizeof((a)[0]))
#define LONGEST      "a23456789_123456789_123456789_1"
#define FORM                                                                                       \
    "write requests, or the name of a unit, like tokens: 1 to 31 of a-z 0-9 _, a letter first"

static const broken broken_units[] = {
    {LINE("counts: Tokens"), 5, AT "counts: \"Tokens\": " FORM},
    {LINE("counts: 5"), 5, AT "counts: \"5\": " FORM},
    {LINE("counts: input-tokens"), 5, AT "counts: \"input-tokens\": " FORM},
    {LINE("counts: _"), 5, AT "counts: \"_\": " FORM},
    {LINE("counts: " LONGEST "2"), 5, AT "counts: \"" LONGEST "2\": " FORM},
    {LINE("counts: ''"), 5, AT "counts: is empty; give it a value"},
    {RULES("{rate: 5/s, counts: a}, {rate: 1/s, counts: b}, {rate: 1/s, counts: c}, {rate: 1/s, "
           "counts: requests}, {rate: 1/s, counts: d}, {rate: 1/s, counts: bytes}"),
     3,
     "limits[0].rules[5].counts: bytes is the 5th unit; a limit counts requests and up to 4 units: "
     "count bytes in a limit of its own, and write within in one of the two"},
    {RULES("{rate: 5/s, counts: bytes}, {rate: 9/min, counts: tokens, default_amount: 3}, {rate: "
           "9/h, counts: tokens, default_amount: 4}"),
     3,
     "limits[0].rules[2].default_amount: 4, but an earlier rule has 3 for tokens; write one of "
     "them"},
    {RULES("{rate: 5/s}, {rate: 1/s, counts: bytes}"), 3,
     AT "counts: is missing, and rules[1] counts bytes; write bytes or requests"},
    {RULES("{rate: 5/s, counts: bytes}, {rate: 1/s}"), 3,
     SECOND "counts: is missing, and rules[0] counts bytes; write bytes or requests"},
    {LINE("default_amount: 3"), 5,
     AT "default_amount: needs counts with the name of a unit; add it or remove default_amount"},
    {RULES("{rate: 5/s, counts: requests, default_amount: 1}"), 3,
     AT "default_amount: needs counts with the name of a unit"},
    {RULES("{rate: 5/s, counts: bytes, default_amount: 0}"), 3,
     AT "default_amount: \"0\": write a whole number from 1 to 1000000"},
    {RULES("{rate: 5/s, counts: bytes, default_amount: 1000001}"), 3,
     AT "default_amount: \"1000001\": write a whole number from 1 to 1000000"},
    {RULES("{rate: 5/s, counts: bytes, default_amount: 3}, {rate: 9/min, counts: bytes, "
           "default_amount: 4}"),
     3, SECOND "default_amount: 4, but an earlier rule has 3 for bytes; write one of them"},
};

Test(unit_text, what_is_refused)
{
    check_broken(broken_units, COUNT(broken_units));
}

static takt_policy *parse(const char *text)
{
    takt_policy *policy = NULL;
    takt_error error = {0};

    cr_assert_eq(takt_policy_parse(&policy, "takt.yaml", text, strlen(text), &error), 0, "%s",
                 error.text);
    return policy;
}

Test(unit_text, what_each_rule_counts)
{
    static const struct {
        const char *text, *unit, *words;
        int32_t default_amount;
        takt_unit units[2];
    } rows[] = {
        {RULES("{rate: 5/s}, {rate: 9/min}"), "", "5/s, 9/min", 0, {0, 0}},
        {RULES("{rate: 5/s, counts: requests}, {rate: 9/min}"),
         "",
         "5/s requests, 9/min",
         0,
         {TAKT_UNIT_REQUESTS, TAKT_UNIT_TOKENS}},
        {RULES("{rate: 5/s, counts: requests}, {rate: 9/min, counts: tokens}"),
         "tokens",
         "5/s requests, 9/min tokens",
         0,
         {TAKT_UNIT_REQUESTS, TAKT_UNIT_TOKENS}},
        {RULES("{rate: 5/s, counts: " LONGEST "}, {rate: 9/min, counts: " LONGEST "}"),
         LONGEST,
         "5/s " LONGEST ", 9/min " LONGEST,
         0,
         {TAKT_UNIT_TOKENS, TAKT_UNIT_TOKENS}},
        {RULES("{rate: 5/s, counts: bytes}, {rate: 9/min, counts: bytes, default_amount: 2}"),
         "bytes",
         "5/s bytes, 9/min bytes, default_amount 2",
         2,
         {TAKT_UNIT_TOKENS, TAKT_UNIT_TOKENS}},
        {RULES("{rate: 5/s, counts: bytes}, {rate: 9/min, counts: rows, default_amount: 2}"),
         "bytes",
         "5/s bytes, 9/min rows, default_amount 2 rows",
         0,
         {TAKT_UNIT_TOKENS, TAKT_UNIT_MORE}},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_policy *policy = parse(rows[i].text);
        const takt_limit *limit = takt_policy_find(policy, "a");
        char words[256];
        cr_expect_str_eq(limit->unit, rows[i].unit, "row %zu", i);
        cr_expect_eq(limit->default_amount, rows[i].default_amount, "row %zu", i);
        for (int rule = 0; rule < 2; rule++)
            cr_expect_eq(limit->numbers.rules[rule].unit, rows[i].units[rule], "row %zu", i);
        cr_assert_eq(takt_policy_describe(policy, "a", words, sizeof words), 0);
        cr_expect_str_eq(words, rows[i].words, "row %zu: %s", i, words);
        takt_policy_free(policy);
    }
}

Test(unit_text, who_counts_what)
{
    takt_policy *policy = parse("limits:\n"
                                "  - {name: a, rules: [{rate: 1/s, counts: bytes}]}\n"
                                "  - {name: b, rules: [{rate: 1/s, counts: requests}]}\n"
                                "  - {name: c, rules: [{rate: 1/s}]}\n"
                                "  - {name: e, rules: [{rate: 1/s, counts: bytes}, {rate: 1/s, "
                                "counts: rows}]}\n");

    cr_expect_eq(takt_policy_counts(policy, "a", "bytes"), 1);
    cr_expect_eq(takt_policy_counts(policy, "a", "requests"), 0);
    cr_expect_eq(takt_policy_counts(policy, "a", "tokens"), 0);
    cr_expect_eq(takt_policy_counts(policy, "b", "requests"), 1);
    cr_expect_eq(takt_policy_counts(policy, "c", "requests"), 0);
    cr_expect_eq(takt_policy_counts(policy, "c", ""), 0);
    cr_expect_eq(takt_policy_counts(policy, "e", "bytes"), 1);
    cr_expect_eq(takt_policy_counts(policy, "e", "rows"), 1);
    cr_expect_eq(takt_policy_counts(policy, "e", "tokens"), 0);
    cr_expect_eq(takt_policy_counts(policy, "d", "bytes"), 0);
    cr_expect_eq(takt_policy_counts(policy, "d", "requests"), 0);
    takt_policy_free(policy);
}

Test(unit_text, an_override_counts_what_its_own_rules_say)
{
    takt_policy *policy = parse("limits:\n"
                                "  - name: a\n"
                                "    rules: [{rate: 1/s, counts: bytes}]\n"
                                "    overrides:\n"
                                "      - {key: k, rules: [{rate: 5/s, counts: tokens}]}\n"
                                "      - {key: l, lookahead: 1s}\n");
    const takt_limit *limit = takt_policy_find(policy, "a");

    cr_expect_str_eq(takt_overrides_for(limit, "k")->unit, "tokens");
    cr_expect_str_eq(takt_overrides_for(limit, "l")->unit, "bytes");
    takt_policy_free(policy);
}
