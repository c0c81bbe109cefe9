/*
 * A permit goes from worker to worker: by a wake-up, without one, and when its holder dies or is
 * held up.
 */
#include <criterion/criterion.h>

#include "core/limits.h"
#include "simulate/fleet.h"

#define WAY_US   (1 * MS) /* to the store, or back */
#define LEASE_US (3 * SECOND)
#define LATER_US (1500 * MS)  /* between two keepalives of the holder */
#define HEARD_US (1 * SECOND) /* the last of them, when it was sent */

static takt_limit limit;
static takt_fleet fleet;
static takt_permit permits[2]; /* of the two workers */
static int64_t started_us[2], lost_us;

static void started(takt_permit *permit, int status)
{
    cr_assert_eq(status, 0);
    started_us[permit - permits] = fleet.now_us - NOW;
}

static void lost(takt_fleet *f, takt_fleet_worker *worker, takt_permit *permit)
{
    cr_assert_eq(worker->index, 0);
    cr_assert_eq(permit, &permits[0]);
    lost_us = f->now_us - NOW;
}

/* One permit: the first worker holds it, the second one waits. */
static void begin(void)
{
    limit = (takt_limit){.name = "one",
                         .numbers.lookahead_us = TAKT_LOOKAHEAD_US,
                         .numbers.concurrency = 1,
                         .numbers.lease_us = LEASE_US};
    memset(permits, 0, sizeof permits);
    lost_us = -1;
    cr_assert_eq(takt_fleet_open(&fleet, &limit, 2, NOW, 1), 0);
    fleet.delay_min_us = fleet.delay_max_us = WAY_US;
    fleet.on.lost = lost;
    for (int i = 0; i < 2; i++) {
        started_us[i] = -1;
        permits[i] = (takt_permit){.cost = 1, .priority = 5, .callback = started};
        takt_fleet_acquire(&fleet.workers[i], 0, &permits[i], 0);
        takt_fleet_run(&fleet, fleet.now_us + 10 * MS);
    }
    takt_fleet_run(&fleet, NOW + LATER_US);
    cr_assert_eq(started_us[0], 2 * WAY_US);
    cr_assert_eq(started_us[1], -1);
}

Test(fleet_permits, a_release_wakes_the_next_within_four_ways)
{
    begin();
    takt_fleet_release(&fleet.workers[0], &permits[0]);
    takt_fleet_run(&fleet, NOW + 2 * SECOND);
    cr_expect_eq(started_us[1], LATER_US + 4 * WAY_US, "%lld", (long long)started_us[1]);
    cr_expect_eq(fleet.wakes, 1);
    cr_expect_gt(permits[1].fence, permits[0].fence);
    takt_fleet_release(&fleet.workers[1], &permits[1]);
    takt_fleet_release(&fleet.workers[1], &permits[1]);
    takt_fleet_run(&fleet, NOW + 3 * SECOND);
    cr_expect_eq(takt_fleet_ledger(&fleet, 0)->holder_count, 0);
    takt_fleet_close(&fleet);
}

Test(fleet_permits, a_lost_wake_up_is_healed_by_the_keepalive)
{
    begin();
    fleet.wakes_lost_per_mille = 1000;
    takt_fleet_release(&fleet.workers[0], &permits[0]);
    takt_fleet_run(&fleet, NOW + 4 * SECOND);
    cr_expect_eq(fleet.wakes, 0);
    cr_expect(started_us[1] > LATER_US + 4 * WAY_US &&
                  started_us[1] <= LATER_US + TAKT_KEEPALIVE_US + 2 * WAY_US,
              "%lld", (long long)started_us[1]);
    takt_fleet_close(&fleet);
}

Test(fleet_permits, a_holder_keeps_its_permit_for_as_long_as_it_lives)
{
    begin();
    takt_fleet_run(&fleet, NOW + 60 * SECOND);
    cr_expect_eq(started_us[1], -1);
    cr_expect_eq(lost_us, -1);
    takt_fleet_close(&fleet);
}

Test(fleet_permits, that_of_the_dead_is_free_when_its_lease_is_over)
{
    begin();
    takt_fleet_crash(&fleet.workers[0]);
    takt_fleet_run(&fleet, NOW + 10 * SECOND);
    cr_expect(started_us[1] > HEARD_US + LEASE_US &&
                  started_us[1] <= HEARD_US + LEASE_US + 5 * WAY_US,
              "%lld", (long long)started_us[1]);
    takt_fleet_close(&fleet);
}

Test(fleet_permits, who_was_held_up_for_longer_is_told_before_anything_else)
{
    begin();
    takt_fleet_freeze(&fleet.workers[0], NOW + 9 * SECOND);
    takt_fleet_freeze(&fleet.workers[0], NOW + 2 * SECOND); /* not sooner by that */
    takt_fleet_run(&fleet, NOW + 8 * SECOND);
    cr_expect_gt(started_us[1], LEASE_US);
    cr_expect_eq(lost_us, -1);
    takt_fleet_run(&fleet, NOW + 10 * SECOND);
    cr_expect_eq(lost_us, 9 * SECOND);
    takt_fleet_release(&fleet.workers[0], &permits[0]); /* takes nothing from the other one */
    takt_fleet_run(&fleet, NOW + 11 * SECOND);
    cr_expect_eq(takt_fleet_ledger(&fleet, 0)->holder_count, 1);
    takt_fleet_close(&fleet);
}
