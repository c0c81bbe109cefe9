/*
 * One limit from texts, as a command line gives them: errors name the field, and outputs do not
 * change on failure. The many values of each field are in test_load.c.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/name.h"
#include "policy/limit_text.h"

Test(limit_text, reads_a_limit)
{
    takt_rule_text rules[] = {{.rate = "1/s"}, {.rate = "20/min", .burst = "4"}};
    takt_limit_text text = {.name = "mail",
                            .rules = rules,
                            .rule_count = 2,
                            .headroom = "2%",
                            .lookahead = "50ms",
                            .max_waiting = "10",
                            .when_full = "drop-oldest",
                            .concurrency = "7",
                            .lease = "5min",
                            .priority = "0",
                            .on_store_failure = "share",
                            .mode = "shadow",
                            .learn = "headers",
                            .key_hash = "true"};
    takt_limit limit;
    takt_error error = {0};
    char words[240];
    cr_assert_eq(takt_limit_read(&text, &limit, &error), 0, "%s", error.text);
    cr_assert_str_eq(limit.name, "mail");
    cr_assert_eq(limit.numbers.rule_count, 2);
    cr_assert_eq(limit.numbers.rules[1].limit, 20);
    cr_assert_eq(limit.numbers.rules[1].period_us, 60000000);
    cr_assert_eq(limit.numbers.rules[1].burst, 4);
    cr_assert_eq(limit.numbers.rules[0].headroom_bp, 200);
    cr_assert_eq(limit.numbers.rules[1].headroom_bp, 200);
    /* 2 % below 20/min is one token each 60 s / 19.6 = 3.061224... s */
    cr_assert_eq(limit.numbers.rules[1].interval.us, 3061224);
    cr_assert_eq(limit.numbers.lookahead_us, 50000);
    cr_assert_eq(limit.numbers.max_waiting, 10);
    cr_assert_eq(limit.numbers.when_full, TAKT_WHEN_FULL_DROP_OLDEST);
    cr_assert_eq(limit.numbers.concurrency, 7);
    cr_assert_eq(limit.numbers.lease_us, 300000000);
    cr_assert_eq(limit.priority, 0);
    cr_assert_null(limit.within);
    takt_limit_describe(&limit, "vendor", words, sizeof words);
    cr_assert_str_eq(words,
                     "1/s, 20/min burst 4, concurrency 7, lease 5min, headroom 2%, lookahead 50ms, "
                     "max_waiting 10, when_full drop-oldest, priority 0, on_store_failure share, "
                     "mode shadow, learn headers, key_hash, within vendor");
    cr_assert_eq(limit.mode, TAKT_MODE_SHADOW);
    cr_assert_eq(limit.learn, TAKT_LEARN_HEADERS);
    cr_assert_str_eq(takt_learn_name(TAKT_LEARN_OFF), "off");
    cr_assert_str_eq(takt_learn_name((takt_learn)99), "unknown");
    cr_assert_str_eq(takt_mode_name(TAKT_MODE_ENFORCE), "enforce");
    cr_assert_str_eq(takt_mode_name((takt_mode)99), "unknown");
}

Test(limit_text, when_full)
{
    static const struct {
        const char *text;
        takt_when_full when_full;
    } rows[] = {{NULL, TAKT_WHEN_FULL_REFUSE},
                {"refuse", TAKT_WHEN_FULL_REFUSE},
                {"drop-oldest", TAKT_WHEN_FULL_DROP_OLDEST},
                {"drop-lowest", TAKT_WHEN_FULL_DROP_LOWEST}};
    takt_rule_text rule = {.rate = "1/s", .algorithm = "leaky-bucket", .queue = "3"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_limit_text text = {
            .name = "a", .rules = &rule, .rule_count = 1, .when_full = rows[i].text};
        takt_limit limit;
        cr_assert_eq(takt_limit_read(&text, &limit, NULL), 0, "row %zu: a queue will do", i);
        cr_assert_eq(limit.numbers.when_full, rows[i].when_full, "row %zu", i);
    }
}

Test(limit_text, on_store_failure)
{
    static const struct {
        const char *text;
        takt_on_store_failure mode;
    } rows[] = {{NULL, TAKT_ON_STORE_FAILURE_WAIT},
                {"wait", TAKT_ON_STORE_FAILURE_WAIT},
                {"closed", TAKT_ON_STORE_FAILURE_CLOSED},
                {"open", TAKT_ON_STORE_FAILURE_OPEN},
                {"share", TAKT_ON_STORE_FAILURE_SHARE}};
    takt_rule_text rule = {.rate = "1/s"};
    char words[64];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_limit_text text = {
            .name = "a", .rules = &rule, .rule_count = 1, .on_store_failure = rows[i].text};
        takt_limit limit;
        cr_assert_eq(takt_limit_read(&text, &limit, NULL), 0, "row %zu", i);
        cr_assert_eq(limit.on_store_failure, rows[i].mode, "row %zu", i);
        takt_limit_describe(&limit, NULL, words, sizeof words);
        if (rows[i].mode == TAKT_ON_STORE_FAILURE_WAIT)
            cr_assert_str_eq(words, "1/s", "what is so anyway is not said");
        else
            cr_assert_str_eq(strrchr(words, ' ') + 1, rows[i].text);
        cr_assert_str_eq(takt_on_store_failure_name(rows[i].mode),
                         rows[i].text ? rows[i].text : "wait");
    }
    cr_assert_str_eq(takt_on_store_failure_name((takt_on_store_failure)99), "unknown");
}

Test(limit_text, refuses_with_the_field_first)
{
    static const takt_rule_text good[] = {{.rate = "1/s"}};
    static const takt_rule_text no_rate[] = {{.rate = "1/s"}, {.burst = "3"}};
    static const takt_rule_text bad_rate[] = {{.rate = "1/s"}, {.rate = "1 per second"}};
    static const takt_rule_text bad_burst[] = {{.rate = "1/s", .burst = "none"}};
    static const takt_rule_text long_burst[] = {{.rate = "1/day"},
                                                {.rate = "1/day", .burst = "20000"}};
    static const takt_rule_text fine[] = {{.rate = "1/s"}, {.rate = "999999999/s"}};
    static const struct {
        takt_limit_text text;
        const char *words;
    } rows[] = {
        {{.rules = good, .rule_count = 1},
         "name: is missing; write a name for the limit, like name: mail"},
        {{.name = "", .rules = good, .rule_count = 1}, "name: is empty; write 1 to 64 of"},
        {{.name = "a b", .rules = good, .rule_count = 1}, "name: \"a b\": a name is made of"},
        {{.name = "a"}, "rules: are missing; write at least one"},
        {{.name = "a", .rules = good}, "rules: are missing"},
        {{.name = "a", .rule_count = 1}, "rules: are missing"},
        {{.name = "a", .rule_count = 1, .concurrency = "3"}, "rules: are missing"},
        {{.name = "a", .concurrency = ""}, "concurrency: \"\": write a whole number"},
        {{.name = "a", .concurrency = "3", .lease = ""}, "lease: \"\": is not a duration"},
        {{.name = "a", .concurrency = "3", .headroom = "2%"}, "headroom: needs rules; add them"},
        {{.name = "a", .rules = good, .rule_count = 1, .lease = "30s"},
         "lease: needs concurrency; add it"},
        {{.name = "a", .rules = good, .rule_count = 1, .priority = ""},
         "priority: \"\": write 0 (most urgent) to 9"},
        {{.name = "a", .rules = good, .rule_count = 1, .priority = "10"},
         "priority: \"10\": write"},
        {{.name = "a", .rules = good, .rule_count = 1, .priority = "-1"},
         "priority: \"-1\": write"},
        {{.name = "a", .rules = good, .rule_count = 9}, "rules: there are 9; write at most 8"},
        {{.name = "a", .rules = no_rate, .rule_count = 2}, "rules[1].rate: is missing; write one"},
        {{.name = "a", .rules = bad_rate, .rule_count = 2},
         "rules[1].rate: \"1 per second\": has blanks"},
        {{.name = "a", .rules = bad_burst, .rule_count = 1},
         "rules[0].burst: \"none\": write a whole number"},
        {{.name = "a", .rules = long_burst, .rule_count = 2}, "rules[1].burst: 20000 is more than"},
        {{.name = "a", .rules = fine, .rule_count = 2, .headroom = "0.01%"}, "headroom: too fine"},
        {{.name = "a", .rules = good, .rule_count = 1, .headroom = ""},
         "headroom: \"\": write 0% to 99.99%"},
        {{.name = "a", .rules = good, .rule_count = 1, .headroom = "1000%"},
         "headroom: \"1000%\": write"},
        {{.name = "a", .rules = good, .rule_count = 1, .headroom = "%"}, "headroom: \"%\": write"},
        {{.name = "a", .rules = good, .rule_count = 1, .headroom = "1.5"},
         "headroom: \"1.5\": write"},
        {{.name = "a", .rules = good, .rule_count = 1, .lookahead = ""},
         "lookahead: \"\": is not a duration"},
        {{.name = "a", .rules = good, .rule_count = 1, .lookahead = "11s"},
         "lookahead: \"11s\": write 1ms to 10s"},
        {{.name = "a", .rules = good, .rule_count = 1, .when_full = "refuse"},
         "when_full: needs max_waiting; add it or remove when_full"},
        {{.name = "a",
          .rules = good,
          .rule_count = 1,
          .max_waiting = "5",
          .when_full = "drop_oldest"},
         "when_full: there is no \"drop_oldest\"; did you mean \"drop-oldest\"?"},
        {{.name = "a", .rules = good, .rule_count = 1, .max_waiting = "5", .when_full = "leak"},
         "when_full: there is no \"leak\"; write refuse, drop-oldest or drop-lowest"},
        {{.name = "a", .rules = good, .rule_count = 1, .max_waiting = ""},
         "max_waiting: \"\": write a whole"},
        {{.name = "a", .rules = good, .rule_count = 1, .on_store_failure = "close"},
         "on_store_failure: there is no \"close\"; did you mean \"closed\"?"},
        {{.name = "a", .rules = good, .rule_count = 1, .on_store_failure = "fail"},
         "on_store_failure: there is no \"fail\"; write wait, closed, open or share"},
        {{.name = "a", .rules = good, .rule_count = 1, .on_store_failure = ""},
         "on_store_failure: there is no \"\"; write"},
        {{.name = "a", .rules = good, .rule_count = 1, .mode = "shadows"},
         "mode: there is no \"shadows\"; did you mean \"shadow\"?"},
        {{.name = "a", .rules = good, .rule_count = 1, .mode = "off"},
         "mode: there is no \"off\"; write enforce or shadow"},
        {{.name = "a", .rules = good, .rule_count = 1, .learn = "header"},
         "learn: there is no \"header\"; did you mean \"headers\"?"},
        {{.name = "a", .rules = good, .rule_count = 1, .key_hash = "yes"},
         "key_hash: there is no \"yes\"; write false or true"},
        {{.name = "a", .rules = good, .rule_count = 1, .learn = "yes"},
         "learn: there is no \"yes\"; write off, headers, openai, anthropic, github, shopify or "
         "discord"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_limit limit = {.numbers.rule_count = 77};
        takt_error error = {0};
        cr_assert_eq(takt_limit_read(&rows[i].text, &limit, &error), TAKT_E_POLICY,
                     "row %zu was taken", i);
        cr_assert_eq(error.code, TAKT_E_POLICY, "row %zu", i);
        cr_assert_eq(strncmp(error.text, rows[i].words, strlen(rows[i].words)), 0, "row %zu: %s", i,
                     error.text);
        cr_assert_eq(limit.numbers.rule_count, 77, "row %zu touched the output", i);
        cr_assert_eq(takt_limit_read(&rows[i].text, &limit, NULL), TAKT_E_POLICY,
                     "row %zu, unheard", i);
    }
}
