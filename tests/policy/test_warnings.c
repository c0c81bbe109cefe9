/*
 * Which rules are hidden by others, and the warnings about them.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include <takt/policy.h>

static char told[1024];

static void tell(void *data, const char *limit, const char *text)
{
    size_t used = strlen(told);

    (void)data;
    snprintf(told + used, sizeof told - used, "%s: %s\n", limit, text);
}

static size_t warn(const char *rules)
{
    char text[1024];
    takt_policy *policy;
    takt_error error = {0};
    size_t count;

    snprintf(text, sizeof text, "limits: [{name: a, %s}]\n", rules);
    cr_assert_eq(takt_policy_parse(&policy, "p", text, strlen(text), &error), 0, "%s", error.text);
    told[0] = '\0';
    count = takt_policy_warn(policy, tell, NULL);
    cr_expect_eq(count, takt_policy_warn(policy, NULL, NULL));
    takt_policy_free(policy);
    return count;
}

Test(warnings, a_rate_that_is_never_reached)
{
    static const struct {
        const char *rules, *words;
    } rows[] = {
        {"rules: [{rate: 100/s}, {rate: 5000000/day}, {rate: 1000000/h}]",
         "a: rate 100/s is never reached: 5000000/day without a burst allows 57.9/s; add burst: "
         "5000000 or algorithm: fixed-window to 5000000/day\n"},
        {"rules: [{rate: 10000/day}, {rate: 100/s, burst: 10}]",
         "a: rate 100/s is never reached: 10000/day without a burst allows 0.116/s; add burst: "
         "10000 or algorithm: fixed-window to 10000/day\n"},
        {"rules: [{rate: 10/min}, {rate: 300/h, burst: 9}]",
         "a: rate 10/min is never reached: 300/h with a burst of 9 allows 5/min; add burst: 300 "
         "or algorithm: fixed-window to 300/h\n"},
        {"rules: [{rate: 10/min, algorithm: sliding-log}, {rate: 300/h, algorithm: leaky-bucket}]",
         "a: rate 10/min is never reached: 300/h without a burst allows 5/min; add algorithm: "
         "fixed-window to 300/h\n"},
        {"rules: [{rate: 10/s}], overrides: [{key: k, unlimited: true}, {key: p*, rules: [{rate: "
         "10/min}, {rate: 300/h}]}]",
         "a:p*: rate 10/min is never reached: 300/h without a burst allows 5/min; add burst: 300 "
         "or algorithm: fixed-window to 300/h\n"},
        {"rules: [{rate: 10/s}], fair: key},\n  {name: b, rules: [{rate: 1/s}], fair: tenant",
         "a: fair: key does what fair: tenant does, because no limit is within this one; write "
         "fair: tenant, or add within: a to the limit whose keys are to take turns\n"},
        {"rules: [{rate: 10/s}]},\n  {name: b, rules: [{rate: 1/s}], fair: key, within: a",
         "b: fair: key does what fair: tenant does, because no limit is within this one; write "
         "fair: tenant, or move fair: key and its weights to \"a\", where the keys of this limit "
         "take turns\n"},
        {"rules: [{rate: 10/s}], fair: key, weights: {b: 2, 'b:': 2, 'b:x': 3, 'bb:x': 2, x: 4}},\n"
         "  {name: b, rules: [{rate: 1/s}], within: a}, {name: bb, rules: [{rate: 1/s}]",
         "a: weights: \"b:x\": a key is written without its limit; write \"x\"\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(warn(rows[i].rules), 1, "%s", rows[i].rules);
        cr_expect_str_eq(told, rows[i].words);
    }
}

Test(warnings, rules_that_go_together)
{
    static const char *const rows[] = {
        "concurrency: 3",
        "rules: [{rate: 10/s}]",
        "rules: [{rate: 10/s}], fair: key}, {name: b, rules: [{rate: 1/s}], within: a",
        "concurrency: 2, fair: tenant, weights: {'b:x': 3}}, {name: b, concurrency: 2, within: a",
        "rules: [{rate: 10/s}, {rate: 600/min}]",
        "rules: [{rate: 10/s}, {rate: 1000/min}]",
        "rules: [{rate: 20/s}, {rate: 600/min, burst: 100}]",
        "rules: [{rate: 100/s}, {rate: 5000000/day, algorithm: fixed-window}]",
        "rules: [{rate: 100/s}, {rate: 5000000/day, algorithm: sliding-log}]",
        "rules: [{rate: 100/s}, {rate: 5000000/day, burst: 100}]",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(warn(rows[i]), 0, "%s: %s", rows[i], told);
}
