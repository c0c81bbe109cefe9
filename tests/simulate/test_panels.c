/*
 * Several simulations share their axes, which reach as far as the largest one; each names its
 * algorithms and rates.
 */
#include "limits.h"
#include "simulate/draw/panels.h"
#include "text.h"

static takt_simulation *run(const takt_rule_text *rules, int64_t jobs, const char *algorithm)
{
    test_policy made = make_limit(rules, NULL);
    takt_simulation *simulation;
    takt_bulk bulk;

    takt_bulk_init(&bulk, jobs);
    bulk.workers = 3;
    cr_assert_eq(takt_simulation_run(&simulation, made.limit, algorithm, &bulk, NULL), 0);
    takt_policy_free(made.policy);
    return simulation;
}

Test(panels, a_simulation_is_described)
{
    static const takt_rule_text rules[] = {
        {.rate = "100/s", .burst = "10"}, {.rate = "9000/h"}, {0}};
    static const takt_rule_text counting[] = {
        {.rate = "100/s", .burst = "10", .counts = "requests"}, {.rate = "9000/h"}, {0}};
    takt_simulation *simulation = run(rules, 10, NULL);
    char text[512];

    takt_simulation_describe(simulation, text, sizeof text);
    cr_expect_str_eq(text, "gcra 100/s burst 10, 9000/h");
    takt_simulation_free(simulation);
    simulation = run(counting, 10, NULL);
    takt_simulation_describe(simulation, text, sizeof text);
    cr_expect_str_eq(text, "gcra 100/s requests burst 10, 9000/h");
    takt_simulation_describe(simulation, text, 10);
    cr_expect_str_eq(text, "gcra 100/");
    takt_simulation_free(simulation);
}

Test(panels, axes_reach_the_largest)
{
    static const takt_rule_text quick[] = {{.rate = "100/s"}, {0}},
                                slow[] = {{.rate = "50/s"}, {0}};
    takt_simulation *simulations[] = {run(quick, 2000, NULL), run(slow, 2000, NULL)};
    takt_axes axes;

    takt_axes_fit(&axes, (const takt_simulation *const *)simulations, 2);
    cr_expect_eq(axes.duration_us, (double)simulations[1]->figures.duration_us);
    cr_expect_eq(axes.bin_us, 1000000, "whole periods");
    cr_expect_eq(axes.bins, 40);
    cr_expect_eq(axes.rule_end[0], 150);
    cr_expect_eq(axes.share_end, 800);
    takt_simulation_free(simulations[0]);
    takt_simulation_free(simulations[1]);
}

Test(panels, a_job_shorter_than_a_period_is_drawn_in_parts_of_it)
{
    static const takt_rule_text rules[] = {{.rate = "1000/h"}, {0}};
    takt_simulation *simulations[] = {run(rules, 100, NULL)};
    takt_axes axes;

    takt_axes_fit(&axes, (const takt_simulation *const *)simulations, 1);
    cr_expect_lt(axes.bin_us, INT64_C(3600000000) / 60);
    cr_expect_eq(axes.rule_end[0], 1500, "the quota is in sight");
    cr_expect_leq(axes.bins, TAKT_BINS_MAX);
    takt_simulation_free(simulations[0]);
}
