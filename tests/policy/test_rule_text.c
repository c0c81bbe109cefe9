/*
 * The fields of a rule besides its rate and burst, as files have them: which algorithm takes which,
 * their numbers, and errors with what to write instead.
 */
#include "policy/broken.h"
#include "policy/policy.h"

#define RULE(fields)  "limits:\n  - name: a\n    rules:\n      - {rate: 5/s, " fields "}\n"
#define DAILY(fields) "limits:\n  - name: a\n    rules:\n      - {rate: 800/day, " fields "}\n"
#define LINE(line)    "limits:\n  - name: a\n    rules:\n      - rate: 5/s\n        " line "\n"
#define AT            "limits[0].rules[0]."
#define COUNT(a)      (sizeof(a) / sizeof((a)[0]))

static const broken broken_rules[] = {
    {LINE("algorithm: GCRA"), 5, AT "algorithm: there is no \"GCRA\"; "},
    {LINE("algorithm: fixed_window"), 5,
     AT "algorithm: there is no \"fixed_window\"; did you mean \"fixed-window\"?"},
    {LINE("algorithm: elephant"), 5,
     AT
     "algorithm: there is no \"elephant\"; write gcra, token-bucket, leaky-bucket, fixed-window, "
     "sliding-window or sliding-log"},
    {LINE("algorithm: ''"), 5, AT "algorithm: is empty; give it a value"},
    {LINE("align: midnight"), 5, AT "align: \"midnight\": write clock or first-use"},
    {LINE("align: Clock"), 5, AT "align: \"Clock\": write clock or first-use"},
    {LINE("timezone: Nowhere/Land"), 5,
     AT "timezone: \"Nowhere/Land\": there is no such timezone in"},
    {LINE("timezone: ../../etc/passwd"), 5,
     AT "timezone: \"../../etc/passwd\": is not the name of a timezone"},
    {LINE("timezone: '+02:00'"), 5, AT "timezone: \"+02:00\": is not the name of a timezone"},
    {LINE("queue: 0"), 5, AT "queue: \"0\": write a whole number from 1 to 1000000000"},
    {LINE("queue: many"), 5, AT "queue: \"many\": write a whole number"},
    {LINE("guard: 50"), 5, AT "guard: \"50\": has no unit"},
    {LINE("guard: -1ms"), 5, AT "guard: \"-1ms\": is negative"},
    {LINE("guard: 501ms"), 5,
     AT "guard: \"501ms\" is longer than half of the period; write at most 500ms, or 0"},
    /* which algorithm takes which */
    {LINE("align: clock"), 5,
     AT "align: gcra takes none; remove it, or write algorithm: fixed-window"},
    {LINE("timezone: UTC"), 5,
     AT "timezone: gcra takes none; remove it, or write algorithm: fixed-window"},
    {LINE("queue: 5"), 5, AT "queue: gcra takes none; remove it, or write algorithm: leaky-bucket"},
    {RULE("algorithm: leaky-bucket, burst: 1"), 4,
     AT "burst: leaky-bucket takes none; remove it, or write algorithm: gcra or token-bucket"},
    {RULE("algorithm: fixed-window, burst: 5"), 4, AT "burst: fixed-window takes none; remove it"},
    {RULE("algorithm: sliding-window, burst: 5"), 4, AT "burst: sliding-window takes none"},
    {RULE("algorithm: sliding-log, burst: 5"), 4, AT "burst: sliding-log takes none"},
    {RULE("algorithm: token-bucket, queue: 5"), 4, AT "queue: token-bucket takes none"},
    {RULE("algorithm: sliding-window, align: clock"), 4, AT "align: sliding-window takes none"},
    {RULE("algorithm: sliding-window, timezone: UTC"), 4, AT "timezone: sliding-window takes none"},
    {RULE("algorithm: sliding-log, align: first-use"), 4, AT "align: sliding-log takes none"},
    /* numbers that do not go together */
    {DAILY("algorithm: fixed-window, align: first-use, timezone: UTC"), 4,
     AT "timezone: windows with align: first-use follow no clock; remove it, or"},
    {"limits:\n  - name: a\n    rules:\n      - {rate: 5/7h, algorithm: fixed-window, timezone: "
     "UTC}\n",
     4,
     AT "timezone: needs a period that divides a day, or whole days; write one, like 6h or 7day"},
    {"limits:\n  - name: a\n    rules:\n      - {rate: 5/36h, algorithm: fixed-window, timezone: "
     "UTC}\n",
     4, AT "timezone: needs a period that divides a day"},
    {"limits:\n  - name: a\n    headroom: 2%\n    rules:\n      - {rate: 1/s, algorithm: "
     "sliding-log}\n",
     3,
     "limits[0].headroom: leaves less than one token of 1 a period, and sliding-log gives whole"},
    {"limits:\n  - name: a\n    rules:\n      - {rate: 100/18250day, algorithm: token-bucket}\n"
     "    headroom: 1%\n",
     4, AT "burst: 100 is more than the rate gives in 50 years"},
    {"revision: -1\n" LIMIT, 1,
     "revision: \"-1\": write a whole number from 0 to 9007199254740991"},
    {"revision: 9007199254740992\n" LIMIT, 1, "revision: \"9007199254740992\": write a whole"},
    {"revision: 1.5\n" LIMIT, 1, "revision: \"1.5\": write a whole number"},
    {LIMIT "revision: v7\n", 4, "revision: \"v7\": write a whole number"},
};

Test(rule_text, refuses)
{
    check_broken(broken_rules, COUNT(broken_rules));
}

Test(rule_text, lists_algorithms)
{
    static const char *const names[] = {"gcra",         "token-bucket",   "leaky-bucket",
                                        "fixed-window", "sliding-window", "sliding-log"};

    for (int i = 0; i < (int)COUNT(names); i++)
        cr_assert_str_eq(takt_algorithm_name(i), names[i]);
    cr_assert_null(takt_algorithm_name((int)COUNT(names)));
    cr_assert_null(takt_algorithm_name(-1));
}

Test(rule_text, means)
{
    static const struct {
        const char *text;
        const takt_algorithm *algorithm;
        takt_align align;
        const char *zone;
        int64_t tokens, burst, max_waiting;
        const char *words;
    } rows[] = {
        {RULE("algorithm: gcra"), &takt_gcra, TAKT_ALIGN_DEFAULT, NULL, 5, 1, 0, "5/s"},
        {RULE("algorithm: token-bucket"), &takt_token_bucket, TAKT_ALIGN_DEFAULT, NULL, 5, 5, 0,
         "5/s token-bucket burst 5"},
        {RULE("algorithm: token-bucket, burst: 9"), &takt_token_bucket, TAKT_ALIGN_DEFAULT, NULL, 5,
         9, 0, "5/s token-bucket burst 9"},
        {RULE("algorithm: leaky-bucket"), &takt_leaky_bucket, TAKT_ALIGN_DEFAULT, NULL, 5, 1, 0,
         "5/s leaky-bucket"},
        {RULE("algorithm: leaky-bucket, queue: 7"), &takt_leaky_bucket, TAKT_ALIGN_DEFAULT, NULL, 5,
         1, 7, "5/s leaky-bucket queue 7, max_waiting 7"},
        {RULE("algorithm: leaky-bucket, queue: 7") "    max_waiting: 6\n", &takt_leaky_bucket,
         TAKT_ALIGN_DEFAULT, NULL, 5, 1, 6, "5/s leaky-bucket queue 7, max_waiting 6"},
        {RULE("algorithm: leaky-bucket, queue: 7") "    max_waiting: 8\n", &takt_leaky_bucket,
         TAKT_ALIGN_DEFAULT, NULL, 5, 1, 7, "5/s leaky-bucket queue 7, max_waiting 7"},
        {RULE("algorithm: leaky-bucket, queue: 7") "      - {rate: 1/s, algorithm: leaky-bucket, "
                                                   "queue: 3}\n",
         &takt_leaky_bucket, TAKT_ALIGN_DEFAULT, NULL, 5, 1, 3,
         "5/s leaky-bucket queue 7, 1/s leaky-bucket queue 3, max_waiting 3"},
        {RULE("algorithm: fixed-window"), &takt_fixed_window, TAKT_ALIGN_CLOCK, NULL, 5, 0, 0,
         "5/s fixed-window guard 50ms"},
        {RULE("algorithm: fixed-window, align: clock"), &takt_fixed_window, TAKT_ALIGN_CLOCK, NULL,
         5, 0, 0, "5/s fixed-window guard 50ms"},
        {RULE("algorithm: fixed-window, align: first-use"), &takt_fixed_window,
         TAKT_ALIGN_FIRST_USE, NULL, 5, 0, 0, "5/s fixed-window first-use guard 50ms"},
        {DAILY("algorithm: fixed-window, timezone: America/Los_Angeles"), &takt_fixed_window,
         TAKT_ALIGN_CLOCK, "America/Los_Angeles", 800, 0, 0,
         "800/day fixed-window America/Los_Angeles guard 50ms"},
        {RULE("algorithm: sliding-window"), &takt_sliding_window, TAKT_ALIGN_DEFAULT, NULL, 5, 0, 0,
         "5/s sliding-window"},
        {RULE("algorithm: sliding-log"), &takt_sliding_log, TAKT_ALIGN_DEFAULT, NULL, 5, 0, 0,
         "5/s sliding-log guard 50ms"},
        {DAILY("algorithm: sliding-log") "    headroom: 0.5%\n", &takt_sliding_log,
         TAKT_ALIGN_DEFAULT, NULL, 796, 0, 0, "800/day sliding-log guard 50ms, headroom 0.5%"},
        {RULE("counts: requests"), &takt_gcra, TAKT_ALIGN_DEFAULT, NULL, 5, 1, 0, "5/s requests"},
        /* a guard that is written, and one that is not */
        {RULE("guard: 20ms"), &takt_gcra, TAKT_ALIGN_DEFAULT, NULL, 5, 1, 0, "5/s guard 20ms"},
        {RULE("algorithm: sliding-log, guard: 500ms"), &takt_sliding_log, TAKT_ALIGN_DEFAULT, NULL,
         5, 0, 0, "5/s sliding-log guard 500ms"},
        {RULE("algorithm: sliding-log, guard: 0"), &takt_sliding_log, TAKT_ALIGN_DEFAULT, NULL, 5,
         0, 0, "5/s sliding-log"},
        {RULE("algorithm: fixed-window, guard: 0s"), &takt_fixed_window, TAKT_ALIGN_CLOCK, NULL, 5,
         0, 0, "5/s fixed-window"},
        {"limits:\n  - {name: a, rules: [{rate: 5/200ms, algorithm: fixed-window}]}\n",
         &takt_fixed_window, TAKT_ALIGN_CLOCK, NULL, 5, 0, 0, "5/200ms fixed-window guard 10ms"},
        {"limits:\n  - {name: a, rules: [{rate: 5/19us, algorithm: sliding-log}]}\n",
         &takt_sliding_log, TAKT_ALIGN_DEFAULT, NULL, 5, 0, 0, "5/19us sliding-log"},
        {RULE("algorithm: sliding-window") "    headroom: 99%\n      ", NULL, 0, NULL, 0, 0, 0,
         NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_policy *policy = NULL;
        takt_error error = {0};
        char words[256];
        int code =
            takt_policy_parse(&policy, "takt.yaml", rows[i].text, strlen(rows[i].text), &error);
        if (!rows[i].algorithm) {
            cr_expect_eq(code, TAKT_E_POLICY, "row %zu", i);
            continue;
        }
        cr_assert_eq(code, 0, "row %zu: %s", i, error.text);
        const takt_limit *limit = takt_policy_find(policy, "a");
        const takt_rule *rule = &limit->numbers.rules[0];
        cr_expect_eq(rule->algorithm, rows[i].algorithm, "row %zu", i);
        cr_expect_eq(rule->align, rows[i].align, "row %zu", i);
        if (rule->algorithm->letter != 'g') /* which keeps the rate in lowest terms */
            cr_expect_eq(rule->tokens, rows[i].tokens, "row %zu", i);
        cr_expect_eq(rule->burst, rows[i].burst, "row %zu", i);
        cr_expect_eq(limit->numbers.max_waiting, rows[i].max_waiting, "row %zu", i);
        cr_expect_eq(rule->zone == NULL, rows[i].zone == NULL, "row %zu", i);
        if (rule->zone && rows[i].zone)
            cr_expect_str_eq(rule->zone->name, rows[i].zone);
        cr_assert_eq(takt_policy_describe(policy, "a", words, sizeof words), 0);
        cr_expect_str_eq(words, rows[i].words, "row %zu: %s", i, words);
        takt_policy_free(policy);
    }
}

Test(rule_text, the_revision_is_every_limits_wherever_it_stands)
{
    static const char *const texts[] = {
        "revision: 7\nlimits:\n  - {name: a, rules: [{rate: 1/s}]}\n  - {name: b, rules: [{rate: "
        "1/s}]}\n",
        "limits:\n  - {name: a, rules: [{rate: 1/s}]}\n  - {name: b, rules: [{rate: "
        "1/s}]}\nrevision: 7\n",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        takt_policy *policy = NULL;
        takt_rule_text rule = {.rate = "1/s"};
        takt_limit_text limit = {.name = "c", .rules = &rule, .rule_count = 1};
        cr_assert_eq(takt_policy_parse(&policy, "x", texts[i], strlen(texts[i]), NULL), 0);
        cr_expect_eq(takt_policy_find(policy, "a")->numbers.revision, 7);
        cr_expect_eq(takt_policy_find(policy, "b")->numbers.revision, 7);
        cr_assert_eq(takt_policy_add(policy, &limit, NULL), 0);
        cr_expect_eq(takt_policy_find(policy, "c")->numbers.revision, 7);
        cr_assert_eq(takt_policy_set_revision(policy, "9007199254740991", NULL), 0);
        cr_expect_eq(takt_policy_find(policy, "c")->numbers.revision, INT64_C(9007199254740991));
        cr_expect_eq(takt_policy_set_revision(policy, "x", NULL), TAKT_E_POLICY);
        cr_expect_eq(takt_policy_set_revision(policy, NULL, NULL), TAKT_E_INVALID);
        cr_expect_eq(takt_policy_set_revision(NULL, "1", NULL), TAKT_E_INVALID);
        cr_expect_eq(takt_policy_find(policy, "a")->numbers.revision, INT64_C(9007199254740991));
        takt_policy_free(policy);
    }
}
