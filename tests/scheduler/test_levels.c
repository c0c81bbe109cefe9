/*
 * Nested limits: a permit on its way to an outer queue keeps that queue until it has arrived or
 * ended.
 */
#include "rigs.h"
#include "scheduler/claims.h"
#include "scheduler/registry.h"

enum { OTHERS = 1100 /* more idle queues than are kept */ };

static rig r;
static takt_limit outer_limit, outermost_limit;
static takt_queue *outer, *outermost;

/* a waits inside, and is to pass two limits around. */
static void set_up(void)
{
    open_rig(&r);
    outer_limit = outermost_limit = r.limit;
    strcpy(outer_limit.name, "outer");
    strcpy(outermost_limit.name, "outermost");
    outermost = takt_registry_queue(&r.s, &outermost_limit, "eu");
    outer = takt_registry_queue(&r.s, &outer_limit, "red");
    acquire(&r, 5, 1, ALWAYS);
    takt_waiter_expect(&r.s, outermost, 1, &r.permits[0]);
    takt_waiter_expect(&r.s, outer, 1, &r.permits[0]);
}

static void tear_down(void)
{
    close_rig(&r);
}

TestSuite(scheduler_levels, .init = set_up, .fini = tear_down);

/* So many queues become idle that the others are forgotten. */
static void crowd(int64_t at_us)
{
    char key[16];

    for (int i = 0; i < OTHERS; i++) {
        snprintf(key, sizeof key, "%d", i);
        takt_claims_nudge(&r.s, takt_registry_queue(&r.s, &r.limit, key));
    }
    for (int i = 0; i < 2; i++) {
        takt_claim claim;
        takt_scheduler_run(&r.s, NOW + at_us);
        while (takt_claims_next(&r.s, NOW + at_us, &claim))
            ;
    }
}

static bool is_kept(const takt_limit *limit, const char *key)
{
    return takt_registry_find(&r.s, limit, key) != NULL;
}

Test(scheduler_levels, queues_that_somebody_is_to_come_to_are_kept)
{
    crowd(0);
    cr_assert(is_kept(&outer_limit, "red"));
    cr_assert(is_kept(&outermost_limit, "eu"));
    takt_waiter_leave(&r.s, &r.permits[0], TAKT_E_CANCELED);
    cr_assert_eq(outer->coming, 0);
    cr_assert_eq(outermost->coming, 0);
    cr_assert_str_eq(pass(&r, 0), "a-8");
    crowd(0);
    crowd(0);
    cr_assert_not(is_kept(&outer_limit, "red"), "nobody comes any more");
    cr_assert_not(is_kept(&outermost_limit, "eu"));
}

Test(scheduler_levels, a_permit_goes_from_the_inside_out)
{
    takt_permit *permit = &r.permits[0];

    takt_waiter_leave(&r.s, permit, 0);
    takt_waiter_expect(&r.s, outermost, 1, permit);
    takt_waiter_expect(&r.s, outer, 1, permit);
    takt_waiter_acquire(&r.s, takt_waiter_next_queue(&r.s, permit), permit);
    cr_assert_eq(permit->queue, outer);
    cr_assert_eq(outer->coming, 0);
    cr_assert_eq(outermost->coming, 1);
    takt_queue_remove(outer, permit);
    takt_waiter_acquire(&r.s, takt_waiter_next_queue(&r.s, permit), permit);
    cr_assert_eq(permit->queue, outermost);
    cr_assert_eq(outermost->coming, 0);
    cr_assert_eq(permit->outer_count, 0);
}

/* Whichever way it ends. */
Test(scheduler_levels, who_ends_is_not_expected_any_more)
{
    takt_waiter_leave(&r.s, &r.permits[0], 0);
    cr_assert_eq(outer->coming + outermost->coming, 0);
    r.permit_count = 0;
    acquire(&r, 5, 1, SECOND);
    takt_waiter_expect(&r.s, outermost, 1, &r.permits[0]);
    cr_assert_eq(outermost->coming, 1);
    pass(&r, 0);
    cr_assert_str_eq(pass(&r, 2 * SECOND), "a-6", "its deadline");
    cr_assert_eq(outermost->coming, 0);
    r.permit_count = 0;
    acquire(&r, 5, 1, ALWAYS);
    takt_waiter_expect(&r.s, outermost, 1, &r.permits[0]);
    takt_scheduler_leave_all(&r.s, TAKT_E_CANCELED);
    cr_assert_eq(outermost->coming, 0);
}

/* Takes a claim's answer: a permit, due now. */
static void give_permit(takt_queue *queue)
{
    takt_award award = award_of(0, 0, 0, 1, 1);

    award.holding = 1;
    award.fence = NOW;
    takt_scheduler_award(&r.s, queue, &award, NOW, NOW);
}

/* It has the permits of the limits inside and waits for that of the outermost; their leases end. */
Test(scheduler_levels, who_loses_what_it_has_is_held_nowhere)
{
    takt_permit *permit = &r.permits[0];
    takt_claim claim;

    r.limit.numbers.concurrency = outer_limit.numbers.concurrency =
        outermost_limit.numbers.concurrency = 1;
    r.limit.numbers.lease_us = outer_limit.numbers.lease_us = outermost_limit.numbers.lease_us =
        SECOND;
    takt_scheduler_run(&r.s, NOW);
    cr_assert_eq(takt_claims_next(&r.s, NOW, &claim), r.queue);
    give_permit(r.queue);
    takt_scheduler_run(&r.s, NOW);
    cr_assert_eq(takt_scheduler_next_fired(&r.s), permit);
    takt_waiter_acquire(&r.s, takt_waiter_next_queue(&r.s, permit), permit);
    takt_scheduler_run(&r.s, NOW);
    cr_assert_eq(takt_claims_next(&r.s, NOW, &claim), outer);
    cr_assert_eq(r.queue->holding.running, 1);
    cr_assert_eq(outermost->coming, 1);
    takt_scheduler_run(&r.s, NOW + 2 * SECOND);
    cr_assert_eq(takt_scheduler_next_fired(&r.s), permit);
    cr_assert_eq(permit->status, TAKT_E_LEASE);
    cr_assert_eq(r.queue->holding.running, 0);
    cr_assert_eq(outer->waiters.total, 0);
    cr_assert_eq(outermost->coming, 0);
}
