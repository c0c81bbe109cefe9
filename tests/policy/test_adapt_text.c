/*
 * `adapt` of a limit: the meaning of its texts, the defaults, and the messages about wrong ones.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "policy/adapt_text.h"
#include "policy/limit_text.h"
#include "policy/policy.h"

Test(adapt_text, reads)
{
    static const struct {
        takt_adapt_text text;
        takt_adapt adapt;
        const char *words;
    } rows[] = {
        {{NULL, NULL, NULL}, {50, 10, 60000000, 10}, "1/s, adapt 50% 10%/min 10%"},
        {{"99%", NULL, NULL}, {99, 10, 60000000, 10}, "1/s, adapt 99% 10%/min 10%"},
        {{"1%", "100%/day", "99%"}, {1, 100, 86400000000, 99}, "1/s, adapt 1% 100%/day 99%"},
        {{NULL, "5%/10s", "1%"}, {50, 5, 10000000, 1}, "1/s, adapt 50% 5%/10s 1%"},
    };
    takt_rule_text rule = {.rate = "1/s"};
    char words[80];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_limit_text text = {
            .name = "a", .rules = &rule, .rule_count = 1, .adapt = &rows[i].text};
        takt_limit limit;
        cr_assert_eq(takt_limit_read(&text, &limit, NULL), 0, "row %zu", i);
        cr_expect_eq(memcmp(&limit.numbers.adapt, &rows[i].adapt, sizeof limit.numbers.adapt), 0,
                     "row %zu", i);
        takt_limit_describe(&limit, NULL, words, sizeof words);
        cr_expect_str_eq(words, rows[i].words);
    }
    takt_limit_text none = {.name = "a", .rules = &rule, .rule_count = 1};
    takt_limit limit;
    cr_assert_eq(takt_limit_read(&none, &limit, NULL), 0);
    cr_expect_eq(limit.numbers.adapt.backoff, 0, "what is not asked for does not happen");
}

Test(adapt_text, refuses)
{
    static const struct {
        takt_adapt_text text;
        const char *words;
    } rows[] = {
        {{.backoff = "50"}, "adapt.backoff: \"50\": write 1% to 99%"},
        {{.backoff = "0%"}, "adapt.backoff: \"0%\": write"},
        {{.backoff = "100%"}, "adapt.backoff: \"100%\": write"},
        {{.backoff = "05%"}, "adapt.backoff: \"05%\": write"},
        {{.backoff = "12.5%"}, "adapt.backoff: \"12.5%\": write"},
        {{.backoff = ""}, "adapt.backoff: \"\": write"},
        {{.backoff = "%"}, "adapt.backoff: \"%\": write"},
        {{.backoff = "50%%"}, "adapt.backoff: \"50%%\": write"},
        {{.backoff = " 50%"}, "adapt.backoff: \" 50%\": write"},
        {{.floor = "half"}, "adapt.floor: \"half\": write 1% to 99%"},
        {{.recover = "10"}, "adapt.recover: \"10\": write 1% to 100% per time"},
        {{.recover = "10%"}, "adapt.recover: \"10%\": write"},
        {{.recover = "10/min"}, "adapt.recover: \"10/min\": write"},
        {{.recover = "0%/min"}, "adapt.recover: \"0%/min\": write"},
        {{.recover = "101%/min"}, "adapt.recover: \"101%/min\": write"},
        {{.recover = "10%/2day"}, "adapt.recover: \"10%/2day\": write"},
        {{.recover = "10%/"}, "adapt.recover: \"10%/\": write"},
        {{.recover = "10%/min "}, "adapt.recover: \"10%/min \": write"},
        {{.recover = "%/min"}, "adapt.recover: \"%/min\": write"},
        {{.recover = "10%/0000000000000000000000000000000001min"}, "adapt.recover: "},
    };
    takt_rule_text rule = {.rate = "1/s"}, fine = {.rate = "100000007/s"};
    takt_limit_text text = {.name = "a", .rules = &rule, .rule_count = 1};
    takt_adapt_text plain = {NULL, NULL, NULL};
    takt_limit limit;
    takt_error error;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        text.adapt = &rows[i].text;
        cr_assert_eq(takt_limit_read(&text, &limit, &error), TAKT_E_POLICY, "row %zu", i);
        cr_expect_eq(strncmp(error.text, rows[i].words, strlen(rows[i].words)), 0, "%s",
                     error.text);
    }
    text.adapt = &plain;
    text.rules = &fine;
    cr_assert_eq(takt_limit_read(&text, &limit, &error), TAKT_E_POLICY);
    cr_expect(strstr(error.text, "adapt: parts of the first rule's rate"), "%s", error.text);
    text = (takt_limit_text){.name = "a", .concurrency = "3", .adapt = &plain};
    cr_assert_eq(takt_limit_read(&text, &limit, &error), TAKT_E_POLICY);
    cr_expect(strstr(error.text, "adapt: needs rules; add them"), "%s", error.text);
}

static int parse(takt_policy **policy, const char *adapt, takt_error *error)
{
    char text[400];
    int size =
        snprintf(text, sizeof text,
                 "limits:\n  - name: api\n    rules: [{rate: 10/s}]\n    adapt: %s\n", adapt);

    return takt_policy_parse(policy, "takt.yaml", text, (size_t)size, error);
}

Test(adapt_text, in_a_file)
{
    static const struct {
        const char *adapt, *words;
    } rows[] = {
        {"50%", "takt.yaml:4: limits[0].adapt: is one text; write a mapping with the fields "
                "backoff, recover and floor"},
        {"{back_off: 50%}",
         "takt.yaml:4: limits[0].adapt.back_off: unknown field; did you mean \"backoff\"?"},
        {"{backoff: 50}", "takt.yaml:4: limits[0].adapt.backoff: \"50\": write 1% to 99%"},
        {"\n      recover: 5%/s\n      floor: 0%", "takt.yaml:6: limits[0].adapt.floor: "},
    };
    takt_policy *policy;
    takt_error error;

    cr_assert_eq(parse(&policy, "{}", &error), 0, "%s", error.text);
    cr_expect_eq(takt_policy_find(policy, "api")->numbers.adapt.floor, 10);
    takt_policy_free(policy);
    cr_assert_eq(parse(&policy, "{recover: 1%/s, backoff: 80%}", &error), 0, "%s", error.text);
    cr_expect_eq(takt_policy_find(policy, "api")->numbers.adapt.backoff, 80);
    takt_policy_free(policy);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(parse(&policy, rows[i].adapt, &error), TAKT_E_POLICY, "row %zu", i);
        cr_expect_eq(strncmp(error.text, rows[i].words, strlen(rows[i].words)), 0, "%s",
                     error.text);
    }
}
