/*
 * The moves of one permit, made by hand: no pass comes between them.
 */
#include "scheduler/registry.h"
#include "scheduler/rigs.h"
#include "scheduler/slots.h"

static rig r;

static void open_fresh(void)
{
    open_rig(&r);
}

static void close_fresh(void)
{
    close_rig(&r);
}

TestSuite(waiter, .init = open_fresh, .fini = close_fresh);

/* Its slot is due, 100 ms after NOW. */
static void fire(takt_permit *permit)
{
    permit->slot_at_us = NOW + 100 * MS;
    takt_waiter_fire(&r.s, permit, 0);
}

Test(waiter, from_waiting_to_released)
{
    takt_permit *permit = acquire(&r, 5, 2, ALWAYS);

    cr_expect_eq(permit->state, TAKT_PERMIT_WAITING);
    cr_expect_eq(r.queue->waiters.total, 1);
    fire(permit);
    cr_expect_eq(permit->state, TAKT_PERMIT_FIRED);
    cr_expect_eq(r.queue->waiters.total, 0);
    cr_expect_eq(takt_scheduler_next_fired(&r.s), permit);
    cr_expect_eq(permit->state, TAKT_PERMIT_GRANTED);
    cr_expect_eq(permit->slot_at_us, NOW + 100 * MS);
    takt_waiter_release(&r.s, permit);
    cr_expect_eq(permit->state, TAKT_PERMIT_IDLE);
    cr_expect_eq(r.queue->in_hand.count, 0, "its slot was used");
}

Test(waiter, what_it_holds_counts_until_it_is_released)
{
    takt_permit *permit = acquire(&r, 5, 1, ALWAYS);

    takt_waiter_take(r.queue, permit, 7);
    cr_expect_eq(permit->fence, 7);
    cr_expect_eq(r.queue->holding.running, 1);
    fire(permit);
    cr_expect_eq(takt_scheduler_next_fired(&r.s), permit);
    cr_expect_not(takt_list_empty(&r.s.granted));
    takt_waiter_release(&r.s, permit);
    cr_expect_eq(r.queue->holding.running, 0);
    cr_expect(takt_list_empty(&r.s.granted));
}

Test(waiter, a_failure_holds_nothing_and_settles_nothing)
{
    takt_permit *permit = acquire(&r, 5, 1, ALWAYS);

    permit->slot_at_us = NOW;
    permit->uncharged = true;
    takt_waiter_take(r.queue, permit, 7);
    takt_waiter_fire(&r.s, permit, TAKT_E_DEADLINE);
    cr_expect_eq(permit->status, TAKT_E_DEADLINE);
    cr_expect_eq(permit->slot_at_us, 0);
    cr_expect_eq(permit->uncharged, 0);
    cr_expect_eq(r.queue->holding.running, 0);
}

/* Its limits are all in shadow: a shadow waiter will come to their queue. */
Test(waiter, what_no_limit_holds_up_is_due_at_once)
{
    takt_permit *permit = &r.permits[0];

    *permit = (takt_permit){.cost = 1, .deadline_at_us = TAKT_NEVER};
    takt_waiter_expect(&r.s, r.queue, 3, TAKT_NO_MORE, permit);
    takt_waiter_start(&r.s, permit);
    cr_expect_eq(permit->state, TAKT_PERMIT_FIRED);
    cr_expect_eq(permit->queue, r.queue);
    cr_expect_eq(permit->uncharged, 1);
    cr_expect_eq(r.queue->coming, 1);
    cr_expect_eq(r.queue->waiters.total, 0);
    cr_expect_eq(takt_scheduler_next_fired(&r.s), permit);
    takt_waiter_release(&r.s, permit);
    cr_expect_eq(r.queue->coming, 0);
    cr_expect_eq(r.queue->in_hand.count, 0);
}

Test(waiter, who_leaves_is_expected_nowhere)
{
    takt_queue *shade = takt_registry_queue(&r.s, &r.limit, "shade");
    takt_permit *permit = acquire(&r, 5, 1, ALWAYS);

    takt_waiter_expect(&r.s, shade, 1, TAKT_NO_MORE, permit);
    takt_waiter_take(r.queue, permit, 7);
    takt_waiter_leave(&r.s, permit, 0);
    cr_expect_eq(permit->state, TAKT_PERMIT_IDLE);
    cr_expect_eq(shade->coming, 0);
    cr_expect_eq(r.queue->holding.running, 0);
    cr_expect_eq(r.queue->waiters.total, 0);
}

Test(waiter, who_leaves_with_a_status_is_called_back_once)
{
    takt_permit *waiting = acquire(&r, 5, 1, ALWAYS), *due = acquire(&r, 5, 1, ALWAYS);

    fire(due);
    takt_waiter_leave(&r.s, waiting, TAKT_E_CANCELED);
    takt_waiter_leave(&r.s, due, TAKT_E_CANCELED);
    cr_expect_eq(takt_scheduler_next_fired(&r.s), due);
    cr_expect_eq(due->status, TAKT_E_CANCELED);
    cr_expect_eq(takt_scheduler_next_fired(&r.s), waiting);
    cr_expect_eq(waiting->status, TAKT_E_CANCELED);
    cr_expect_null(takt_scheduler_next_fired(&r.s));
}

/* The slot of a callback that did not come goes to the next waiter, with its fencing number. */
Test(waiter, a_slot_that_was_not_used_is_in_hand_again)
{
    for (int charged = 0; charged < 2; charged++) {
        takt_permit *permit = acquire(&r, 5, 3, ALWAYS);
        takt_waiter_take(r.queue, permit, 7);
        fire(permit);
        permit->uncharged = !charged;
        takt_waiter_leave(&r.s, permit, 0);
        cr_expect_eq(permit->state, TAKT_PERMIT_IDLE);
        cr_expect_eq(r.queue->in_hand.count, charged, "but for one that no ledger gave");
        cr_expect_null(takt_scheduler_next_fired(&r.s));
    }
    cr_expect_eq(takt_slots_next(&r.queue->in_hand), NOW + 100 * MS);
    cr_expect_eq(takt_slots_next_run(&r.queue->in_hand).cost, 3);
    cr_expect_eq(takt_slots_next_fence(&r.queue->in_hand), 7);
}

Test(waiter, costs_that_became_impossible_are_refused)
{
    takt_permit *permits[4];

    r.limit.numbers.rules[0].burst = 4;
    cr_assert_eq(takt_rule_prepare(&r.limit.numbers.rules[0], NULL), 0);
    for (int i = 0; i < 4; i++)
        permits[i] = acquire(&r, i % 2 ? 0 : 9, i + 1, ALWAYS);
    r.limit.numbers.rules[0].burst = 2;
    cr_assert_eq(takt_rule_prepare(&r.limit.numbers.rules[0], NULL), 0);
    takt_waiter_review(&r.s, r.queue);
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(permits[i]->state, i < 2 ? TAKT_PERMIT_WAITING : TAKT_PERMIT_FIRED, "%d", i);
        cr_expect_eq(permits[i]->status, i < 2 ? 0 : TAKT_E_COST, "%d", i);
    }
    cr_expect_eq(r.queue->waiters.total, 2);
}
