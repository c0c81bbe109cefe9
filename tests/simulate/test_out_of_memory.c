/*
 * Whichever allocation of a simulation fails, it ends with TAKT_E_NOMEM; with enough memory it
 * gives the same figures as ever.
 */
#include <string.h>

#include "limits.h"
#include "memory/failing.h"
#include "simulate/fleet.h"

#define MS     INT64_C(1000)
#define SECOND INT64_C(1000000)
#define NOW    (INT64_C(1700000000) * SECOND)
#define DENSE  200

static const takt_rule_text logged[] = {
    {.rate = "40/s", .algorithm = "sliding-log"}, {.rate = "300/min", .burst = "10"}, {0}};

static void check_each(bool (*run)(void *data), void *data)
{
    int64_t n = failing_each(run, data, DENSE);

    cr_expect_eq(n, 0, "with allocation %lld", (long long)n);
}

/* ---- a bulk job ------------------------------------------------------------------------------ */

typedef struct bulk_case {
    const takt_limit *limit;
    takt_bulk bulk;
    takt_figures figures; /* with enough memory */
} bulk_case;

static bool bulk_ends(void *data)
{
    bulk_case *self = data;
    takt_simulation *simulation = NULL;
    takt_error error = {0};
    int code = takt_simulation_run(&simulation, self->limit, NULL, &self->bulk, &error);
    bool good;

    if (failing_struck())
        good = code == TAKT_E_NOMEM && !simulation &&
               strcmp(error.text, takt_strerror(TAKT_E_NOMEM)) == 0;
    else
        good = code == 0 && memcmp(takt_simulation_figures(simulation), &self->figures,
                                   sizeof self->figures) == 0;
    takt_simulation_free(simulation);
    return good;
}

static void check_bulk(const test_policy *made)
{
    static const takt_outage outage = {300 * MS, 200 * MS};
    static const takt_crash crash = {400 * MS, 300 * MS, 2};
    takt_simulation *simulation;
    bulk_case self = {.limit = made->limit};

    takt_bulk_init(&self.bulk, 150);
    self.bulk.workers = 4;
    self.bulk.at_once = 4;
    self.bulk.work_max_us = 50 * MS;
    self.bulk.cost_max = 3;
    self.bulk.outages = &outage;
    self.bulk.crashes = &crash;
    self.bulk.outage_count = self.bulk.crash_count = 1;
    cr_assert_eq(takt_simulation_run(&simulation, made->limit, NULL, &self.bulk, NULL), 0);
    self.figures = *takt_simulation_figures(simulation);
    takt_simulation_free(simulation);
    check_each(bulk_ends, &self);
    takt_policy_free(made->policy);
}

Test(out_of_memory, a_bulk_job_under_rules_ends)
{
    test_policy made = make_limit(logged, NULL);

    check_bulk(&made);
}

Test(out_of_memory, a_bulk_job_under_permits_ends)
{
    test_policy made = make_permits("3", "1s");

    check_bulk(&made);
}

/* ---- decisions about arrivals ---------------------------------------------------------------- */

static void count_decision(const takt_decision *decision, void *data)
{
    (void)decision;
    ++*(int *)data;
}

static bool oracle_ends(void *limit)
{
    takt_oracle *oracle = NULL;
    int decisions = 0,
        code = takt_oracle_open(&oracle, limit, 0, false, count_decision, &decisions);

    for (int i = 0; i < 100 && code == 0; i++) {
        takt_arrival arrival = {.at_us = i / 10 * 100 * MS,
                                .cost = 1 + i % 3,
                                .priority = i % 10,
                                .max_wait_us = i % 4 == 0 ? -1 : i * 10 * MS};
        code = takt_oracle_arrive(oracle, &arrival);
    }
    if (code == 0)
        code = takt_oracle_end(oracle);
    takt_oracle_close(oracle);
    return failing_struck() ? code == TAKT_E_NOMEM : code == 0 && decisions == 100;
}

Test(out_of_memory, decisions_about_arrivals_end)
{
    test_policy made = make_limit(logged, "20");

    check_each(oracle_ends, (void *)(uintptr_t)made.limit);
    takt_policy_free(made.policy);
}

/* ---- a fleet whose store keeps its ledger as text -------------------------------------------- */

static void came(takt_permit *permit, int status)
{
    *(int *)permit->data += status == 0;
}

static void crash(takt_fleet *fleet, void *data)
{
    (void)data;
    takt_fleet_cut(&fleet->workers[1], true);
    takt_fleet_crash(&fleet->workers[0]);
    takt_fleet_restart(&fleet->workers[0]);
}

static bool fleet_ends(void *limit)
{
    takt_permit permits[40] = {0};
    int granted = 0;
    takt_fleet fleet;
    int code = takt_fleet_open(&fleet, limit, 4, NOW, 1);

    if (code < 0)
        return failing_struck() && code == TAKT_E_NOMEM;
    for (int i = 0; i < 40; i++) {
        permits[i] = (takt_permit){.cost = 1, .data = &granted, .callback = came};
        takt_fleet_acquire(&fleet.workers[i % 4], 0, &permits[i], 0);
    }
    takt_fleet_at(&fleet, NOW + 100 * MS, crash, NULL);
    takt_fleet_call(&fleet.workers[2], 0, TAKT_OP_BLOCK, 200 * MS);
    code = takt_fleet_run(&fleet, NOW + 5 * SECOND);
    takt_fleet_close(&fleet);
    return failing_struck() ? code == TAKT_E_NOMEM : code == 0 && granted >= 20;
}

Test(out_of_memory, a_fleet_ends)
{
    test_policy made = make_limit(logged, NULL);

    check_each(fleet_ends, (void *)(uintptr_t)made.limit);
    takt_policy_free(made.policy);
}
