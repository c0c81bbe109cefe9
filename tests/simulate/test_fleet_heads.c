/*
 * A head of the line with a large cost that leaves without its tokens leaves no gap: the waiters
 * behind it start at once, in its own process and in others.
 */
#include <criterion/criterion.h>

#include "core/limits.h"
#include "simulate/fleet.h"

#define WAY_US (1 * MS) /* to the store, or back */
#define OTHERS 10

static takt_limit limit;
static takt_fleet fleet;
static takt_permit head, others[OTHERS];
static int64_t started_us[OTHERS];

static void started(takt_permit *permit, int status)
{
    if (permit >= others && permit < others + OTHERS && status == 0)
        started_us[permit - others] = fleet.now_us - NOW;
}

/* 1/s with burst 100, of which 30 are taken: a head of cost 90 waits for 20 s, others of cost 1
 * behind it, in the same worker or in another one. */
static void begin(int worker)
{
    static takt_permit first;

    limit = (takt_limit){.name = "one", .numbers = limit_of(1, SECOND, 100)};
    cr_assert_eq(takt_fleet_open(&fleet, &limit, 2, NOW, 1), 0);
    fleet.delay_min_us = fleet.delay_max_us = WAY_US;
    first = (takt_permit){.cost = 30, .priority = 5, .callback = started};
    head = (takt_permit){.cost = 90, .priority = 5, .callback = started};
    takt_fleet_acquire(&fleet.workers[0], 0, &first, 0);
    takt_fleet_run(&fleet, NOW + 100 * MS);
    takt_fleet_acquire(&fleet.workers[0], 0, &head, 0);
    takt_fleet_run(&fleet, NOW + 200 * MS);
    for (int i = 0; i < OTHERS; i++) {
        started_us[i] = -1;
        others[i] = (takt_permit){.cost = 1, .priority = 5, .callback = started};
        takt_fleet_acquire(&fleet.workers[worker], 0, &others[i], 0);
    }
    takt_fleet_run(&fleet, NOW + 1500 * MS);
    cr_assert_eq(started_us[0], -1, "it stands behind the head");
}

/* The last of the others starts so long after the head went at 1.5 s. */
static void expect_start(int64_t ways)
{
    takt_fleet_run(&fleet, NOW + 4 * SECOND);
    for (int i = 0; i < OTHERS; i++) {
        cr_expect_geq(started_us[i], 1500 * MS, "%d: %lld", i, (long long)started_us[i]);
        cr_expect_leq(started_us[i], 1500 * MS + ways * WAY_US, "%d: %lld", i,
                      (long long)started_us[i]);
    }
    takt_fleet_close(&fleet);
}

Test(fleet_heads, those_behind_a_cancelled_one_start_at_once)
{
    for (int worker = 0; worker < 2; worker++) {
        begin(worker);
        takt_fleet_cancel(&fleet.workers[0], &head);
        expect_start(worker == 0 ? 2 : 5);
    }
}
