/*
 * What a rule counts at each moment: the mean of short periods, any period that ends there, or a
 * window's own.
 */
#include "limits.h"
#include "simulate/draw/windows.h"

#define SECOND_US 1000000

static takt_simulation simulation;

/* One token a second, of as many requests, from the begin on. */
static void fill(const takt_rule_text *rule, int64_t start_us, int64_t seconds)
{
    const takt_rule_text rules[] = {*rule, {0}};
    test_policy made = make_limit(rules, NULL);

    simulation = (takt_simulation){.limit = *made.limit, .bulk.start_us = start_us};
    takt_series_init(&simulation.series, SECOND_US);
    for (int64_t i = 0; i < seconds; i++)
        takt_series_add(&simulation.series, i * SECOND_US, 5, (takt_amounts){{3, 1}}, 0);
    takt_policy_free(made.policy);
}

Test(windows, means_of_short_periods)
{
    static const takt_rule_text rule = {.rate = "5/s"},
                                requests = {.rate = "5/s", .counts = "requests"};
    double values[10];

    fill(&rule, 0, 100);
    cr_expect_eq(takt_windows_count(&simulation, 0, 20 * SECOND_US, 6, values), TAKT_WINDOWS_MEAN);
    cr_expect_float_eq(values[0], 3, 1e-9);
    cr_expect_float_eq(values[4], 3, 1e-9);
    cr_expect_float_eq(values[5], 0, 1e-9);
    fill(&requests, 0, 100);
    takt_windows_count(&simulation, 0, 20 * SECOND_US, 6, values);
    cr_expect_float_eq(values[0], 1, 1e-9, "requests, not tokens");
}

Test(windows, any_period_that_ends_there)
{
    static const takt_rule_text rule = {.rate = "200/min", .algorithm = "sliding-log"};
    double values[10];

    fill(&rule, 0, 100);
    cr_expect_eq(takt_windows_count(&simulation, 0, 20 * SECOND_US, 9, values),
                 TAKT_WINDOWS_TRAILING);
    cr_expect_float_eq(values[0], 60, 1e-9);
    cr_expect_float_eq(values[2], 180, 1e-9);
    cr_expect_float_eq(values[4], 180, 1e-9);
    cr_expect_float_eq(values[5], 177, 1e-9, "the most in the bin, at its begin");
    cr_expect_float_eq(values[6], 117, 1e-9);
    cr_expect_float_eq(values[8], 0, 1e-9);
}

Test(windows, windows_by_the_clock_begin_anew)
{
    static const takt_rule_text rule = {.rate = "200/min", .algorithm = "fixed-window"};
    double values[10];

    fill(&rule, INT64_C(1800000000) * SECOND_US + 40 * SECOND_US,
         100); /* a whole minute and 40 s */
    cr_expect_eq(takt_windows_count(&simulation, 0, 10 * SECOND_US, 9, values), TAKT_WINDOWS_FIXED);
    cr_expect_float_eq(values[1], 60, 1e-9);
    cr_expect_float_eq(values[2], 30, 1e-9, "the next minute");
    cr_expect_float_eq(values[7], 180, 1e-9);
    cr_expect_float_eq(values[8], 30, 1e-9);
}

Test(windows, windows_by_first_use_begin_with_it)
{
    static const takt_rule_text rule = {
        .rate = "200/min", .algorithm = "fixed-window", .align = "first-use"};
    double values[10];

    fill(&rule, 0, 70);
    for (int64_t i = 150; i < 160; i++)
        takt_series_add(&simulation.series, i * SECOND_US, 5, (takt_amounts){{3, 1}}, 0);
    takt_windows_count(&simulation, 0, 10 * SECOND_US, 10, values);
    cr_expect_float_eq(values[5], 180, 1e-9);
    cr_expect_float_eq(values[6], 30, 1e-9);
}
