/*
 * Invalid simulations are refused with a message, and an algorithm can be replaced by another.
 */
#include <string.h>

#include "limits.h"

static const takt_rule_text rules[] = {{.rate = "10/s", .burst = "4"}, {0}};
static const takt_outage early = {-1, 1};
static const takt_crash nobody = {1, 1, 0};

static void no_jobs(takt_bulk *bulk)
{
    bulk->jobs = 0;
}
static void no_workers(takt_bulk *bulk)
{
    bulk->workers = 0;
}
static void too_many(takt_bulk *bulk)
{
    bulk->workers = TAKT_SIM_WORKERS_MAX + 1;
}
static void no_hands(takt_bulk *bulk)
{
    bulk->at_once = 0;
}
static void backwards(takt_bulk *bulk)
{
    bulk->work_min_us = 2, bulk->work_max_us = 1;
}
static void free_of_cost(takt_bulk *bulk)
{
    bulk->cost_min = 0;
}
static void dear(takt_bulk *bulk)
{
    bulk->cost_max = 5;
}
static void weightless(takt_bulk *bulk)
{
    bulk->weights[5] = 0;
}
static void far(takt_bulk *bulk)
{
    bulk->round_trip_us = 60000001;
}
static void long_ago(takt_bulk *bulk)
{
    bulk->start_us = -1;
}
static void many_outages(takt_bulk *bulk)
{
    bulk->outage_count = TAKT_SIM_EVENTS_MAX + 1;
}
static void too_early(takt_bulk *bulk)
{
    bulk->outages = &early, bulk->outage_count = 1;
}
static void no_crash(takt_bulk *bulk)
{
    bulk->crashes = &nobody, bulk->crash_count = 1;
}

Test(simulation_open, says_what_cannot_be)
{
    static const struct {
        void (*change)(takt_bulk *bulk);
        int code;
        const char *words;
    } rows[] = {
        {no_jobs, TAKT_E_INVALID, "1 to 1000000000 jobs"},
        {no_workers, TAKT_E_INVALID, "1 to 10000 workers"},
        {too_many, TAKT_E_INVALID, "1 to 10000 workers"},
        {no_hands, TAKT_E_INVALID, "1 to 10000 jobs in hand"},
        {backwards, TAKT_E_INVALID, "the shortest time first"},
        {free_of_cost, TAKT_E_INVALID, "1 to 1000000 tokens"},
        {dear, TAKT_E_COST, "a job of cost 5: rules[0] (gcra) gives at most 4 at once"},
        {weightless, TAKT_E_INVALID, "weight above 0"},
        {far, TAKT_E_INVALID, "0 to 60 s"},
        {long_ago, TAKT_E_INVALID, "1970 to 2069"},
        {many_outages, TAKT_E_INVALID, "at most 64"},
        {too_early, TAKT_E_INVALID, "an outage of the store"},
        {no_crash, TAKT_E_INVALID, "a crash must stop at least 1 worker"},
    };
    test_policy made = make_limit(rules, NULL);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        takt_simulation *simulation = NULL;
        takt_error error = {0};
        takt_bulk bulk;
        takt_bulk_init(&bulk, 10);
        rows[i].change(&bulk);
        cr_expect_eq(takt_simulation_run(&simulation, made.limit, NULL, &bulk, &error),
                     rows[i].code, "row %zu", i);
        cr_expect_eq(takt_simulation_run(&simulation, made.limit, NULL, &bulk, NULL), rows[i].code,
                     "row %zu", i);
        cr_expect_null(simulation);
        cr_expect_not_null(strstr(error.text, rows[i].words), "row %zu: %s", i, error.text);
    }
    takt_policy_free(made.policy);
}

Test(simulation_open, an_unknown_algorithm_is_named)
{
    test_policy made = make_limit(rules, NULL);
    takt_simulation *simulation = NULL;
    takt_error error = {0};
    takt_bulk bulk;

    takt_bulk_init(&bulk, 10);
    cr_expect_eq(takt_simulation_run(&simulation, made.limit, "gcar", &bulk, &error),
                 TAKT_E_POLICY);
    cr_expect_not_null(strstr(error.text, "\"gcar\""), "%s", error.text);
    cr_expect_eq(takt_simulation_run(NULL, made.limit, NULL, &bulk, &error), TAKT_E_INVALID);
    cr_expect_eq(takt_simulation_run(&simulation, NULL, NULL, &bulk, &error), TAKT_E_INVALID);
    takt_policy_free(made.policy);
}

Test(simulation_open, an_algorithm_takes_the_place_of_another)
{
    static const takt_rule_text
        plain[] = {{.rate = "10/s"}, {0}},
        bucket[] = {{.rate = "10/s", .algorithm = "token-bucket"}, {0}},
        leaky[] = {{.rate = "10/s", .algorithm = "leaky-bucket", .queue = "50"}, {0}},
        windows[] = {{.rate = "10/s", .algorithm = "fixed-window", .align = "first-use"}, {0}};
    static const struct {
        const takt_rule_text *rules;
        const char *algorithm;
        int64_t burst; /* the most at one instant */
    } rows[] = {
        {rules, "gcra", 4},         {rules, "token-bucket", 4},
        {rules, "leaky-bucket", 1}, {rules, "fixed-window", 10},
        {plain, "gcra", 1},         {plain, "token-bucket", 10},
        {bucket, "gcra", 1},        {bucket, "sliding-log", 10},
        {leaky, "gcra", 1},         {leaky, "sliding-window", 10},
        {windows, "gcra", 1},       {windows, "token-bucket", 10},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        test_policy made = make_limit(rows[i].rules, NULL);
        takt_simulation *simulation;
        takt_error error = {0};
        takt_bulk bulk;
        takt_bulk_init(&bulk, 10);
        cr_assert_eq(takt_simulation_run(&simulation, made.limit, rows[i].algorithm, &bulk, &error),
                     0, "row %zu: %s", i, error.text);
        cr_expect_str_eq(takt_simulation_figures(simulation)->busiest[0].algorithm,
                         rows[i].algorithm);
        cr_expect_eq(takt_simulation_figures(simulation)->busiest[0].burst, rows[i].burst,
                     "row %zu: %lld", i,
                     (long long)takt_simulation_figures(simulation)->busiest[0].burst);
        takt_simulation_free(simulation);
        takt_policy_free(made.policy);
    }
}
