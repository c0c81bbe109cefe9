/*
 * Queues of nested work whose inner limits let nothing start soon: they are parked, leave their
 * places in line to others, and come back.
 */
#include "scheduler/order.h"

#include "scheduler/nested.h"
#include "scheduler/turns.h"

TestSuite(parking, .init = set_up, .fini = close_scheduler);

Test(parking, a_parked_queue_leaves_its_place_and_comes_back)
{
    for (int i = 0; i <= TAKT_TURNS_IN_LINE; i++) {
        char key[8];
        snprintf(key, sizeof key, "%d", i);
        add(key, 1);
    }
    run(0);
    cr_assert_eq(claims, TAKT_TURNS_IN_LINE);
    for (int i = 0; i < claims; i++)
        put_off(i, 0, 10 * SECOND, i == 0);
    run(0);
    cr_assert_eq(claims, 1);
    cr_expect_eq(claimed[0], TAKT_TURNS_IN_LINE, "it has the place");
    put_off(TAKT_TURNS_IN_LINE, 0, 4 * SECOND, true);
    permits[0][1] = permits[0][0];
    takt_waiter_acquire(&s, queues[0], &permits[0][1]);
    run(SECOND);
    cr_expect_eq(claims, 0, "not even for new waiters");
    run(4 * SECOND + 10 * MS); /* two clocks drift apart */
    cr_expect(!has_claimed(0) && has_claimed(TAKT_TURNS_IN_LINE));
    for (int i = 1; i <= TAKT_TURNS_IN_LINE; i++)
        put_off(i, 4 * SECOND + 10 * MS, 20 * SECOND, true);
    run(5 * SECOND);
    cr_expect_eq(claims, 0);
    run(10 * SECOND + 10 * MS);
    cr_expect_eq(claims, 1, "its time has come");
    cr_expect_eq(claimed[0], 0);
}

/* Only what the inner ledgers say can change that its work cannot start. */
Test(parking, a_change_of_an_inner_ledger_ends_parking)
{
    add("a", 1);
    run(0);
    put_off(0, 0, 10 * SECOND, true);
    run(0);
    takt_claims_hint(&s, queues[0]);
    run(SECOND);
    cr_expect_eq(claims, 0, "a hint of the outermost ledger says nothing of the inner ones");
    takt_order_unpark(&s, queues[0]);
    takt_claims_hint(&s, queues[0]);
    run(SECOND);
    cr_expect_eq(claims, 1);
    put_off(0, SECOND, 20 * SECOND, true);
    takt_scheduler_blocked(&s, queues[0], NOW + 5 * SECOND);
    run(2 * SECOND);
    cr_expect_eq(claims, 0);
    takt_scheduler_blocked(&s, queues[0], 0);
    run(3 * SECOND);
    cr_expect_eq(claims, 1, "a block may have been what held it up");
}

/* Its place is in the lines of its inner limits. */
Test(parking, a_queue_that_was_parked_says_that_its_waiters_are_gone)
{
    add("a", 1);
    run(0);
    put_off(0, 0, 10 * SECOND, true);
    run(0);
    takt_order_unpark(&s, queues[0]);
    takt_waiter_leave(&s, &permits[0][0], 0);
    run(0);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].waiting, 0);
    put_off(0, 0, 0, false);
    run(SECOND);
    cr_expect_eq(claims, 1, "it stands in the outermost line now");
    answer_to(0, &(takt_award){.now_us = NOW + SECOND}, SECOND);
    run(2 * SECOND);
    cr_expect_eq(claims, 0);
}

/* A hint may be lost. */
Test(parking, parking_has_an_end)
{
    add("a", 1);
    run(0);
    put_off(0, 0, 3600 * SECOND, true);
    run(0);
    run(60 * SECOND);
    cr_expect_eq(claims, 1);
}

Test(parking, more_urgent_waiters_are_not_parked)
{
    add("a", 1);
    run(0);
    put_off(0, 0, 10 * SECOND, true);
    wait_as(0, 1, 1);
    run(SECOND);
    cr_expect_eq(claims, 1);
}

Test(parking, an_urgent_waiter_with_a_slot_does_not_keep_the_others_in_turn)
{
    takt_award slot = award_of(0, SECOND, 0, 1, 1);

    add("a", 1);
    wait_as(0, 1, 1);
    run(0);
    cr_expect_eq(said[0].wants[0].priority, 1);
    slot.in_line = 1U << 5;
    slot.claim_again_at_us = NOW + 100 * MS;
    answer_to(0, &slot, 0);
    run(110 * MS);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].wants[0].priority, 5, "the other one has the slot in hand");
    put_off(0, 110 * MS, 10 * SECOND, true);
    run(SECOND / 2);
    cr_expect_eq(claims, 0);
    run(SECOND + 10 * MS);
    cr_expect_str_eq(started, "a");
    cr_expect_eq(claims, 0);
}

/* The lines of its inner limits have places of them. */
Test(parking, a_parked_queue_whose_waiters_are_gone_claims_once_more)
{
    takt_award nothing = award_of(SECOND, 0, 0, 0, 1);
    uint64_t worker;

    add("a", 2);
    run(0);
    worker = said[0].worker;
    put_off(0, 0, 10 * SECOND, true);
    takt_waiter_leave(&s, &permits[0][0], 0);
    run(SECOND);
    cr_expect_eq(claims, 0, "the other one waits");
    takt_waiter_leave(&s, &permits[0][1], 0);
    run(SECOND);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].worker, worker);
    cr_expect_str_eq(said[0].tenant, "a");
    cr_expect_eq(said[0].waiting, 0);
    cr_expect_eq(said[0].want_count, 0);
    answer_to(0, &nothing, SECOND);
    run(SECOND);
    cr_expect_eq(claims, 0, "no place is left");
    cr_expect_eq(takt_scheduler_pass_at(&s), TAKT_NEVER);
}
