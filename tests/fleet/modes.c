/*
 * modes.c: fleets whose workers put a level into shadow, and out of it, and a limit around another
 * one, and away again, while work waits and while callbacks are due.
 *
 * Work is of an account, within a vendor, within a limit that is always in shadow.  Each worker has
 * a policy of its own, under which the accounts enforce or are in shadow, and are in a team, within
 * the vendor, or not.
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
    bool by_account, by_team; /* what has held it up, too */
} start;

static takt_fleet fleet;
static takt_limit vendor, seen, team;
static takt_limit accounts[2][2];  /* in a team or not; they enforce or are in shadow */
static const takt_limit *replaced; /* that of the policy that is replaced */
static char keys[ACCOUNTS_MAX][24];
static bool enforces[WORKERS_MAX], has_team[WORKERS_MAX];
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

static const takt_limit *account_of(const takt_fleet_worker *worker)
{
    return &accounts[has_team[worker->index]][enforces[worker->index]];
}

static const takt_limit *before(const void *data, const char *name)
{
    (void)data;
    return strcmp(name, "account") == 0 ? replaced : NULL;
}

static const takt_limit *find(const void *data, const takt_limit *limit, const char *key)
{
    const takt_fleet_worker *worker = data;

    (void)key;
    if (limit == &team && !has_team[worker->index])
        return NULL;
    return strcmp(limit->name, "account") == 0 ? account_of(worker) : limit;
}

static int32_t weigh(const void *data, const takt_limit *limit, const char *tenant, int32_t weight)
{
    (void)data;
    (void)limit;
    (void)tenant;
    return weight;
}

/* Only the team comes and goes. */
static bool join(void *data, const takt_level *levels, int count, const takt_level *inside,
                 const takt_limit *outer, const char *tenant, takt_level *joined)
{
    (void)data;
    (void)levels;
    (void)count;
    (void)inside;
    (void)tenant;
    if (outer != &team)
        family_fail(1, "a level joins that was there", outer->name, 0, 0);
    *joined = (takt_level){.limit = outer, .key = "", .cost = 1};
    return true;
}

static void change(takt_fleet_worker *worker, bool to_enforce, bool to_team)
{
    const takt_successor to = {before, find, weigh, join, worker};

    if (worker->dead ||
        (enforces[worker->index] == to_enforce && has_team[worker->index] == to_team))
        return;
    replaced = account_of(worker);
    enforces[worker->index] = to_enforce;
    has_team[worker->index] = to_team;
    takt_renew_policy(&worker->scheduler, &to);
    takt_sim_ask_pass(worker);
}

static void change_one(takt_fleet_worker *worker)
{
    bool one = chance(&random_state, 50);

    change(worker, enforces[worker->index] ^ one, has_team[worker->index] ^ !one);
}

/* ---- work ------------------------------------------------------------------------------------ */

static void acquire(job *one, int64_t max_wait_us);

/* Whether a limit within the vendor has given the permit its slot as well. */
static bool has_level(const takt_permit *permit, const char *name)
{
    const takt_nest *nest = permit->queue->nest;

    for (int i = 0; nest && i < nest->count; i++)
        if (strcmp(nest->inner[i].limit->name, name) == 0)
            return true;
    return false;
}

static void started(takt_permit *permit, int status)
{
    job *one = permit->data;
    int worker = one->worker->index;
    bool by_account = has_level(permit, "account"), by_team = has_level(permit, "team");

    if (status == TAKT_E_DEADLINE)
        return;
    if (status != 0)
        family_fail(5, "an acquire fails", keys[one->account], status, 0);
    if ((enforces[worker] && !by_account) || (has_team[worker] && !by_team))
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
    starts[start_count++] = (start){permit->slot_at_us, one->account, by_account, by_team};
    begun[worker]++;
    begun_in_shadow[worker] += !by_account;
    quiet_starts += permit->slot_at_us >= quiet_from_us;
    if (one->lasting)
        acquire(one, 0);
    if (chance(&random_state, change_percent))
        change_one(one->worker);
}

static void acquire(job *one, int64_t max_wait_us)
{
    takt_fleet_worker *worker = one->worker;
    takt_level levels[TAKT_LEVELS_MAX] = {
        {.limit = account_of(worker), .key = keys[one->account], .cost = 1}};
    int count = 1;
    takt_path path;

    if (has_team[worker->index])
        levels[count++] = (takt_level){.limit = &team, .key = "", .cost = 1};
    levels[count++] = (takt_level){.limit = &vendor, .key = takt_fleet_key(0), .cost = 1};
    levels[count++] = (takt_level){.limit = &seen, .key = takt_fleet_key(1), .cost = 1};

    one->permit = (takt_permit){
        .data = one,
        .callback = started,
        .priority = TAKT_PRIORITY_DEFAULT,
        .deadline_at_us = max_wait_us > 0 ? takt_fleet_clock(worker) + max_wait_us : TAKT_NEVER};
    one->number = ++acquires;
    if (takt_path_find(&worker->scheduler, levels, count, true, &path) < 0)
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

/* The slots of one level conform to its rule. */
static void check_level(const takt_limit *limit, const char *key, int account,
                        bool (*counts)(const start *one, int account))
{
    const takt_rule *rule = &limit->numbers.rules[0];
    int64_t interval_us = rule->period_us / rule->limit, tat_us = 0;

    for (int i = 0; i < start_count; i++) {
        if (!counts(&starts[i], account))
            continue;
        if (starts[i].slot_us + 1 < tat_us - (rule->burst - 1) * interval_us)
            family_fail(1, "a slot too early", key, starts[i].slot_us, tat_us);
        tat_us = takt_max(tat_us, starts[i].slot_us) + interval_us;
    }
}

static bool is_any(const start *one, int account)
{
    (void)one;
    (void)account;
    return true;
}

static bool is_of_team(const start *one, int account)
{
    (void)account;
    return one->by_team;
}

static bool is_of_account(const start *one, int account)
{
    return one->by_account && one->account == account;
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
    got = acquires_in_shadow(worker, &accounts[0][false]);
    if (got != begun_in_shadow[worker->index])
        family_fail(1, "a shadow counts other work than starts", "account", got,
                    begun_in_shadow[worker->index]);
}

/* ---- fleets at random ------------------------------------------------------------------------ */

static void open_fleet(uint64_t seed, int workers, int count, int64_t rate, int64_t own,
                       int64_t teams)
{
    set_limit(&seen, "seen", rate, 1, NULL, TAKT_MODE_SHADOW);
    set_limit(&vendor, "vendor", rate, 1 + draw(&random_state, 6), &seen, TAKT_MODE_ENFORCE);
    set_limit(&team, "team", teams, 1 + draw(&random_state, 4), &vendor, TAKT_MODE_ENFORCE);
    set_limit(&accounts[false][true], "account", own, 1 + draw(&random_state, 4), &vendor,
              TAKT_MODE_ENFORCE);
    accounts[false][false] = accounts[false][true];
    accounts[false][false].mode = TAKT_MODE_SHADOW;
    for (int i = 0; i < 2; i++) {
        accounts[true][i] = accounts[false][i];
        accounts[true][i].within = &team;
    }
    if (takt_fleet_open(&fleet, &vendor, workers, BEGIN_US, seed) < 0)
        abort();
    fleet.timeout_us = SECOND_US;
    fleet.delay_max_us = draw(&random_state, 8000);
    fleet.delay_min_us = fleet.delay_max_us / 4;
    for (int i = 0; i < count; i++)
        snprintf(keys[i], sizeof keys[i], "account %d", i);
    for (int w = 0; w < workers; w++)
        enforces[w] = chance(&random_state, 50), has_team[w] = chance(&random_state, 50);
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
            change_one(&fleet.workers[worker]);
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
            stats = takt_shadows_find_stats(&fleet.workers[w].shadows, "account");
        taken += stats ? stats->counts.at_once + stats->counts.waited : 0;
    }
    return taken;
}

/* Shadow waiters go on, and take from the accounts like work. */
static void check_use(int64_t rate, bool in_teams)
{
    int64_t whole = rate * QUIET_US / SECOND_US, used;

    change_percent = 0;
    for (int w = 0; w < fleet.worker_count; w++)
        change(&fleet.workers[w], true, in_teams);
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
    int64_t rate, own, teams;
    bool in_teams;

    random_state = seed * 2654435761U + 29;
    workers = 1 + (int)draw(&random_state, WORKERS_MAX);
    count = 1 + (int)draw(&random_state, ACCOUNTS_MAX);
    rate = rates[draw(&random_state, 3)];
    own = inner_rates[draw(&random_state, 3)];
    teams = takt_max(rate / (1 + draw(&random_state, 4)), 2);
    in_teams = chance(&random_state, 50);
    open_fleet(seed, workers, count, rate, own, teams);
    for (int i = 0; i < count; i++)
        for (int w = 0; w < workers; w++)
            if (w == 0 || chance(&random_state, 60))
                come(w, i, 12, true, 0);
    storm(workers, count);
    check_use(takt_min(in_teams ? teams : rate, count * own), in_teams);
    qsort(starts, (size_t)start_count, sizeof *starts, by_slot);
    check_level(&vendor, "vendor", 0, is_any);
    check_level(&team, "team", 0, is_of_team);
    for (int i = 0; i < count; i++)
        check_level(&accounts[false][true], keys[i], i, is_of_account);
    for (int w = 0; w < workers; w++)
        if (!fleet.workers[w].dead)
            check_shadows(&fleet.workers[w]);
    scenario_total.calls += fleet.claims;
    scenario_total.started += start_count;
    takt_fleet_close(&fleet);
}

const family modes_family = {.each = 5, .run = run_one};
