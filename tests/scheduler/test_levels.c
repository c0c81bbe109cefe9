/*
 * Nested limits: a permit on its way to an outer queue keeps that queue until it has arrived or
 * ended.
 */
#include "rigs.h"
#include "scheduler/claims.h"
#include "scheduler/registry.h"
#include "scheduler/unused.h"

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
    takt_waiter_expect(&r.s, outermost, 1, TAKT_NO_MORE, &r.permits[0]);
    takt_waiter_expect(&r.s, outer, 1, TAKT_NO_MORE, &r.permits[0]);
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
    takt_waiter_expect(&r.s, outermost, 1, TAKT_NO_MORE, permit);
    takt_waiter_expect(&r.s, outer, 1, TAKT_NO_MORE, permit);
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
    takt_waiter_expect(&r.s, outermost, 1, TAKT_NO_MORE, &r.permits[0]);
    cr_assert_eq(outermost->coming, 1);
    pass(&r, 0);
    cr_assert_str_eq(pass(&r, 2 * SECOND), "a-6", "its deadline");
    cr_assert_eq(outermost->coming, 0);
    r.permit_count = 0;
    acquire(&r, 5, 1, ALWAYS);
    takt_waiter_expect(&r.s, outermost, 1, TAKT_NO_MORE, &r.permits[0]);
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

/* Its slot of the limit inside was due: it waits for the one around. */
static void go_on(takt_permit *permit, int64_t slot_us)
{
    takt_award award = award_of(0, slot_us, 0, 1, 1);
    takt_claim claim;

    takt_scheduler_run(&r.s, NOW);
    cr_assert_eq(takt_claims_next(&r.s, NOW, &claim), r.queue);
    takt_scheduler_award(&r.s, r.queue, &award, NOW, NOW);
    takt_scheduler_run(&r.s, NOW + slot_us + MS); /* two clocks drift apart */
    cr_assert_eq(takt_scheduler_next_fired(&r.s), permit);
    takt_waiter_acquire(&r.s, takt_waiter_next_queue(&r.s, permit), permit);
}

static void expect_handed_back(int64_t slot_us, int64_t count)
{
    takt_run run;

    cr_assert_eq(takt_unused_next(&r.s, &run), r.queue);
    cr_assert_eq(takt_run_slot(&run, 0), NOW + slot_us);
    cr_assert_eq(run.count, count);
    cr_assert_null(takt_unused_next(&r.s, &run));
    cr_assert_eq(r.queue->gone_on, 0);
}

Test(scheduler_levels, who_gives_up_outside_hands_back_what_it_took_inside)
{
    go_on(&r.permits[0], 10 * MS);
    cr_assert_eq(r.queue->gone_on, 1);
    takt_waiter_leave(&r.s, &r.permits[0], TAKT_E_CANCELED);
    expect_handed_back(10 * MS, 1);
}

Test(scheduler_levels, whose_deadline_is_over_outside_hands_back_what_it_took_inside)
{
    takt_waiter_leave(&r.s, &r.permits[0], 0);
    r.permit_count = 0;
    acquire(&r, 5, 1, SECOND);
    takt_waiter_expect(&r.s, outer, 1, TAKT_NO_MORE, &r.permits[0]);
    go_on(&r.permits[0], 10 * MS);
    cr_assert_str_eq(pass(&r, 2 * SECOND), "a-6");
    expect_handed_back(10 * MS, 1);
}

/* Its callback was due in the last pass but one, and did not come: the slot is in hand again, so it
 * is handed back once. */
Test(scheduler_levels, a_slot_that_is_in_hand_again_is_handed_back_once)
{
    takt_award award = award_of(0, 10 * MS, 0, 1, 1);
    takt_claim claim;

    takt_scheduler_run(&r.s, NOW);
    cr_assert_eq(takt_claims_next(&r.s, NOW, &claim), r.queue);
    takt_scheduler_award(&r.s, r.queue, &award, NOW, NOW);
    takt_scheduler_run(&r.s, NOW + 11 * MS);
    cr_assert_eq(r.queue->gone_on, 1);
    takt_waiter_leave(&r.s, &r.permits[0], 0);
    cr_assert_eq(r.queue->gone_on, 0);
    takt_scheduler_run(&r.s, NOW + 11 * MS);
    expect_handed_back(10 * MS, 1);
}

Test(scheduler_levels, whose_work_begins_hands_nothing_back)
{
    takt_permit *permit = &r.permits[0];
    takt_award award = award_of(11 * MS, 20 * MS, 0, 1, 1);
    takt_claim claim;
    takt_run run;

    takt_waiter_leave(&r.s, permit, 0);
    takt_waiter_expect(&r.s, outer, 1, TAKT_NO_MORE, permit);
    takt_waiter_acquire(&r.s, r.queue, permit);
    go_on(permit, 10 * MS);
    takt_scheduler_run(&r.s, NOW + 11 * MS);
    cr_assert_eq(takt_claims_next(&r.s, NOW + 11 * MS, &claim), outer);
    takt_scheduler_award(&r.s, outer, &award, NOW + 11 * MS, NOW + 11 * MS);
    takt_scheduler_run(&r.s, NOW + 21 * MS);
    cr_assert_eq(takt_scheduler_next_fired(&r.s), permit);
    cr_assert_eq(permit->passed_count + r.queue->gone_on, 0);
    takt_waiter_release(&r.s, permit);
    cr_assert_null(takt_unused_next(&r.s, &run));
}

/* A burst of the limit inside gives up: one call hands it back. */
Test(scheduler_levels, the_slots_of_one_instant_are_handed_back_together)
{
    takt_award award = award_of(0, 10 * MS, 0, 3, 1);
    takt_claim claim;

    acquire(&r, 5, 1, ALWAYS);
    acquire(&r, 5, 1, ALWAYS);
    for (int i = 1; i < 3; i++)
        takt_waiter_expect(&r.s, outer, 1, TAKT_NO_MORE, &r.permits[i]);
    takt_scheduler_run(&r.s, NOW);
    cr_assert_eq(takt_claims_next(&r.s, NOW, &claim), r.queue);
    takt_scheduler_award(&r.s, r.queue, &award, NOW, NOW);
    takt_scheduler_run(&r.s, NOW + 11 * MS);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(takt_scheduler_next_fired(&r.s), &r.permits[i]);
    for (int i = 0; i < 3; i++) {
        takt_waiter_acquire(&r.s, takt_waiter_next_queue(&r.s, &r.permits[i]), &r.permits[i]);
        takt_waiter_leave(&r.s, &r.permits[i], 0);
    }
    expect_handed_back(10 * MS, 3);
}
