/*
 * held.c: fleets of nested work that holds permits, of inner limits and of the outermost one.  Some
 * workers may have an older policy, by which a level has none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "checker.h"
#include "families.h"
#include "scenario.h"
#include "scheduler/permits.h"

#define SECOND_US INT64_C(1000000)
#define BEGIN_US  INT64_C(1763692800000000)
#define KEYS_MAX  24
#define JOBS_MAX  2000
#define LEVELS    3 /* account, domain, vendor: the last one is the outermost */
#define OUTERMOST (LEVELS - 1)

typedef struct job {
    takt_permit permit;
    takt_fleet_worker *worker;
    int64_t incarnation; /* of the worker, when it came */
    int key;
    bool running;
    int64_t work_us;
    int64_t ends_at_us;
} job;

static takt_fleet fleet;
static takt_limit limits[LEVELS];
static takt_limit older[LEVELS]; /* of the workers with odd numbers, if the policies are mixed */
static bool mixed;
static int first_level; /* 1: work begins at the domain */
static int vendors;     /* keys of the vendor: the accounts of a domain are spread over them */
static job jobs[JOBS_MAX];
static int job_count;
static int64_t starts[KEYS_MAX], all_starts, fences[KEYS_MAX];

__attribute__((noreturn)) static void fail(int promise, const char *what, int key, int64_t got,
                                           int64_t of)
{
    printf("promise %d is broken: %s: key %d: %" PRId64 " of %" PRId64 "\n", promise, what, key,
           got, of);
    timeline_kept = true; /* there is none of these fleets */
    checker_on_failure();
    abort();
}

/* ---- the fleet ------------------------------------------------------------------------------- */

/* Two accounts share a domain. */
static int domain_of(int key)
{
    return key / 2;
}

static bool is_alive(const job *one)
{
    return !one->worker->dead && one->incarnation == one->worker->incarnation;
}

static bool is_held(const job *one)
{
    return one->running && is_alive(one) &&
           takt_permits_are_held(&one->permit, takt_fleet_clock(one->worker));
}

static int vendor_of(int key)
{
    return key % vendors;
}

/* Whether two keys have the same ledger of that level. */
static bool share(int level, int a, int b)
{
    if (level == OUTERMOST)
        return vendor_of(a) == vendor_of(b);
    return level == 0 ? a == b : domain_of(a) == domain_of(b);
}

/* No more jobs than permits run at once, on any level.  Work that began under the older numbers of
 * a new ledger holds no permit of the level that has none there; it is over after a second. */
static void check_permits(int key)
{
    if (mixed && fleet.now_us < BEGIN_US + SECOND_US)
        return;
    for (int level = first_level; level < LEVELS; level++) {
        int64_t held = 0;
        for (int i = 0; i < job_count; i++)
            held += share(level, key, jobs[i].key) && is_held(&jobs[i]);
        if (limits[level].numbers.concurrency > 0 && held > limits[level].numbers.concurrency)
            fail(3, limits[level].name, key, held, limits[level].numbers.concurrency);
    }
}

/* A later holder has a higher number of the innermost limit that has permits. */
static void check_fence(const job *one)
{
    bool numbered = first_level == 0 && limits[0].numbers.concurrency == 1;

    if (!numbered)
        return;
    if (one->permit.fence <= fences[one->key])
        fail(3, "a fencing number", one->key, one->permit.fence, fences[one->key]);
    fences[one->key] = one->permit.fence;
}

static void acquire(job *one);

static void ends(takt_fleet *of, void *data)
{
    job *one = data;

    if (!is_alive(one) || !one->running || one->ends_at_us != of->now_us)
        return;
    if (one->worker->frozen_until_us > of->now_us) {
        one->ends_at_us = one->worker->frozen_until_us;
        takt_fleet_at(of, one->ends_at_us, ends, one);
        return;
    }
    one->running = false;
    takt_fleet_release(one->worker, &one->permit);
    acquire(one);
}

static void started(takt_permit *permit, int status)
{
    job *one = permit->data;

    if (status == TAKT_E_LEASE) {
        acquire(one);
        return;
    }
    if (status != 0)
        fail(5, "an acquire fails", one->key, status, 0);
    one->running = true;
    check_permits(one->key);
    check_fence(one);
    if (!mixed ||
        one->worker->index % 2 == 0) /* permits that others never return would stop these */
        starts[one->key]++;
    all_starts++;
    one->ends_at_us = fleet.now_us + one->work_us;
    takt_fleet_at(&fleet, one->ends_at_us, ends, one);
}

static void acquire(job *one)
{
    char account[16], domain[16];
    const takt_limit *own = mixed && one->worker->index % 2 == 1 ? older : limits;
    takt_chain chain = {.limits = {&own[first_level], &own[first_level + 1], &own[2]},
                        .keys = {account, domain, ""},
                        .costs = {1, 1, 1},
                        .count = LEVELS - first_level};

    snprintf(account, sizeof account, "a%d", one->key);
    snprintf(domain, sizeof domain, "d%d", domain_of(one->key));
    if (first_level > 0) {
        chain.keys[0] = domain;
        chain.keys[1] = "";
    }
    one->permit = (takt_permit){
        .data = one, .callback = started, .cost = 1, .priority = TAKT_PRIORITY_DEFAULT};
    takt_fleet_acquire_nested(one->worker, vendor_of(one->key), &one->permit, 0, &chain, NULL, 1);
}

static void come(int worker, int key, int count, int64_t work_us)
{
    for (; count > 0; count--) {
        job *one = &jobs[job_count++];
        if (job_count > JOBS_MAX)
            abort();
        *one = (job){.worker = &fleet.workers[worker],
                     .incarnation = fleet.workers[worker].incarnation,
                     .key = key,
                     .work_us = work_us};
        acquire(one);
    }
}

static void set_limit(int level, const char *name, int64_t rate, int64_t concurrency,
                      int64_t lease_us)
{
    takt_limit *limit = &limits[level];

    *limit = (takt_limit){.default_weight = 1};
    strcpy(limit->name, name);
    limit->within = level < OUTERMOST ? &limits[level + 1] : NULL;
    limit->numbers.lookahead_us = TAKT_LOOKAHEAD_US;
    limit->numbers.concurrency = concurrency;
    limit->numbers.lease_us = lease_us;
    if (rate == 0)
        return;
    limit->numbers.rule_count = 1;
    limit->numbers.rules[0] =
        (takt_rule){.algorithm = &takt_gcra, .limit = rate, .period_us = SECOND_US, .burst = 1};
    if (takt_rule_prepare(&limit->numbers.rules[0], NULL) != 0)
        abort();
}

/* A limit without permits has a rule. */
static void have_no_permits(takt_limit *limit)
{
    limit->numbers.concurrency = 0;
    if (limit->numbers.rule_count > 0)
        return;
    limit->numbers.rule_count = 1;
    limit->numbers.rules[0] =
        (takt_rule){.algorithm = &takt_gcra, .limit = 200, .period_us = SECOND_US, .burst = 1};
    if (takt_rule_prepare(&limit->numbers.rules[0], NULL) != 0)
        abort();
}

/* The limits are newer ones: of a level that is drawn, the older ones have a rule and no permits.
 * In half of the fleets the other levels have none either.
 */
static void mix_policies(uint64_t random)
{
    int level = first_level + (int)draw(&random, LEVELS - first_level);
    bool alone = chance(&random, 50);

    mixed = true;
    if (alone)
        limits[level].numbers.concurrency = takt_max(limits[level].numbers.concurrency, 2);
    for (int i = 0; i < LEVELS; i++) {
        if (alone && i != level)
            have_no_permits(&limits[i]);
        older[i] = limits[i];
        older[i].within = i < OUTERMOST ? &older[i + 1] : NULL;
        limits[i].numbers.revision = 1;
        limits[i].numbers.lease_us *= 20; /* no lease ends during the test */
    }
    have_no_permits(&older[level]);
}

static void open_fleet(int workers, int64_t delay_us, uint64_t seed)
{
    family_open(&fleet, &limits[OUTERMOST], workers, BEGIN_US, delay_us, seed);
    job_count = 0;
    memset(fences, 0, sizeof fences);
}

static void close_fleet(void)
{
    scenario_total.calls += fleet.claims;
    scenario_total.started += all_starts;
    takt_fleet_close(&fleet);
    mixed = false;
}

/* Counts the starts of so many seconds. */
static void count_for(int64_t seconds)
{
    memset(starts, 0, sizeof starts);
    all_starts = fleet.claims = 0;
    takt_fleet_run(&fleet, fleet.now_us + seconds * SECOND_US);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Eight workers share three permits of one account: one that is released is taken again after four
 * trips. */
static void three_for_eight(int64_t delay_us, uint64_t seed)
{
    int64_t work_us = 100000, goal = 20 * 3 * SECOND_US / (work_us + 4 * delay_us);

    first_level = 0;
    vendors = 1;
    set_limit(0, "account", 0, 3, 60 * SECOND_US);
    set_limit(1, "domain", 1000, 0, 0);
    set_limit(OUTERMOST, "vendor", 200, 0, 0);
    open_fleet(8, delay_us, seed);
    for (int w = 0; w < 8; w++)
        come(w, 0, 4, work_us);
    takt_fleet_run(&fleet, BEGIN_US + 5 * SECOND_US);
    count_for(20);
    if (all_starts < goal * 95 / 100)
        fail(5, "permits are not used", 0, all_starts, goal);
    if (fleet.claims > 4 * all_starts)
        fail(5, "claims", 0, fleet.claims, 4 * all_starts);
    close_fleet();
}

/* An account whose jobs take long has many waiters; the others have all of the rate. */
static void slow_account(int64_t delay_us, uint64_t seed)
{
    first_level = 0;
    vendors = 1;
    set_limit(0, "account", 50, 2, 60 * SECOND_US);
    set_limit(1, "domain", 0, 30, 30 * SECOND_US);
    set_limit(OUTERMOST, "vendor", 100, 0, 0);
    open_fleet(4, delay_us, seed);
    for (int w = 0; w < 4; w++)
        come(w, 0, 100, 3 * SECOND_US);
    for (int i = 2; i < 22; i++)
        come(i % 4, i, 4, 20000);
    takt_fleet_run(&fleet, BEGIN_US + 5 * SECOND_US);
    count_for(20);
    if (all_starts < 20 * 100 * 98 / 100)
        fail(5, "the rate is not used", 0, all_starts, 20 * 100);
    if (starts[0] < 20 * 2 / 3 - 3)
        fail(5, "permits are not used", 0, starts[0], 20 * 2 / 3);
    close_fleet();
}

/* All holders die: their permits are free when their leases are over. */
static void holders_die(int64_t delay_us, uint64_t seed)
{
    first_level = 1;
    vendors = 1;
    set_limit(1, "domain", 10, 2, 3 * SECOND_US);
    set_limit(OUTERMOST, "vendor", 100, 8, 5 * SECOND_US);
    open_fleet(4, delay_us, seed);
    for (int w = 0; w < 4; w++)
        for (int i = 0; i < 8; i += 2)
            come(w, i, 2, 40 * SECOND_US);
    takt_fleet_run(&fleet, BEGIN_US + 3 * SECOND_US);
    for (int w = 1; w < 4; w++)
        takt_fleet_crash(&fleet.workers[w]);
    takt_fleet_run(&fleet, fleet.now_us + 8 * SECOND_US);
    for (int i = 0; i < 8; i += 2) {
        int held = 0;
        for (int j = 0; j < job_count; j++)
            held += jobs[j].key == i && is_held(&jobs[j]);
        if (held < 2)
            fail(5, "permits of the dead", i, held, 2);
    }
    close_fleet();
}

static const family_figure figures[] = {three_for_eight, slow_account, holders_die};

#define FIGURES (sizeof figures / sizeof *figures)

/* ---- fleets at random ------------------------------------------------------------------------ */

static const storm_kind long_storm = {.wakes_lost = 500,
                                      .step_us = 2 * SECOND_US,
                                      .freezes = 50,
                                      .frozen_us = 4 * SECOND_US,
                                      .blocks = 30,
                                      .crashes = 50,
                                      .rest_us = 2 * SECOND_US};

/* Worker 0 has work of every key, and lives. */
static void any_held(uint64_t seed)
{
    static const int64_t delays_us[] = {0, 500, 2000, 8000}, works_us[] = {1000, 30000, 400000};
    uint64_t random = seed * 2654435761U + 29;
    int workers = 1 + (int)draw(&random, 5), keys = 1 + (int)draw(&random, 8);
    int64_t work_us = works_us[draw(&random, 3)];

    first_level = (int)draw(&random, 2);
    vendors = seed * 2654435761U >> 16 & 1 ? 2 : 1;
    set_limit(0, "account", chance(&random, 50) ? 20 : 0, 1 + draw(&random, 4),
              (2 + draw(&random, 4)) * SECOND_US);
    set_limit(1, "domain", chance(&random, 50) ? 30 : 0, draw(&random, 6),
              (2 + draw(&random, 4)) * SECOND_US);
    set_limit(OUTERMOST, "vendor", chance(&random, 70) ? 100 : 0, draw(&random, 12),
              (2 + draw(&random, 4)) * SECOND_US);
    if (limits[OUTERMOST].numbers.concurrency == 0 && limits[OUTERMOST].numbers.rule_count == 0)
        set_limit(OUTERMOST, "vendor", 100, 0, SECOND_US);
    if ((seed * 2654435761U >> 18 & 3) == 0)
        mix_policies(seed * 2654435761U >> 20);
    open_fleet(workers, delays_us[draw(&random, 4)], seed);
    for (int i = 0; i < keys; i++)
        for (int w = 0; w < workers; w++)
            if (w == 0 || chance(&random, 50))
                come(w, i, 1 + (int)draw(&random, 6), work_us);
    if (chance(&random, 70) && !mixed) {
        family_storm(&fleet, &long_storm, 0, NULL, &random);
        takt_fleet_run(&fleet, fleet.now_us + 10 * SECOND_US);
    } else {
        takt_fleet_run(&fleet, BEGIN_US + 3 * SECOND_US);
    }
    count_for(10);
    for (int i = 0; i < keys; i += 2) /* each domain: its accounts may wait behind each other */
        if (starts[i] + starts[i + 1] < 1)
            fail(5, "it does not go on", i, starts[i] + starts[i + 1], 1);
    close_fleet();
}

static void run_one(uint64_t seed)
{
    uint64_t kind = seed / 10 % (20 * FIGURES); /* figures take ten times as long as the others */

    if (kind < FIGURES)
        figures[kind]((int64_t)(seed / 600 % 7) * 800, seed);
    else
        any_held(seed);
}

static void run_figures(void)
{
    family_run_figures(figures, FIGURES);
}

const family held_family = {.each = 10, .run = run_one, .run_figures = run_figures};
