/*
 * A bulk job on a simulated fleet: it takes as long as the limit requires, all of it is done,
 * whichever workers crash, and the same seed gives the same simulation.
 */
#include <stdlib.h>
#include <string.h>

#include "core/limit.h"
#include "limits.h"

#define MS     INT64_C(1000)
#define SECOND INT64_C(1000000)

static const takt_rule_text hundred[] = {{.rate = "100/s"}, {0}};

/* The figures of a job; the simulation is gone. */
static takt_figures figures_of(const takt_rule_text *rules, const char *max_waiting,
                               const takt_bulk *bulk)
{
    test_policy made = make_limit(rules, max_waiting);
    takt_simulation *simulation;
    takt_error error = {0};
    takt_figures figures;

    cr_assert_eq(takt_simulation_run(&simulation, made.limit, NULL, bulk, &error), 0, "%s",
                 error.text);
    figures = *takt_simulation_figures(simulation);
    takt_simulation_free(simulation);
    takt_policy_free(made.policy);
    return figures;
}

static takt_bulk job(int64_t jobs, int32_t workers)
{
    takt_bulk bulk;

    takt_bulk_init(&bulk, jobs);
    bulk.workers = workers;
    return bulk;
}

Test(simulation, a_fleet_of_any_size_keeps_the_rate_and_shares_it)
{
    static const int32_t workers[] = {1, 4, 16, 64};

    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
        takt_bulk bulk = job(10000, workers[i]);
        takt_figures figures;
        bulk.at_once = 16;
        figures = figures_of(hundred, NULL, &bulk);
        cr_expect_eq(figures.jobs_done, 10000);
        cr_expect_eq(figures.started, 10000);
        cr_expect_eq(figures.tokens, 10000);
        /* 9999 gaps of 10 ms, and the way to the store */
        cr_expect(figures.duration_us >= 9999 * 10 * MS &&
                      figures.duration_us <= 9999 * 10 * MS + 10 * MS,
                  "%d workers take %lld us", workers[i], (long long)figures.duration_us);
        cr_expect_eq(figures.busiest[0].slots, 100, "%lld", (long long)figures.busiest[0].slots);
        cr_expect_leq(figures.busiest[0].starts, 101);
        cr_expect_geq(figures.min_per_worker * 10, figures.max_per_worker * 9);
        cr_expect_eq(figures.all.count, 10000);
        cr_expect_eq(figures.waits[5].count, 10000);
        cr_expect_eq(figures.refused + figures.started_again, 0);
    }
}

/* One job at a time, and a limit that is never reached: each job takes one round trip. */
Test(simulation, a_round_trip_is_as_long_as_said_on_average)
{
    static const takt_rule_text wide[] = {{.rate = "1000000/s", .burst = "1000000"}, {0}};
    takt_bulk bulk = job(2000, 1);
    takt_figures figures;

    bulk.at_once = 1;
    bulk.round_trip_us = 80 * MS;
    figures = figures_of(wide, NULL, &bulk);
    cr_expect_eq(figures.store_calls, 2000);
    cr_expect(figures.duration_us > 2000 * 78 * MS && figures.duration_us < 2000 * 82 * MS, "%lld",
              (long long)figures.duration_us);
    cr_expect_leq(figures.all.max_us, 121 * MS, "3/4 each way");
}

Test(simulation, a_crash_after_the_last_job_counts_for_nothing)
{
    takt_crash crash = {20 * SECOND, 0, 3};
    takt_bulk bulk = job(10, 2);
    takt_figures figures;

    bulk.crashes = &crash;
    bulk.crash_count = 1;
    figures = figures_of(hundred, NULL, &bulk);
    cr_expect_eq(figures.jobs_done, 10);
    cr_expect_eq(figures.min_per_worker + figures.max_per_worker, 10);
}

Test(simulation, the_urgent_wait_least)
{
    takt_bulk bulk = job(5000, 8);
    takt_figures figures;

    bulk.weights[0] = 1;
    bulk.weights[5] = 9;
    figures = figures_of(hundred, NULL, &bulk);
    cr_expect(figures.waits[0].count > 300 && figures.waits[0].count < 700, "one in ten");
    cr_expect_eq(figures.waits[0].count + figures.waits[5].count, 5000);
    cr_expect_lt(figures.waits[0].p50_us, 300 * MS, "within one lookahead, and a little");
    cr_expect_gt(figures.waits[5].p50_us, 2 * SECOND);
}

Test(simulation, costs_count)
{
    static const takt_rule_text rules[] = {{.rate = "100/s", .burst = "10"}, {0}};
    takt_bulk bulk = job(2000, 4);
    takt_figures figures;

    bulk.cost_max = 5;
    figures = figures_of(rules, NULL, &bulk);
    cr_expect(figures.tokens > 5500 && figures.tokens < 6500, "3 on average: %lld",
              (long long)figures.tokens);
    cr_expect_geq(figures.duration_us, (figures.tokens - 10) * 10 * MS - 1);
    cr_expect_leq(figures.busiest[0].slots, 109, "a window may hold the rate and the burst");
}

Test(simulation, an_outage_costs_its_time)
{
    takt_outage outage = {10 * SECOND, 5 * SECOND};
    takt_bulk bulk = job(3000, 8);
    takt_figures figures;

    bulk.outages = &outage;
    bulk.outage_count = 1;
    figures = figures_of(hundred, NULL, &bulk);
    cr_expect_eq(figures.jobs_done, 3000);
    /* a claim may be lost just when the store goes, and is only given up after its second; then it
     * backs off */
    cr_expect(figures.duration_us > 34 * SECOND && figures.duration_us < 38 * SECOND, "%lld us",
              (long long)figures.duration_us);
    cr_expect_leq(figures.busiest[0].slots, 100);
}

/* Five seconds without a store, each time: what becomes of their 500 jobs. */
Test(simulation, an_outage_goes_by_on_store_failure)
{
    static const struct {
        takt_on_store_failure mode;
        int64_t min_s, max_s; /* the duration */
        int64_t busiest;      /* slots in a second, at most */
        bool refused;
    } rows[] = {{TAKT_ON_STORE_FAILURE_WAIT, 34, 38, 100, false},
                {TAKT_ON_STORE_FAILURE_CLOSED, 34, 38, 100, true},
                /* some still share while others have found out that the store is back */
                {TAKT_ON_STORE_FAILURE_SHARE, 30, 33, 200, false},
                {TAKT_ON_STORE_FAILURE_OPEN, 10, 16, 3000, false}};
    takt_outage outage = {10 * SECOND, 5 * SECOND};
    takt_bulk bulk = job(3000, 8);

    bulk.outages = &outage;
    bulk.outage_count = 1;
    bulk.work_min_us = bulk.work_max_us = 100 * MS;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        test_policy made = make_limit(hundred, NULL);
        takt_limit limit = *made.limit;
        takt_simulation *simulation;
        const takt_figures *figures;
        limit.on_store_failure = rows[i].mode;
        cr_assert_eq(takt_simulation_run(&simulation, &limit, NULL, &bulk, NULL), 0);
        figures = takt_simulation_figures(simulation);
        cr_expect_eq(figures->jobs_done, 3000, "row %zu", i);
        cr_expect(figures->duration_us >= rows[i].min_s * SECOND &&
                      figures->duration_us <= rows[i].max_s * SECOND,
                  "row %zu: %lld us", i, (long long)figures->duration_us);
        cr_expect_leq(figures->busiest[0].slots, rows[i].busiest, "row %zu: %lld", i,
                      (long long)figures->busiest[0].slots);
        cr_expect_eq(figures->refused > 0, rows[i].refused, "row %zu: %lld", i,
                     (long long)figures->refused);
        takt_simulation_free(simulation);
        takt_policy_free(made.policy);
    }
}

Test(simulation, what_a_crashed_worker_had_in_hand_is_done_by_others)
{
    takt_crash crashes[] = {{5 * SECOND, 0, 3}, {8 * SECOND, 2 * SECOND, 1}};
    takt_bulk bulk = job(3000, 8);
    takt_figures figures;

    bulk.crashes = crashes;
    bulk.crash_count = 2;
    bulk.work_min_us = 100 * MS;
    bulk.work_max_us = 900 * MS;
    figures = figures_of(hundred, NULL, &bulk);
    cr_expect_eq(figures.jobs_done, 3000);
    cr_expect_gt(figures.started_again, 0);
    cr_expect_eq(figures.started, 3000 + figures.started_again);
    cr_expect_geq(figures.slots, figures.started);
    cr_expect(figures.max_at_work >= 30 && figures.max_at_work <= 90,
              "100/s for half a second: %lld", (long long)figures.max_at_work);
    cr_expect_leq(figures.busiest[0].slots, 100);
}

Test(simulation, a_worker_that_begins_anew_works_as_long_as_any)
{
    takt_crash crash = {500 * MS, 100 * MS, 1};
    takt_bulk bulk = job(3, 1);
    takt_figures figures;

    bulk.crashes = &crash;
    bulk.crash_count = 1;
    bulk.at_once = 1;
    bulk.work_min_us = bulk.work_max_us = SECOND;
    figures = figures_of(hundred, NULL, &bulk);
    cr_expect(figures.duration_us >= 3600 * MS && figures.duration_us < 3610 * MS, "%lld us",
              (long long)figures.duration_us);
    cr_expect_eq(figures.started_again, 1);
    cr_expect_eq(figures.max_at_work, 1);
}

Test(simulation, empty_hands_give_nothing_back)
{
    takt_crash crash = {500 * MS, 0, 1};
    takt_bulk bulk = job(10, 2);
    takt_figures figures;

    bulk.crashes = &crash;
    bulk.crash_count = 1;
    bulk.work_min_us = bulk.work_max_us = SECOND;
    figures = figures_of(hundred, NULL, &bulk);
    cr_expect_eq(figures.jobs_done, 10);
    cr_expect_eq(figures.started, 10 + figures.started_again);
}

Test(simulation, hands_bound_the_jobs_at_work_whatever_crashes)
{
    takt_crash crashes[10];
    takt_bulk bulk = job(200, 2);
    takt_figures figures;

    for (int i = 0; i < 10; i++)
        crashes[i] = (takt_crash){(1 + i) * 700 * MS, 100 * MS, 2};
    bulk.crashes = crashes;
    bulk.crash_count = 10;
    bulk.at_once = 4;
    bulk.work_min_us = bulk.work_max_us = SECOND;
    figures = figures_of(hundred, NULL, &bulk);
    cr_expect_eq(figures.jobs_done, 200);
    cr_expect_eq(figures.max_at_work, 8);
}

Test(simulation, a_seed_draws_other_jobs)
{
    takt_bulk bulk = job(1000, 2);
    static const takt_rule_text rules[] = {{.rate = "1000/s", .burst = "5"}, {0}};
    int64_t tokens;

    bulk.cost_max = 5;
    bulk.seed = 1;
    tokens = figures_of(rules, NULL, &bulk).tokens;
    bulk.seed = 2;
    cr_expect_neq(figures_of(rules, NULL, &bulk).tokens, tokens);
}

Test(simulation, ends_when_no_worker_is_left)
{
    takt_crash crash = {2 * SECOND, 0, 5};
    takt_bulk bulk = job(3000, 2);
    takt_figures figures;

    bulk.crashes = &crash;
    bulk.crash_count = 1;
    figures = figures_of(hundred, NULL, &bulk);
    cr_expect(figures.jobs_done > 190 && figures.jobs_done <= 201, "%lld",
              (long long)figures.jobs_done);
}

Test(simulation, who_is_refused_tries_again)
{
    takt_bulk bulk = job(1000, 4);
    takt_figures figures = figures_of(hundred, "50", &bulk);

    cr_expect_gt(figures.refused, 0);
    cr_expect_eq(figures.jobs_done, 1000);
    cr_expect_eq(figures.started, 1000);
}

Test(simulation, the_same_seed_gives_the_same_simulation)
{
    takt_outage outage = {3 * SECOND, 1 * SECOND};
    takt_crash crash = {5 * SECOND, 1 * SECOND, 3};
    takt_bulk bulk = job(2000, 8);
    takt_figures once, again, other;

    bulk.outages = &outage;
    bulk.crashes = &crash;
    bulk.outage_count = bulk.crash_count = 1;
    bulk.work_max_us = SECOND;
    bulk.weights[2] = 3;
    bulk.seed = 7;
    once = figures_of(hundred, NULL, &bulk);
    again = figures_of(hundred, NULL, &bulk);
    bulk.seed = 8;
    other = figures_of(hundred, NULL, &bulk);
    cr_expect_eq(memcmp(&once, &again, sizeof once), 0);
    cr_expect_neq(memcmp(&once, &other, sizeof once), 0);
}

static takt_figures figures_of_permits(const char *concurrency, const char *lease,
                                       const takt_bulk *bulk)
{
    test_policy made = make_permits(concurrency, lease);
    takt_simulation *simulation;
    takt_error error = {0};
    takt_figures figures;

    cr_assert_eq(takt_simulation_run(&simulation, made.limit, NULL, bulk, &error), 0, "%s",
                 error.text);
    figures = *takt_simulation_figures(simulation);
    cr_expect_eq(
        takt_simulation_svg((const takt_simulation *const *)&simulation, 1, "", NULL, NULL),
        TAKT_E_INVALID);
    takt_simulation_free(simulation);
    takt_policy_free(made.policy);
    return figures;
}

Test(simulation, permits_are_held_while_jobs_are_worked_on)
{
    takt_bulk bulk = job(10000, 16);
    takt_figures figures;

    bulk.work_min_us = bulk.work_max_us = 50 * MS;
    bulk.round_trip_us = 200;
    figures = figures_of_permits("20", NULL, &bulk);
    cr_expect_eq(figures.jobs_done, 10000);
    cr_expect_eq(figures.max_at_work, 20);
    cr_expect_eq(figures.concurrency, 20);
    cr_expect(figures.busy_ppm >= 980000 && figures.busy_ppm <= 1000000, "%lld",
              (long long)figures.busy_ppm);
    cr_expect_geq(figures.duration_us, 10000 / 20 * 50 * MS);
    cr_expect_leq(figures.hand_over.p50_us, 2 * bulk.round_trip_us, "four ways");
    cr_expect_leq(figures.store_calls, 4 * figures.started);
    cr_expect_eq(figures.lost + figures.started_again + figures.rule_count, 0);
}

Test(simulation, one_worker_hands_its_permits_on_within_itself)
{
    takt_bulk bulk = job(5000, 1);
    takt_figures figures;

    bulk.work_min_us = bulk.work_max_us = 10 * MS;
    figures = figures_of_permits("4", NULL, &bulk);
    cr_expect_eq(figures.hand_over.p95_us, 0);
    cr_expect_leq(figures.store_calls * 10, figures.started, "%lld",
                  (long long)figures.store_calls);
    cr_expect_eq(figures.max_at_work, 4);
}

Test(simulation, who_is_out_of_touch_for_a_lease_stops_and_begins_again)
{
    takt_outage outage = {5 * SECOND, 4 * SECOND};
    takt_crash crash = {15 * SECOND, 0, 1};
    takt_bulk bulk = job(60, 3);
    takt_figures figures;

    bulk.work_min_us = bulk.work_max_us = 3 * SECOND;
    bulk.outages = &outage;
    bulk.crashes = &crash;
    bulk.outage_count = bulk.crash_count = 1;
    figures = figures_of_permits("6", "1s", &bulk);
    cr_expect_eq(figures.jobs_done, 60);
    cr_expect_eq(figures.lost, 6, "all that were at work: %lld", (long long)figures.lost);
    cr_expect_geq(figures.started_again, 6);
    cr_expect_eq(figures.started, 60 + figures.started_again);
    cr_expect_eq(figures.max_at_work, 6);
}

Test(simulation, permits_and_a_rule_hold_together)
{
    static const takt_rule_text rules[] = {{.rate = "100/s"}, {0}};
    takt_limit_text text = {.name = "limit", .rules = rules, .rule_count = 1, .concurrency = "8"};
    test_policy made = make_limit_of(&text);
    takt_bulk bulk = job(2000, 4);
    takt_simulation *simulation;
    const takt_figures *figures;

    bulk.work_min_us = bulk.work_max_us = 50 * MS; /* five at a time would do */
    cr_assert_eq(takt_simulation_run(&simulation, made.limit, NULL, &bulk, NULL), 0);
    figures = takt_simulation_figures(simulation);
    cr_expect_leq(figures->max_at_work, 8);
    cr_expect_leq(figures->busiest[0].slots, 100);
    cr_expect(figures->duration_us < 21 * SECOND, "%lld", (long long)figures->duration_us);
    takt_simulation_free(simulation);
    takt_policy_free(made.policy);
}

Test(simulation, starts_of_each_worker_are_told)
{
    test_policy made = make_limit(hundred, NULL);
    takt_bulk bulk = job(1000, 3);
    takt_simulation *simulation;

    bulk.at_once = 10;
    cr_assert_eq(takt_simulation_run(&simulation, made.limit, NULL, &bulk, NULL), 0);
    cr_expect_eq(takt_simulation_worker_starts(simulation, 0) +
                     takt_simulation_worker_starts(simulation, 1) +
                     takt_simulation_worker_starts(simulation, 2),
                 1000);
    cr_expect_eq(takt_simulation_worker_starts(simulation, 3), 0);
    cr_expect_eq(takt_simulation_worker_starts(simulation, -1), 0);
    takt_simulation_free(simulation);
    takt_simulation_free(NULL);
    takt_policy_free(made.policy);
}
