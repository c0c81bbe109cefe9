/*
 * modes.c: fleets whose workers put a level into shadow, and out of it, while work waits and while
 * callbacks are due.
 *
 * Work is of an account, within a vendor, within a limit that is always in shadow.  Each worker has
 * a policy of its own, under which the accounts enforce or are in shadow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "checker.h"
#include "families.h"
#include "scenario.h"
#include "scheduler/path.h"
#include "scheduler/renew.h"
#include "simulate/worker.h"

#define SECOND_US    INT64_C(1000000)
#define BEGIN_US     INT64_C(1763692800000000)
#define WORKERS_MAX  4
#define ACCOUNTS_MAX 6
#define JOBS_MAX     4000
#define STARTS_MAX   40000
#define QUIET_US     (10 * SECOND_US) /* at the end all accounts enforce for so long */

typedef struct job {
    takt_permit permit;
    takt_fleet_worker *worker;
    int account;
    int64_t number; /* of its acquire */
    bool lasting;   /* another one takes its place */
} job;

typedef struct start {
    int64_t slot_us;
    int account;
    bool held_up; /* by its account, too */
} start;

static takt_fleet fleet;
static takt_limit vendor, seen, account_enforces, account_in_shadow;
static char keys[ACCOUNTS_MAX][24];
static bool enforces[WORKERS_MAX];
static int64_t begun[WORKERS_MAX], begun_in_shadow[WORKERS_MAX];
static int64_t last_number[WORKERS_MAX][ACCOUNTS_MAX];
static job jobs[JOBS_MAX];
static start starts[STARTS_MAX];
static int job_count, start_count;
static int64_t acquires, quiet_from_us, quiet_starts;
static uint64_t random_state;
static int change_percent; /* of callbacks */

static void set_limit(takt_limit *limit, const char *name, int64_t tokens, int64_t burst,
                      const takt_limit *within, takt_mode mode)
{
    *limit = (takt_limit){.default_weight = 1, .within = within, .mode = mode};
    strcpy(limit->name, name);
    limit->numbers.rule_count = 1;
    limit->numbers.lookahead_us = TAKT_LOOKAHEAD_US;
    limit->numbers.rules[0] = (takt_rule){
        .algorithm = &takt_gcra, .limit = tokens, .period_us = SECOND_US, .burst = burst};
    if (takt_rule_prepare(&limit->numbers.rules[0], NULL) != 0)
        abort();
}

/* ---- the policies of workers ----------------------------------------------------------------- */

static const takt_limit *find(const void *data, const takt_limit *limit, const char *key)
{
    const takt_fleet_worker *worker = data;

    (void)key;
    if (strcmp(limit->name, account_enforces.name) != 0)
        return limit;
    return enforces[worker->index] ? &account_enforces : &account_in_shadow;
}

static int32_t weigh(const void *data, const takt_limit *limit, const char *tenant, int32_t weight)
{
    (void)data;
    (void)limit;
    (void)tenant;
    return weight;
}

static void change(takt_fleet_worker *worker, bool to_enforce)
{
    if (worker->dead || enforces[worker->index] == to_enforce)
        return;
    enforces[worker->index] = to_enforce;
    takt_renew_policy(&worker->scheduler, find, weigh, worker);
    takt_sim_ask_pass(worker);
}

/* ---- work ------------------------------------------------------------------------------------ */

static void acquire(job *one, int64_t max_wait_us);

static void started(takt_permit *permit, int status)
{
    job *one = permit->data;
    int worker = one->worker->index;

    if (status == TAKT_E_DEADLINE)
        return;
    if (status != 0)
        family_fail(5, "an acquire fails", keys[one->account], status, 0);
    if (enforces[worker] && permit->levels <= 1)
        family_fail(1, "a start without a level that enforces", keys[one->account], one->number,
                    worker);
    if (permit->slot_at_us > takt_fleet_ledger_clock(&fleet, 0))
        family_fail(2, "a start before its slot", keys[one->account], permit->slot_at_us,
                    fleet.now_us);
    if (one->number < last_number[worker][one->account])
        family_fail(4, "not first come, first served", keys[one->account], one->number,
                    last_number[worker][one->account]);
    if (start_count == STARTS_MAX)
        abort();
    last_number[worker][one->account] = one->number;
    starts[start_count++] = (start){permit->slot_at_us, one->account, permit->levels > 1};
    begun[worker]++;
    begun_in_shadow[worker] += permit->levels <= 1;
    quiet_starts += permit->slot_at_us >= quiet_from_us;
    if (one->lasting)
        acquire(one, 0);
    if (chance(&random_state, change_percent))
        change(one->worker, !enforces[worker]);
}

static void acquire(job *one, int64_t max_wait_us)
{
    takt_fleet_worker *worker = one->worker;
    const takt_level levels[] = {
        {.limit = find(worker, &account_enforces, ""), .key = keys[one->account], .cost = 1},
        {.limit = &vendor, .key = takt_fleet_key(0), .cost = 1},
        {.limit = &seen, .key = takt_fleet_key(1), .cost = 1}};
    takt_path path;

    one->permit = (takt_permit){
        .data = one,
        .callback = started,
        .priority = TAKT_PRIORITY_DEFAULT,
        .deadline_at_us = max_wait_us > 0 ? takt_fleet_clock(worker) + max_wait_us : TAKT_NEVER};
    one->number = ++acquires;
    if (takt_path_find(&worker->scheduler, levels, 3, true, &path) < 0)
        abort();
    takt_path_enter(&worker->scheduler, &one->permit, &path);
    takt_sim_ask_pass(worker);
}

static void come(int worker, int account, int count, bool lasting, int64_t max_wait_us)
{
    for (; count > 0 && job_count < JOBS_MAX; count--) {
        job *one = &jobs[job_count++];
        *one = (job){.worker = &fleet.workers[worker], .account = account, .lasting = lasting};
        acquire(one, max_wait_us);
    }
}

/* ---- what is checked ------------------------------------------------------------------------- */

static int by_slot(const void *a, const void *b)
{
    const start *x = a, *y = b;

    return (x->slot_us > y->slot_us) - (x->slot_us < y->slot_us);
}

/* The slots of one level conform to its rule; account -1: those of all. */
static void check_level(const takt_limit *limit, int account)
{
    const takt_rule *rule = &limit->numbers.rules[0];
    int64_t interval_us = rule->period_us / rule->limit, tat_us = 0;

    for (int i = 0; i < start_count; i++) {
        if (account >= 0 && (starts[i].account != account || !starts[i].held_up))
            continue;
        if (starts[i].slot_us + 1 < tat_us - (rule->burst - 1) * interval_us)
            family_fail(1, "a slot too early", account < 0 ? limit->name : keys[account],
                        starts[i].slot_us, tat_us);
        tat_us = takt_max(tat_us, starts[i].slot_us) + interval_us;
    }
}

static int64_t acquires_in_shadow(const takt_fleet_worker *worker, const takt_limit *limit)
{
    const takt_shadow_stats *stats = takt_shadows_find_stats(&worker->shadows, limit->name);

    return stats ? stats->counts.acquires : 0;
}

/* Each limit in shadow has counted the work that started while it was in shadow. */
static void check_shadows(const takt_fleet_worker *worker)
{
    int64_t got = acquires_in_shadow(worker, &seen), all = begun[worker->index];

    if (got != all)
        family_fail(1, "a shadow counts other work than starts", seen.name, got, all);
    got = acquires_in_shadow(worker, &account_in_shadow);
    if (got != begun_in_shadow[worker->index])
        family_fail(1, "a shadow counts other work than starts", account_in_shadow.name, got,
                    begun_in_shadow[worker->index]);
}

/* ---- fleets at random ------------------------------------------------------------------------ */

static void open_fleet(uint64_t seed, int workers, int count, int64_t rate, int64_t own)
{
    set_limit(&seen, "seen", rate, 1, NULL, TAKT_MODE_SHADOW);
    set_limit(&vendor, "vendor", rate, 1 + draw(&random_state, 6), &seen, TAKT_MODE_ENFORCE);
    set_limit(&account_enforces, "account", own, 1 + draw(&random_state, 4), &vendor,
              TAKT_MODE_ENFORCE);
    account_in_shadow = account_enforces;
    account_in_shadow.mode = TAKT_MODE_SHADOW;
    if (takt_fleet_open(&fleet, &vendor, workers, BEGIN_US, seed) < 0)
        abort();
    fleet.timeout_us = SECOND_US;
    fleet.delay_max_us = draw(&random_state, 8000);
    fleet.delay_min_us = fleet.delay_max_us / 4;
    for (int i = 0; i < count; i++)
        snprintf(keys[i], sizeof keys[i], "account %d", i);
    for (int w = 0; w < workers; w++)
        enforces[w] = chance(&random_state, 50);
    memset(begun, 0, sizeof begun);
    memset(begun_in_shadow, 0, sizeof begun_in_shadow);
    memset(last_number, 0, sizeof last_number);
    job_count = start_count = 0;
    acquires = quiet_starts = 0;
    quiet_from_us = INT64_MAX;
    change_percent = (int)draw(&random_state, 20);
}

/* Modes change, some work comes that gives up soon, and messages are lost. */
static void storm(int workers, int count)
{
    fleet.lost_per_mille = (int)draw(&random_state, 60);
    fleet.doubled_per_mille = (int)draw(&random_state, 60);
    fleet.timer_late_us = draw(&random_state, 100000);
    for (int i = 0; i < 30; i++) {
        int worker = (int)draw(&random_state, workers);
        takt_fleet_run(&fleet, fleet.now_us + draw(&random_state, SECOND_US / 2));
        if (fleet.workers[worker].dead)
            continue;
        if (chance(&random_state, 60))
            change(&fleet.workers[worker], !enforces[worker]);
        if (chance(&random_state, 50))
            come(worker, (int)draw(&random_state, count), 5, false,
                 1 + draw(&random_state, SECOND_US));
        if (worker > 0 && chance(&random_state, 2))
            takt_fleet_crash(&fleet.workers[worker]);
    }
    fleet.lost_per_mille = fleet.doubled_per_mille = 0;
    fleet.timer_late_us = 0;
}

/* What shadow waiters have taken of the accounts. */
static int64_t taken_in_shadow(void)
{
    int64_t taken = 0;

    for (int w = 0; w < fleet.worker_count; w++) {
        const takt_shadow_stats *stats = NULL;
        if (!fleet.workers[w].dead)
            stats = takt_shadows_find_stats(&fleet.workers[w].shadows, account_in_shadow.name);
        taken += stats ? stats->counts.at_once + stats->counts.waited : 0;
    }
    return taken;
}

/* Shadow waiters go on, and take from the accounts like work. */
static void check_use(int64_t rate)
{
    int64_t whole = rate * QUIET_US / SECOND_US, used;

    change_percent = 0;
    for (int w = 0; w < fleet.worker_count; w++)
        change(&fleet.workers[w], true);
    quiet_from_us = fleet.now_us + 12 * SECOND_US; /* without what a dead worker has in line */
    takt_fleet_run(&fleet, quiet_from_us);
    used = -taken_in_shadow();
    takt_fleet_run(&fleet, quiet_from_us + QUIET_US + SECOND_US);
    used += taken_in_shadow() + quiet_starts;
    if (used * 100 < 90 * whole)
        family_fail(5, "the rate is not used", "all", used, whole);
}

static void run_one(uint64_t seed)
{
    static const int64_t rates[] = {20, 50, 100}, inner_rates[] = {2, 5, 10};
    int workers, count;
    int64_t rate, own;

    random_state = seed * 2654435761U + 29;
    workers = 1 + (int)draw(&random_state, WORKERS_MAX);
    count = 1 + (int)draw(&random_state, ACCOUNTS_MAX);
    rate = rates[draw(&random_state, 3)];
    own = inner_rates[draw(&random_state, 3)];
    open_fleet(seed, workers, count, rate, own);
    for (int i = 0; i < count; i++)
        for (int w = 0; w < workers; w++)
            if (w == 0 || chance(&random_state, 60))
                come(w, i, 12, true, 0);
    storm(workers, count);
    check_use(takt_min(rate, count * own));
    qsort(starts, (size_t)start_count, sizeof *starts, by_slot);
    check_level(&vendor, -1);
    for (int i = 0; i < count; i++)
        check_level(&account_enforces, i);
    for (int w = 0; w < workers; w++)
        if (!fleet.workers[w].dead)
            check_shadows(&fleet.workers[w]);
    scenario_total.calls += fleet.claims;
    scenario_total.started += start_count;
    takt_fleet_close(&fleet);
}

const family modes_family = {.each = 5, .run = run_one};
