/*
 * The same arrivals twice on virtual time, once enforced and once in shadow: the shadow's
 * statistics are those of the enforcing run, and its own work never waits. A shadow waiter comes
 * one pass later than the work would have come: if an award comes at the same instant, it may
 * stand in another place, and the run takes another course from there. That is one run in forty.
 */
#include <criterion/criterion.h>

#include "base/random.h"
#include "core/limits.h"
#include "shadow/shadow.h"
#include "simulate/fleet.h"

#define JOBS    1500
#define SEEDS   5
#define WORKERS 3
#define WAY_US  (200) /* to the store, or back: two ways are less than what counts as a wait */

typedef struct job {
    takt_permit permit; /* first */
    takt_fleet_worker *worker;
    int64_t at_us, max_wait_us, work_us;
    int64_t waited_us; /* -1: not yet */
    int status;
} job;

static takt_fleet fleet;
static job jobs[JOBS];

static void ends(takt_fleet *f, void *data)
{
    job *done = data;

    (void)f;
    takt_fleet_release(done->worker, &done->permit);
}

static void starts(takt_permit *permit, int status)
{
    job *started = (job *)permit;

    started->waited_us = fleet.now_us - started->at_us;
    started->status = status;
    if (status == 0)
        takt_fleet_at(&fleet, fleet.now_us + started->work_us, ends, started);
}

static void arrives(takt_fleet *f, void *data)
{
    job *coming = data;

    (void)f;
    takt_fleet_acquire(coming->worker, 0, &coming->permit, coming->max_wait_us);
}

/* Bursts of arrivals, a little more than the limit lets pass at first and less later. */
static void run(const takt_limit *limit, uint64_t seed, int cost_max)
{
    uint64_t random = seed;
    int64_t at_us = NOW;

    cr_assert_eq(takt_fleet_open(&fleet, limit, WORKERS, NOW, seed), 0);
    fleet.delay_min_us = fleet.delay_max_us = WAY_US;
    for (int i = 0; i < JOBS; i++) {
        int64_t pause_us = i < JOBS / 2 ? 8 * MS : 14 * MS;
        at_us += takt_random_below(&random, 4) == 0 ? takt_random_below(&random, 8 * pause_us) : 0;
        jobs[i] = (job){.worker = &fleet.workers[takt_random_below(&random, WORKERS)],
                        .at_us = at_us,
                        .work_us = takt_random_below(&random, 300 * MS),
                        .waited_us = -1};
        if (takt_random_below(&random, 5) == 0)
            jobs[i].max_wait_us = 1 + takt_random_below(&random, 900 * MS);
        jobs[i].permit.cost = 1 + (int32_t)takt_random_below(&random, cost_max);
        jobs[i].permit.priority = (int8_t)(4 + takt_random_below(&random, 3));
        jobs[i].permit.callback = starts;
        takt_fleet_at(&fleet, at_us, arrives, &jobs[i]);
    }
    takt_fleet_run(&fleet, at_us + HOUR);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* What really happened. */
static takt_shadow seen(void)
{
    static int64_t waits[JOBS];
    takt_shadow counts = {.acquires = JOBS};

    for (int i = 0; i < JOBS; i++) {
        if (jobs[i].status == 0 && jobs[i].waited_us > MS)
            waits[counts.waited++] = jobs[i].waited_us;
        counts.at_once += jobs[i].status == 0 && jobs[i].waited_us <= MS;
        counts.refused += jobs[i].status != 0;
        counts.refused_late += jobs[i].status == TAKT_E_DEADLINE;
        counts.refused_full += jobs[i].status == TAKT_E_FULL;
        cr_assert_neq(jobs[i].waited_us, -1);
    }
    qsort(waits, (size_t)counts.waited, sizeof *waits, by_size);
    if (counts.waited > 0) {
        counts.p50_us = waits[(counts.waited + 1) / 2 - 1];
        counts.p99_us = waits[(counts.waited * 99 + 99) / 100 - 1];
        counts.max_us = waits[counts.waited - 1];
    }
    return counts;
}

/* What the shadows of all workers tell together; each worker's percentiles are its own, so all add
 * up to one statistics. */
static takt_shadow told(void)
{
    takt_shadow_stats all = {.counts = {0}};

    for (int w = 0; w < WORKERS; w++) {
        const takt_shadow_stats *shadow_stats =
            takt_shadows_find_stats(&fleet.workers[w].shadows, "test");
        cr_assert_eq(shadow_stats->shadow_waiters, 0, "%" PRId64 " shadow_waiters are left",
                     shadow_stats->shadow_waiters);
        for (size_t i = 0; i < COUNT(all.waits); i++)
            all.waits[i] += shadow_stats->waits[i];
        all.counts.acquires += shadow_stats->counts.acquires;
        all.counts.at_once += shadow_stats->counts.at_once;
        all.counts.waited += shadow_stats->counts.waited;
        all.counts.waiting += shadow_stats->counts.waiting;
        all.counts.unmeasured += shadow_stats->counts.unmeasured;
        all.counts.refused += shadow_stats->counts.refused;
        all.counts.refused_late += shadow_stats->counts.refused_late;
        all.counts.refused_full += shadow_stats->counts.refused_full;
        if (shadow_stats->counts.max_us > all.counts.max_us)
            all.counts.max_us = shadow_stats->counts.max_us;
    }
    all.counts.p50_us = takt_shadow_stats_percentile(&all, 50);
    all.counts.p99_us = takt_shadow_stats_percentile(&all, 99);
    return all.counts;
}

static void nobody_waited(void)
{
    for (int i = 0; i < JOBS; i++) {
        cr_assert_eq(jobs[i].status, 0);
        cr_assert_eq(jobs[i].waited_us, 0, "job %d waited", i);
        cr_assert_eq(jobs[i].permit.slot_at_us, 0);
        cr_assert_eq(jobs[i].permit.fence, 0);
    }
}

static void near(const char *what, int64_t is_us, int64_t ought_us)
{
    int64_t off_us = is_us > ought_us ? is_us - ought_us : ought_us - is_us;

    cr_assert_leq(off_us * 50, ought_us, "%s: %" PRId64 ", really %" PRId64, what, is_us, ought_us);
}

static bool are_same(const takt_shadow *a, const takt_shadow *b)
{
    return a->at_once == b->at_once && a->waited == b->waited && a->refused == b->refused &&
           a->refused_late == b->refused_late && a->refused_full == b->refused_full &&
           a->max_us == b->max_us;
}

static void compare(takt_limit limit, int cost_max, const char *what)
{
    int same = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        takt_shadow really, shadow;
        limit.mode = TAKT_MODE_ENFORCE;
        run(&limit, seed, cost_max);
        really = seen();
        takt_fleet_close(&fleet);
        limit.mode = TAKT_MODE_SHADOW;
        run(&limit, seed, cost_max);
        nobody_waited();
        shadow = told();
        cr_expect_eq(takt_fleet_ledger(&fleet, 0)->holder_count, 0);
        takt_fleet_close(&fleet);
        cr_assert_gt(really.waited, 100, "%s: nothing to compare", what);
        cr_assert_gt(really.refused_late, 10, "%s: nothing to compare", what);
        cr_assert_eq(shadow.acquires, JOBS);
        cr_assert_eq(shadow.waiting + shadow.unmeasured, 0);
        if (!are_same(&shadow, &really))
            continue;
        same++;
        near("p50", shadow.p50_us, really.p50_us);
        near("p99", shadow.p99_us, really.p99_us);
    }
    cr_assert_geq(same, SEEDS - 1, "%s: %d of %d runs are the same", what, same, SEEDS);
}

Test(fleet_shadow, a_rate)
{
    compare(limit_named(100, SECOND, 5), 1, "100/s");
}

Test(fleet_shadow, costs)
{
    compare(limit_named(300, SECOND, 12), 5, "costs");
}

Test(fleet_shadow, a_bounded_line)
{
    takt_limit limit = limit_named(100, SECOND, 5);

    limit.numbers.max_waiting = 20;
    compare(limit, 1, "max_waiting");
}

/* A shadow waiter holds its permit for as long as the work took. */
Test(fleet_shadow, permits)
{
    takt_limit limit = {.name = "test",
                        .numbers.lookahead_us = TAKT_LOOKAHEAD_US,
                        .numbers.concurrency = 14,
                        .numbers.lease_us = 30 * SECOND};

    compare(limit, 1, "concurrency");
}

Test(fleet_shadow, permits_and_a_rate)
{
    takt_limit limit = limit_named(100, SECOND, 5);

    limit.numbers.concurrency = 16;
    limit.numbers.lease_us = 3 * SECOND;
    compare(limit, 1, "both");
}
