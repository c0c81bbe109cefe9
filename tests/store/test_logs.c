/*
 * test_logs.c: ledgers with logs and windows through whole stores: taken tokens count from one call
 * to the next, and from one opening of a file to the next.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "store/rig.h"

static takt_limit limit_by(const takt_algorithm *algorithm, const char *name, int64_t tokens)
{
    takt_limit limit = {.numbers.rule_count = 1, .numbers.lookahead_us = TAKT_LOOKAHEAD_US};
    takt_error error;

    snprintf(limit.name, sizeof limit.name, "%s", name);
    limit.numbers.rules[0] =
        (takt_rule){.algorithm = algorithm, .limit = tokens, .period_us = 30 * RIG_DAY};
    cr_assert_eq(takt_rule_prepare(&limit.numbers.rules[0], &error), 0, "%s", error.text);
    return limit;
}

static void take_all(const char *url, bool stays)
{
    enum { TOKENS = 700 };
    const takt_limit limits[] = {limit_by(&takt_sliding_log, "log", TOKENS),
                                 limit_by(&takt_fixed_window, "fixed", TOKENS),
                                 limit_by(&takt_sliding_window, "sliding", TOKENS)};
    struct rig rig;
    struct rig_call call;

    rig_open(&rig, url);
    for (int n = 0; n < TOKENS; n++)
        for (int i = 0; i < 3; i++)
            cr_assert_eq(rig_try(&rig, &limits[i], "k", 1), 0, "%s: token %d", limits[i].name, n);
    if (stays) {
        rig_close(&rig);
        rig_open(&rig, url);
    }
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(rig_try(&rig, &limits[i], "k", 1), TAKT_E_NO_SLOT, "%s", limits[i].name);
        cr_expect_eq(rig_peek(&rig, &limits[i], "k").remaining, 0);
        rig_call_init(&call, TAKT_OP_RESET, &limits[i], "k");
        cr_expect_eq(rig_run(&rig, &call), 0);
        cr_expect_eq(rig_peek(&rig, &limits[i], "k").remaining, TOKENS);
        cr_expect_eq(rig_try(&rig, &limits[i], "k", TOKENS), 0, "%s", limits[i].name);
        cr_expect_eq(rig_try(&rig, &limits[i], "k", 1), TAKT_E_NO_SLOT, "%s", limits[i].name);
    }
    cr_expect_eq(rig.damaged, 0);
    rig_close(&rig);
}

Test(logs, in_memory)
{
    take_all("memory:", false);
}

Test(logs, in_a_file)
{
    char directory[PATH_MAX], url[PATH_MAX + 32];

    rig_directory(directory);
    snprintf(url, sizeof url, "file:%s/l", directory);
    take_all(url, true);
    rig_remove(directory);
}
