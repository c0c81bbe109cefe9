/*
 * simulation_open.c: checks the parameters of a simulated bulk job, and makes the limit that it
 * runs under.
 */
#include <stdlib.h>

#include <takt/takt.h>

#include "base/fail.h"
#include "policy/unit_text.h"
#include "simulate/levels.h"
#include "simulate/simulation.h"

#define LONGEST_US (TAKT_SPAN_MAX_US / 50) /* one year, for events planned within a job */

void takt_bulk_init(takt_bulk *bulk, int64_t jobs)
{
    *bulk = (takt_bulk){.jobs = jobs,
                        .workers = 1,
                        .at_once = 64,
                        .cost_min = 1,
                        .cost_max = 1,
                        .round_trip_us = 1000};
    bulk->weights[TAKT_PRIORITY_DEFAULT] = 1;
}

static int refuse(takt_error *error, const char *what)
{
    return takt_fail(error, TAKT_E_INVALID, "%s", what);
}

static bool is_span(int64_t us)
{
    return us >= 0 && us <= LONGEST_US;
}

static int check_events(const takt_bulk *bulk, takt_error *error)
{
    if (bulk->outage_count > TAKT_SIM_EVENTS_MAX || bulk->crash_count > TAKT_SIM_EVENTS_MAX)
        return refuse(error, "at most 64 outages of the store and 64 crashes");
    for (unsigned i = 0; i < bulk->outage_count; i++)
        if (!is_span(bulk->outages[i].at_us) || !is_span(bulk->outages[i].for_us))
            return refuse(
                error,
                "an outage of the store must begin within 365 days and last at most 365 days");
    for (unsigned i = 0; i < bulk->crash_count; i++)
        if (!is_span(bulk->crashes[i].at_us) || !is_span(bulk->crashes[i].for_us) ||
            bulk->crashes[i].workers < 1)
            return refuse(error, "a crash must stop at least 1 worker, begin within 365 days and "
                                 "last at most 365 days");
    return 0;
}

static int check_bulk(const takt_bulk *bulk, takt_error *error)
{
    int64_t total = 0;

    if (bulk->jobs < 1 || bulk->jobs > TAKT_SIM_JOBS_MAX)
        return refuse(error, "there must be 1 to 1000000000 jobs");
    if (bulk->workers < 1 || bulk->workers > TAKT_SIM_WORKERS_MAX)
        return refuse(error, "there must be 1 to 10000 workers");
    if (bulk->at_once < 1 || bulk->at_once > TAKT_SIM_AT_ONCE_MAX)
        return refuse(error, "a worker must have 1 to 10000 jobs in hand");
    if (!is_span(bulk->work_min_us) || !is_span(bulk->work_max_us) ||
        bulk->work_min_us > bulk->work_max_us)
        return refuse(error, "the time of a job must be 0 to 365 days, the shortest time first");
    if (bulk->cost_min < 1 || bulk->cost_max > TAKT_COST_MAX || bulk->cost_min > bulk->cost_max)
        return refuse(error,
                      "the cost of a job must be 1 to 1000000 tokens, the lowest cost first");
    for (int i = 0; i < TAKT_SIM_PRIORITIES; i++) {
        if (bulk->weights[i] < 0 || bulk->weights[i] > 1000000)
            return refuse(error, "the weight of a priority must be 0 to 1000000");
        total += bulk->weights[i];
    }
    if (total == 0)
        return refuse(error, "at least one priority must have a weight above 0");
    if (bulk->round_trip_us < 0 || bulk->round_trip_us > 60000000)
        return refuse(error, "a round trip must take 0 to 60 s");
    if (bulk->start_us < 0 || bulk->start_us > 2 * TAKT_SPAN_MAX_US)
        return refuse(error, "the job must begin in 1970 to 2069");
    return check_events(bulk, error);
}

/* The burst given in the policy; 0 for the algorithm's default. */
static int64_t given_burst(const takt_rule *rule)
{
    takt_rule plain = *rule;

    plain.burst = 0;
    return takt_rule_prepare(&plain, NULL) == 0 && plain.burst == rule->burst ? 0 : rule->burst;
}

/* Changes the rule to another algorithm, keeping the numbers that the algorithm takes. */
static int change_algorithm(takt_rule *rule, const takt_algorithm *algorithm, takt_error *error)
{
    int64_t burst = given_burst(rule);

    rule->algorithm = algorithm;
    rule->burst = algorithm->takes & TAKT_TAKES_BURST ? burst : 0;
    rule->queue = algorithm->takes & TAKT_TAKES_QUEUE ? rule->queue : 0;
    rule->align = algorithm->takes & TAKT_TAKES_ALIGN ? rule->align : TAKT_ALIGN_DEFAULT;
    rule->zone = algorithm->takes & TAKT_TAKES_TIMEZONE ? rule->zone : NULL;
    return takt_rule_prepare(rule, error);
}

static int set_algorithm(takt_limit *limit, const char *name, takt_error *error)
{
    const takt_algorithm *algorithm = takt_algorithm_named(name);
    char names[128];

    if (!algorithm) {
        takt_algorithm_list(0, names, sizeof names);
        return takt_fail(error, TAKT_E_POLICY, "there is no algorithm \"%.40s\"; write %s", name,
                         names);
    }
    for (int i = 0; i < limit->numbers.rule_count; i++) {
        int code = 0;
        if (limit->numbers.rules[i].algorithm != algorithm)
            code = change_algorithm(&limit->numbers.rules[i], algorithm, error);
        if (code < 0) {
            takt_fail_prefix(error, "%s: rules[%d].", name, i);
            return code;
        }
    }
    return 0;
}

static int check_cost(const takt_limit *limit, takt_unit unit, int64_t cost, takt_error *error)
{
    int rule = 0;
    int64_t capacity = takt_numbers_capacity(&limit->numbers, unit, &rule);
    const char *name = takt_unit_name_in(limit, unit);

    if (cost <= capacity)
        return 0;
    return takt_fail(error, TAKT_E_COST,
                     "a job of %s%lld%s%s: rules[%d] (%s) gives at most %lld at once",
                     name[0] ? "" : "cost ", (long long)cost, name[0] ? " " : "", name, rule,
                     limit->numbers.rules[rule].algorithm->name, (long long)capacity);
}

/* What a job takes at least, or at most. */
static int read_amounts(const takt_limit *limit, const takt_bulk *bulk, bool most, int32_t *cost,
                        takt_more *more, takt_error *error)
{
    takt_amount amounts[TAKT_AMOUNTS_MAX];

    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++) {
        const takt_amount_span *span = &bulk->amounts[i];
        if (span->unit && span->min > span->max)
            return takt_fail(error, TAKT_E_INVALID,
                             "a job of %d to %d %s; write the lower amount first", (int)span->min,
                             (int)span->max, span->unit);
        amounts[i] = (takt_amount){span->unit, most ? span->max : span->min};
    }
    return takt_levels_amounts(limit, most ? bulk->cost_max : bulk->cost_min, amounts, cost, more,
                               error);
}

static int set_amounts(takt_simulation *simulation, const takt_bulk *bulk, takt_error *error)
{
    const takt_limit *limit = &simulation->limit;
    int code =
        read_amounts(limit, bulk, false, &simulation->cost_min, &simulation->more_min, error);

    if (code == 0)
        code = read_amounts(limit, bulk, true, &simulation->cost_max, &simulation->more_max, error);
    if (code == 0)
        code = check_cost(limit, TAKT_UNIT_TOKENS, simulation->cost_max, error);
    for (int i = 0; code == 0 && i < TAKT_MORE_MAX && limit->more_units[i][0]; i++)
        code =
            check_cost(limit, (takt_unit)(TAKT_UNIT_MORE + i), simulation->more_max.of[i], error);
    return code;
}

/* The shortest period of the rules. */
static int64_t shortest_period(const takt_limit *limit)
{
    int64_t period_us = limit->numbers.rule_count > 0 ? limit->numbers.rules[0].period_us : 1000000;

    for (int i = 1; i < limit->numbers.rule_count; i++)
        period_us = takt_min(period_us, limit->numbers.rules[i].period_us);
    return period_us;
}

/* Copies the bulk and its lists. */
static void keep_bulk(takt_simulation *simulation, const takt_bulk *bulk)
{
    simulation->bulk = *bulk;
    for (unsigned i = 0; i < bulk->outage_count; i++)
        simulation->outages[i] = bulk->outages[i];
    for (unsigned i = 0; i < bulk->crash_count; i++)
        simulation->crashes[i] = bulk->crashes[i];
    simulation->bulk.outages = simulation->outages;
    simulation->bulk.crashes = simulation->crashes;
}

int takt_simulation_run(takt_simulation **simulation, const takt_limit *limit,
                        const char *algorithm, const takt_bulk *bulk, takt_error *error)
{
    takt_simulation *made;
    int code;

    if (!simulation || !limit || !bulk)
        return refuse(error, "a limit and a bulk job are needed");
    code = check_bulk(bulk, error);
    if (code < 0)
        return code;
    made = calloc(1, sizeof *made);
    if (!made)
        return takt_fail(error, TAKT_E_NOMEM, "%s", takt_strerror(TAKT_E_NOMEM));
    keep_bulk(made, bulk);
    code = takt_levels_join(&made->limit, limit, error);
    /* the simulation shows what the limit will do when enforced */
    made->limit.mode = TAKT_MODE_ENFORCE;
    if (code == 0 && algorithm)
        code = set_algorithm(&made->limit, algorithm, error);
    if (code == 0)
        code = set_amounts(made, bulk, error);
    if (code < 0)
        goto free_simulation;
    for (int i = 0; i < made->limit.numbers.rule_count; i++)
        made->figures.busiest[i].limit_name = takt_levels_name(limit, i);
    takt_series_init(&made->series, shortest_period(&made->limit));
    made->starts = calloc((size_t)bulk->workers, sizeof *made->starts);
    made->crashed = calloc((size_t)bulk->workers, sizeof *made->crashed);
    code = made->starts && made->crashed ? takt_simulation_compute(made) : TAKT_E_NOMEM;
    if (code < 0) {
        takt_fail(error, code, "%s", takt_strerror(code));
        goto free_simulation;
    }
    *simulation = made;
    return 0;

free_simulation:
    takt_simulation_free(made);
    return code;
}

const takt_figures *takt_simulation_figures(const takt_simulation *simulation)
{
    return &simulation->figures;
}

int64_t takt_simulation_worker_starts(const takt_simulation *simulation, int32_t worker)
{
    return worker >= 0 && worker < simulation->bulk.workers ? simulation->starts[worker] : 0;
}

void takt_simulation_free(takt_simulation *simulation)
{
    if (!simulation)
        return;
    free(simulation->crashed);
    free(simulation->starts);
    free(simulation);
}
