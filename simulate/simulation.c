/*
 * simulation.c: a bulk job on a simulated fleet, and its figures.
 *
 * Decides what a worker does besides waiting: it takes jobs from the queue, works on them, crashes
 * and restarts. lib/scheduler and lib/core decide when a job starts, and network.c how messages
 * travel. A finished job takes no memory: 10 million jobs take the memory of those in hand.
 */
#include "simulate/simulation.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "core/award.h"
#include "policy/unit_text.h"
#include "simulate/busiest.h"
#include "simulate/fleet.h"
#include "simulate/utilization.h"
#include "simulate/waits.h"

#define TIMEOUT_US                                                                                 \
    INT64_C(1000000) /* as a client's store calls have it, where nothing else is said */
#define DIFFERENT(n) (UINT64_C(0xd1342543de82ef95) * ((n) + 1))

__extension__ typedef unsigned __int128 wide;

typedef struct simulation_run simulation_run;

/* A job that a worker has in hand. Everything about a job follows from its number. */
typedef struct taken_job {
    takt_permit permit;
    simulation_run *run;
    takt_fleet_worker *worker;
    int64_t number; /* -1: no job */
    int64_t since_us;
    int64_t done_at_us; /* TAKT_NEVER: not started */
} taken_job;

/* A planned event, for takt_fleet_at. */
typedef struct planned_event {
    simulation_run *run;
    const takt_crash *crash;
    takt_fleet_worker *worker; /* the worker that restarts */
} planned_event;

struct simulation_run {
    takt_simulation *simulation;
    const takt_bulk *bulk;
    takt_fleet fleet;
    taken_job *taken_jobs; /* `at_once` per worker */
    int64_t next_number;   /* the first job that no worker has taken yet */
    int64_t *given_back;   /* numbers of jobs that crashed workers had in hand */
    int64_t given_back_count;
    bool *started_before; /* for each of given_back: whether it had started */
    int64_t at_work;
    int outages; /* outages at this time */
    uint64_t random;
    planned_event crashes[TAKT_SIM_EVENTS_MAX];
    planned_event *restarts; /* one per worker */
    takt_histogram *waits;   /* by priority, then of all */
    takt_window slots[TAKT_RULES_MAX], starts[TAKT_RULES_MAX];
    takt_utilization utilization;
    bool out_of_memory;
};

/* ---- jobs ------------------------------------------------------------------------------------ */

static int64_t between(uint64_t *random, int64_t min, int64_t max)
{
    return min + takt_random_below(random, max - min + 1);
}

/* A random number of a job, the same for its first and later starts. */
static uint64_t random_of(const simulation_run *run, int64_t number)
{
    return run->bulk->seed ^ DIFFERENT((uint64_t)number);
}

static int draw_priority(const takt_bulk *bulk, uint64_t *random)
{
    int64_t total = 0, drawn;
    int priority = 0;

    for (int i = 0; i < TAKT_SIM_PRIORITIES; i++)
        total += bulk->weights[i];
    drawn = takt_random_below(random, total);
    while (drawn >= bulk->weights[priority])
        drawn -= bulk->weights[priority++];
    return priority;
}

static void ask(taken_job *job);

/* Takes the next job and acquires. */
static bool take_job(taken_job *job)
{
    simulation_run *run = job->run;

    if (run->given_back_count > 0) {
        job->number = run->given_back[--run->given_back_count];
        run->simulation->figures.started_again += run->started_before[run->given_back_count];
    } else if (run->next_number < run->bulk->jobs) {
        job->number = run->next_number++;
    } else {
        return false;
    }
    job->since_us = run->fleet.now_us;
    job->done_at_us = TAKT_NEVER;
    ask(job);
    return true;
}

static void job_done(takt_fleet *fleet, void *data)
{
    taken_job *job = data;
    simulation_run *run = job->run;

    if (job->number < 0 || job->done_at_us != fleet->now_us)
        return; /* its worker has crashed meanwhile */
    job->number = -1;
    run->at_work--;
    if (run->simulation->limit.numbers.concurrency > 0) {
        takt_utilization_give_back(&run->utilization, fleet->now_us);
        takt_fleet_release(job->worker, &job->permit);
    }
    run->simulation->figures.jobs_done++;
    run->simulation->figures.duration_us = fleet->now_us - run->bulk->start_us;
    take_job(job);
}

static void note_start(simulation_run *run, const taken_job *job)
{
    takt_figures *figures = &run->simulation->figures;
    const takt_permit *permit = &job->permit;
    int64_t now_us = run->fleet.now_us, after_us = now_us - run->bulk->start_us;
    takt_amounts taken = takt_amounts_of(permit->cost, permit->more);

    if (figures->started == 0)
        figures->first_start_us = after_us;
    figures->last_start_us = after_us;
    figures->started++;
    figures->tokens += permit->cost;
    run->simulation->starts[job->worker->index]++;
    takt_histogram_add(&run->waits[permit->priority], now_us - job->since_us);
    takt_histogram_add(&run->waits[TAKT_SIM_PRIORITIES], now_us - job->since_us);
    takt_series_add(&run->simulation->series, after_us, permit->priority, taken,
                    now_us - job->since_us);
    for (int i = 0; i < run->simulation->limit.numbers.rule_count; i++) {
        int64_t part = taken.of[run->simulation->limit.numbers.rules[i].unit];
        figures->busiest[i].taken += part;
        if (takt_window_add(&run->slots[i], permit->slot_at_us, part) < 0 ||
            takt_window_add(&run->starts[i], now_us, part) < 0)
            run->out_of_memory = true;
    }
    if (run->simulation->limit.numbers.concurrency > 0)
        takt_utilization_take(&run->utilization, now_us);
    if (++run->at_work > figures->max_at_work)
        figures->max_at_work = run->at_work;
}

static void ask_again(takt_fleet *fleet, void *data)
{
    taken_job *job = data;

    (void)fleet;
    if (job->number >= 0 && job->done_at_us == TAKT_NEVER &&
        job->permit.state == TAKT_PERMIT_IDLE && !job->worker->dead)
        ask(job);
}

static void permit_came(takt_permit *permit, int status)
{
    taken_job *job = permit->data;
    simulation_run *run = job->run;
    uint64_t random = random_of(run, ~job->number);

    if (status != 0) { /* refused: max_waiting, a rule's queue, or a lost store */
        int64_t later_us = permit->retry_after_us;
        run->simulation->figures.refused++;
        if (later_us < run->simulation->limit.numbers.lookahead_us)
            later_us = run->simulation->limit.numbers.lookahead_us;
        takt_fleet_at(&run->fleet, run->fleet.now_us + later_us, ask_again, job);
        return;
    }
    note_start(run, job);
    job->done_at_us =
        run->fleet.now_us + between(&random, run->bulk->work_min_us, run->bulk->work_max_us);
    if (job->done_at_us == run->fleet.now_us)
        job_done(&run->fleet, job);
    else
        takt_fleet_at(&run->fleet, job->done_at_us, job_done, job);
}

static void ask(taken_job *job)
{
    const takt_simulation *simulation = job->run->simulation;
    uint64_t random = random_of(job->run, job->number);

    job->permit = (takt_permit){.data = job, .callback = permit_came};
    job->permit.priority = (int8_t)draw_priority(job->run->bulk, &random);
    job->permit.cost = (int32_t)between(&random, simulation->cost_min, simulation->cost_max);
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        job->permit.more.of[i] =
            (int32_t)between(&random, simulation->more_min.of[i], simulation->more_max.of[i]);
    takt_fleet_acquire(job->worker, 0, &job->permit, 0);
}

/* The worker was out of touch for longer than a lease: the job stops, and must be done again. */
static void permit_lost(takt_fleet *fleet, takt_fleet_worker *worker, takt_permit *permit)
{
    taken_job *job = permit->data;
    simulation_run *run = job->run;

    run->simulation->figures.lost++;
    run->simulation->figures.started_again++;
    run->at_work--;
    takt_utilization_lose(&run->utilization, fleet->now_us);
    takt_fleet_release(worker, permit);
    job->since_us = fleet->now_us;
    job->done_at_us = TAKT_NEVER;
    ask(job);
}

/* Takes jobs until the worker has `at_once` jobs: at its start, and when jobs come back. */
static void fill(simulation_run *run, const takt_fleet_worker *worker)
{
    taken_job *taken_jobs = run->taken_jobs + (size_t)worker->index * (size_t)run->bulk->at_once;

    for (int i = 0; i < run->bulk->at_once && !worker->dead; i++)
        if (taken_jobs[i].number < 0 && !take_job(&taken_jobs[i]))
            return;
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void outage_begins(takt_fleet *fleet, void *data)
{
    ((simulation_run *)data)->outages++;
    fleet->nodes[0].down = true;
}

static void outage_ends(takt_fleet *fleet, void *data)
{
    fleet->nodes[0].down = --((simulation_run *)data)->outages > 0;
}

static void give_back(simulation_run *run, const takt_fleet_worker *worker)
{
    taken_job *taken_jobs = run->taken_jobs + (size_t)worker->index * (size_t)run->bulk->at_once;

    /* its jobs return in the order in which it took them */
    for (int i = run->bulk->at_once - 1; i >= 0; i--) {
        bool started = taken_jobs[i].number >= 0 && taken_jobs[i].done_at_us != TAKT_NEVER;
        if (taken_jobs[i].number < 0)
            continue;
        run->started_before[run->given_back_count] = started;
        run->given_back[run->given_back_count++] = taken_jobs[i].number;
        run->at_work -= started;
        if (started && run->simulation->limit.numbers.concurrency > 0)
            takt_utilization_lose(&run->utilization, run->fleet.now_us);
        taken_jobs[i].number = -1;
    }
}

static void restarts(takt_fleet *fleet, void *data)
{
    const planned_event *plan = data;

    (void)fleet;
    if (!plan->worker->dead)
        return;
    takt_fleet_restart(plan->worker);
    fill(plan->run, plan->worker);
}

/* The living worker of that rank. */
static takt_fleet_worker *alive(takt_fleet *fleet, int64_t rank)
{
    takt_fleet_worker *worker = fleet->workers;

    for (;; worker++)
        if (!worker->dead && rank-- == 0)
            return worker;
}

static int64_t count_alive(const takt_fleet *fleet)
{
    int64_t count = 0;

    for (int i = 0; i < fleet->worker_count; i++)
        count += !fleet->workers[i].dead;
    return count;
}

static void crashes(takt_fleet *fleet, void *data)
{
    const planned_event *plan = data;
    simulation_run *run = plan->run;
    int64_t left;

    if (run->simulation->figures.jobs_done == run->bulk->jobs)
        return; /* no job is left */
    for (int i = 0; i < plan->crash->workers && (left = count_alive(fleet)) > 0; i++) {
        takt_fleet_worker *worker = alive(fleet, takt_random_below(&run->random, left));
        takt_fleet_crash(worker);
        run->simulation->crashed[worker->index] = true;
        give_back(run, worker);
        if (plan->crash->for_us == 0)
            continue;
        run->restarts[worker->index] = (planned_event){.run = run, .worker = worker};
        takt_fleet_at(fleet, fleet->now_us + plan->crash->for_us, restarts,
                      &run->restarts[worker->index]);
    }
    for (int i = 0; i < fleet->worker_count; i++)
        fill(run, &fleet->workers[i]);
}

static void plan_events(simulation_run *run)
{
    const takt_bulk *bulk = run->bulk;

    for (unsigned i = 0; i < bulk->outage_count; i++) {
        int64_t at_us = bulk->start_us + bulk->outages[i].at_us;
        takt_fleet_at(&run->fleet, at_us, outage_begins, run);
        takt_fleet_at(&run->fleet, at_us + bulk->outages[i].for_us, outage_ends, run);
    }
    for (unsigned i = 0; i < bulk->crash_count; i++) {
        run->crashes[i] = (planned_event){.run = run, .crash = &bulk->crashes[i]};
        takt_fleet_at(&run->fleet, bulk->start_us + bulk->crashes[i].at_us, crashes,
                      &run->crashes[i]);
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

static void count_slots(takt_fleet *fleet, uint64_t worker, const takt_claim *claim,
                        const takt_award *award)
{
    simulation_run *run = fleet->data;

    (void)worker;
    (void)claim;
    if (!award->stale)
        run->simulation->figures.slots += takt_award_given(award);
}

static int open_run(simulation_run *run)
{
    const takt_limit *limit = &run->simulation->limit;
    const takt_bulk *bulk = run->bulk;
    size_t taken_jobs = (size_t)bulk->workers * (size_t)bulk->at_once;
    int code = takt_fleet_open(&run->fleet, limit, bulk->workers, bulk->start_us,
                               takt_random(&run->random));

    if (code < 0)
        return code;
    run->fleet.data = run;
    /* the way in which a store keeps the ledger does not matter here */
    run->fleet.ledgers[0].store.unwritten = true;
    run->fleet.on.award = count_slots;
    run->fleet.on.lost = permit_lost;
    run->fleet.delay_min_us = bulk->round_trip_us / 4;
    run->fleet.delay_max_us = bulk->round_trip_us - bulk->round_trip_us / 4;
    run->fleet.timeout_us =
        2 * bulk->round_trip_us > TIMEOUT_US ? 2 * bulk->round_trip_us : TIMEOUT_US;
    run->taken_jobs = calloc(taken_jobs, sizeof *run->taken_jobs);
    run->given_back = calloc(taken_jobs, sizeof *run->given_back);
    run->started_before = calloc(taken_jobs, sizeof *run->started_before);
    run->restarts = calloc((size_t)bulk->workers, sizeof *run->restarts);
    run->waits = calloc(TAKT_SIM_PRIORITIES + 1, sizeof *run->waits);
    for (int i = 0; i < limit->numbers.rule_count; i++) {
        int64_t period_us = limit->numbers.rules[i].period_us;
        if (takt_window_open(&run->slots[i], period_us, 2 * run->fleet.timeout_us) < 0 ||
            takt_window_open(&run->starts[i], period_us, 0) < 0)
            return TAKT_E_NOMEM;
    }
    if (takt_utilization_open(&run->utilization, taken_jobs) < 0)
        return TAKT_E_NOMEM;
    if (!run->taken_jobs || !run->given_back || !run->started_before || !run->restarts ||
        !run->waits)
        return TAKT_E_NOMEM;
    for (size_t i = 0; i < taken_jobs; i++)
        run->taken_jobs[i] = (taken_job){
            .run = run, .worker = &run->fleet.workers[i / (size_t)bulk->at_once], .number = -1};
    return 0;
}

static void close_run(simulation_run *run)
{
    if (run->fleet.workers)
        takt_fleet_close(&run->fleet);
    for (int i = 0; i < TAKT_RULES_MAX; i++) {
        takt_window_close(&run->slots[i]);
        takt_window_close(&run->starts[i]);
    }
    takt_utilization_close(&run->utilization);
    free(run->waits);
    free(run->restarts);
    free(run->started_before);
    free(run->given_back);
    free(run->taken_jobs);
}

static void sum_up_workers(takt_simulation *simulation)
{
    takt_figures *figures = &simulation->figures;
    int64_t sum = 0, workers = 0;
    wide squares = 0;

    for (int i = 0; i < simulation->bulk.workers; i++) {
        int64_t starts = simulation->starts[i];
        if (simulation->crashed[i])
            continue;
        if (workers == 0 || starts < figures->min_per_worker)
            figures->min_per_worker = starts;
        if (starts > figures->max_per_worker)
            figures->max_per_worker = starts;
        workers++;
        sum += starts;
        squares += (uint64_t)starts * (uint64_t)starts;
    }
    figures->fairness_ppm = 1000000;
    if (squares > 0) {
        wide squared = (wide)(uint64_t)sum * (uint64_t)sum * 1000000;
        figures->fairness_ppm = (int64_t)(squared / ((wide)(uint64_t)workers * squares));
    }
}

static const char *unit_of(const takt_limit *limit, const takt_rule *rule)
{
    const char *name = takt_unit_name_in(limit, rule->unit);

    return name[0] ? name : takt_unit_name(rule->unit);
}

static void sum_up(simulation_run *run)
{
    takt_simulation *simulation = run->simulation;
    takt_figures *figures = &simulation->figures;

    figures->store_calls = run->fleet.claims;
    for (int i = 0; i < TAKT_SIM_PRIORITIES; i++)
        takt_histogram_sum_up(&run->waits[i], &figures->waits[i]);
    takt_histogram_sum_up(&run->waits[TAKT_SIM_PRIORITIES], &figures->all);
    figures->concurrency = simulation->limit.numbers.concurrency;
    if (figures->concurrency > 0) {
        figures->busy_ppm = takt_utilization_busy_ppm(&run->utilization, figures->concurrency);
        takt_histogram_sum_up(&run->utilization.hand_over, &figures->hand_over);
    }
    figures->rule_count = simulation->limit.numbers.rule_count;
    for (int i = 0; i < simulation->limit.numbers.rule_count; i++) {
        const takt_rule *rule = &simulation->limit.numbers.rules[i];
        takt_window_flush(&run->slots[i]);
        takt_window_flush(&run->starts[i]);
        figures->busiest[i] = (takt_busiest){.algorithm = rule->algorithm->name,
                                             .limit = rule->limit,
                                             .period_us = rule->period_us,
                                             .burst = rule->algorithm->capacity(rule),
                                             .slots = run->slots[i].max,
                                             .starts = run->starts[i].max,
                                             .unit = unit_of(&simulation->limit, rule),
                                             .taken = figures->busiest[i].taken,
                                             .limit_name = figures->busiest[i].limit_name};
    }
    sum_up_workers(simulation);
}

int takt_simulation_compute(takt_simulation *simulation)
{
    simulation_run *run = calloc(1, sizeof *run);
    int code;

    if (!run)
        return TAKT_E_NOMEM;
    run->simulation = simulation;
    run->bulk = &simulation->bulk;
    run->random = simulation->bulk.seed;
    code = open_run(run);
    if (code == 0) {
        plan_events(run);
        for (int i = 0; i < run->fleet.worker_count; i++)
            fill(run, &run->fleet.workers[i]);
        code = takt_fleet_run(&run->fleet, TAKT_NEVER);
        if (run->out_of_memory)
            code = TAKT_E_NOMEM;
    }
    if (code == 0)
        sum_up(run);
    close_run(run);
    free(run);
    return code;
}
