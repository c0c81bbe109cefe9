/*
 * Bounds of nested work: which newcomers a claim states, which fail without a claim, and who leaves
 * if too many wait.
 */
#include "scheduler/queue_bound.h"

#include "scheduler/loss.h"
#include "scheduler/nested.h"
#include "scheduler/turns.h"

TestSuite(queue_bound, .init = set_up, .fini = close_scheduler);

static void answer_parked(int64_t refused, bool crowded, bool unlisted, int64_t at_us)
{
    takt_award award = {.claim_again_at_us = NOW + 30 * SECOND,
                        .parked = true,
                        .refused = refused,
                        .crowded = crowded,
                        .unlisted = unlisted,
                        .least_urgent = -1};

    answer_to(0, &award, at_us);
}

Test(queue_bound, a_parked_queue_states_newcomers_of_a_crowded_key_at_once)
{
    domain.numbers.max_waiting = 10;
    add("a", 2);
    run(0);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].newcomers, 2);
    answer_parked(0, true, false, 0);
    run(SECOND);
    cr_expect_eq(claims, 0);
    wait_as(0, 2, 5);
    run(SECOND);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].waiting, 3);
    cr_expect_eq(said[0].newcomers, 1);
    answer_parked(1, true, false, SECOND);
    run(SECOND);
    cr_expect_eq(permits[0][2].status, TAKT_E_FULL);
    cr_expect_eq(queues[0]->waiters.total, 2);
}

/* Where there is room, they have time until a keepalive. */
Test(queue_bound, a_parked_queue_states_its_newcomers_at_its_keepalive)
{
    domain.numbers.max_waiting = 10;
    add("a", 2);
    run(0);
    answer_parked(0, false, false, 0);
    wait_as(0, 2, 5);
    run(MS);
    cr_expect_eq(claims, 0);
    cr_expect_eq(next_pass(), TAKT_KEEPALIVE_US);
    run(TAKT_KEEPALIVE_US);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].newcomers, 1);
}

/* As many queues as may stand in line do so. */
static void fill_line(void)
{
    for (int i = 0; i < TAKT_TURNS_IN_LINE; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        add(key, 1);
    }
    run(0);
    cr_assert_eq(claims, TAKT_TURNS_IN_LINE);
    for (int i = 0; i < TAKT_TURNS_IN_LINE; i++)
        put_off(i, 0, 30 * SECOND, false);
}

/* The queue that is not in turn has no claim to tell it.  Of its four waiters one may start at
 * once, and another one within the lookahead. */
Test(queue_bound, a_queue_out_of_turn_refuses_those_who_can_neither_start_nor_wait)
{
    domain.numbers.max_waiting = 1;
    fill_line();
    add("late", EACH);
    run(MS);
    cr_expect_eq(claims, 0);
    cr_expect_eq(queues[TAKT_TURNS_IN_LINE]->waiters.total, 3);
    cr_expect_eq(permits[TAKT_TURNS_IN_LINE][3].status, TAKT_E_FULL, "the last one");
    cr_expect_gt(server.numbers.lookahead_us, 0);
    cr_expect_eq(permits[TAKT_TURNS_IN_LINE][3].retry_after_us, server.numbers.lookahead_us);
    add("drops", EACH);
    domain.numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    run(2 * MS);
    cr_expect_eq(queues[TAKT_TURNS_IN_LINE + 1]->waiters.total, EACH);
}

/* Of four waiters one may start at once and one may wait; the ledger decides which of them leave,
 * by numbers that may be newer. */
Test(queue_bound, a_new_queue_with_a_place_in_line_asks_the_ledger_first)
{
    domain.numbers.max_waiting = 1;
    add("a", EACH);
    run(0);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].waiting, EACH);
    cr_expect_eq(said[0].newcomers, EACH);
}

/* Without the store nothing waits for a turn in line. */
Test(queue_bound, a_new_queue_out_of_turn_refuses_nobody_without_the_store)
{
    server.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    domain.on_store_failure = TAKT_ON_STORE_FAILURE_OPEN;
    domain.numbers.max_waiting = 1;
    fill_line();
    takt_loss_begin(&s, queues[0]->server, TAKT_E_STORE, NOW);
    add("late", EACH);
    run(MS);
    cr_assert(takt_turns_hold_up(queues[TAKT_TURNS_IN_LINE]));
    cr_expect_eq(queues[TAKT_TURNS_IN_LINE]->waiters.total, EACH);
}

/* The domain has one start in an hour.  So all others are parked, and do not count for the bound of
 * the server. */
Test(queue_bound, the_outermost_bound_is_not_that_of_work_out_of_its_line)
{
    server.numbers = limit_named(1, SECOND, 1).numbers;
    server.numbers.max_waiting = 1;
    domain.numbers = limit_named(1, 3600 * SECOND, 1).numbers;
    fill_line();
    add("late", EACH);
    run(MS);
    cr_expect_eq(claims, 0);
    cr_expect_eq(queues[TAKT_TURNS_IN_LINE]->waiters.total, EACH);
}

Test(queue_bound, the_outermost_bound_is_not_that_of_a_parked_queue)
{
    server.numbers.max_waiting = 2;
    add("a", 2);
    run(0);
    answer_parked(0, false, false, 0);
    wait_as(0, 2, 5);
    run(TAKT_KEEPALIVE_US);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].waiting, 3);
}

/* It may have lost waiters that its claim has stated. */
Test(queue_bound, what_was_woken_during_its_claim_is_not_parked)
{
    domain.numbers.max_waiting = 10;
    domain.numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    add("a", 2);
    run(0);
    takt_claims_wake_inner(&s, queues[0]);
    answer_parked(0, true, false, MS);
    run(10 * MS);
    cr_assert_eq(claims, 1);
    answer_parked(1, true, false, 11 * MS);
    run(12 * MS);
    cr_expect_eq(claims, 0);
    cr_expect_eq(permits[0][0].status, TAKT_E_FULL, "the oldest");
}

/* Two were counted, two have come: the newest is refused, and the oldest makes way for the other.
 */
Test(queue_bound, who_leaves_is_as_the_award_says_if_the_levels_differ)
{
    takt_award award = {.claim_again_at_us = NOW + 30 * SECOND,
                        .parked = true,
                        .refused = 2,
                        .leave_count = 2,
                        .leaves = {{TAKT_WHEN_FULL_REFUSE, 1}, {TAKT_WHEN_FULL_DROP_OLDEST, 1}},
                        .least_urgent = -1};

    domain.numbers.max_waiting = 3;
    server.numbers.max_waiting = 2;
    server.numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    add("a", 2);
    run(0);
    answer_parked(0, true, false, 0);
    for (int i = 2; i < 4; i++) {
        wait_as(0, i, 5);
    }
    run(SECOND);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].newcomers, 2, "the domain refuses");
    answer_to(0, &award, SECOND);
    run(SECOND);
    cr_expect_eq(permits[0][3].status, TAKT_E_FULL);
    cr_expect_eq(permits[0][0].status, TAKT_E_FULL);
    cr_expect_eq(queues[0]->waiters.total, 2);
}

/* By the lowest bound that refuses, though another one is lower. */
Test(queue_bound, a_queue_that_fills_a_level_that_refuses_refuses_newcomers_itself)
{
    domain.numbers.max_waiting = 1;
    domain.numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    server.numbers.max_waiting = 2;
    add("a", 2);
    run(0);
    put_off(0, 0, 30 * SECOND, false);
    wait_as(0, 2, 5);
    run(SECOND);
    cr_expect_eq(permits[0][2].status, TAKT_E_FULL);
    cr_expect_eq(queues[0]->waiters.total, 2);
}

Test(queue_bound, waiters_that_no_line_has_counted_stay_newcomers)
{
    domain.numbers.max_waiting = 10;
    add("a", 2);
    run(0);
    answer_parked(0, false, true, 0);
    run(MS);
    cr_expect_eq(claims, 0);
    run(30 * SECOND);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].newcomers, 2);
}
