/*
 * The waiters of one queue: which waiter gets a slot, which one is the last, and who leaves if too
 * many wait.
 */
#include "scheduler/queue.h"

#include "scheduler/queue_bound.h"
#include "scheduler/waiters.h"

TestSuite(queue, .init = open_queue, .fini = close_queue);

Test(queue, the_first_to_leave_has_no_slot)
{
    takt_permit *first, *large, *small;

    const takt_when_full oldest = TAKT_WHEN_FULL_DROP_OLDEST, lowest = TAKT_WHEN_FULL_DROP_LOWEST;

    cr_assert_null(takt_queue_excess(&queue, TAKT_WHEN_FULL_REFUSE));
    first = wait_with(5, 1, TAKT_NEVER);
    large = wait_with(5, 7, TAKT_NEVER);
    small = wait_with(5, 1, TAKT_NEVER);
    cr_assert_null(takt_queue_excess(&queue, TAKT_WHEN_FULL_REFUSE), "no claim has stated them");
    cr_assert_eq(takt_queue_excess(&queue, lowest), small);
    cr_assert_eq(takt_queue_excess_after(&queue, lowest, small), large);
    cr_assert_eq(takt_queue_excess(&queue, oldest), first);
    put_in_hand(1, 1);
    cr_assert_eq(takt_queue_excess(&queue, oldest), large);
    cr_assert_eq(takt_queue_excess_after(&queue, oldest, large), small);
    cr_assert_null(takt_queue_excess_after(&queue, oldest, small));
    put_in_hand(1, 7);
    cr_assert_eq(takt_queue_excess(&queue, oldest), small);
    put_in_hand(1, 1);
    cr_assert_null(takt_queue_excess(&queue, oldest), "there is a slot for everybody");
    cr_assert_eq(takt_queue_excess(&queue, oldest), NULL);
    first = wait_with(9, 2, TAKT_NEVER);
    wait_with(0, 1, TAKT_NEVER);
    cr_assert_eq(takt_queue_excess(&queue, oldest), first, "the least urgent");
}

Test(queue, only_those_that_no_award_has_counted_are_refused)
{
    takt_permit *urgent, *new;

    limit.numbers.max_waiting = 2;
    wait_with(5, 1, TAKT_NEVER);
    wait_with(7, 1, TAKT_NEVER);
    cr_assert_eq(takt_queue_mark_stated(&queue), 2);
    takt_queue_count(&queue);
    cr_assert_null(takt_queue_excess(&queue, TAKT_WHEN_FULL_REFUSE), "both are counted");
    cr_assert(!takt_queue_is_full(&queue), "nobody is new");
    urgent = wait_with(0, 1, TAKT_NEVER);
    new = wait_with(7, 1, TAKT_NEVER);
    cr_assert(takt_queue_is_full(&queue));
    cr_assert_eq(takt_queue_unstated(&queue), new);
    cr_assert_eq(takt_queue_mark_stated(&queue), 2);
    cr_assert_null(takt_queue_unstated(&queue));
    wait_with(7, 1, TAKT_NEVER); /* while the claim is under way */
    cr_assert_eq(takt_queue_excess(&queue, TAKT_WHEN_FULL_REFUSE), new);
    cr_assert_null(takt_queue_excess_after(&queue, TAKT_WHEN_FULL_REFUSE, new),
                   "the one before it is counted");
    takt_queue_remove(&queue, new);
    cr_assert_eq(takt_queue_excess(&queue, TAKT_WHEN_FULL_REFUSE), urgent);
    takt_queue_count(&queue);
    cr_assert_null(takt_queue_excess(&queue, TAKT_WHEN_FULL_REFUSE));
    cr_assert_eq(queue.waiters.counted, 3);
    cr_assert_eq(takt_queue_mark_stated(&queue), 1);
    takt_queue_remove(&queue, urgent);
    cr_assert_eq(queue.waiters.counted, 2);
    cr_assert(takt_queue_is_full(&queue));
    put_in_hand(1, 1);
    cr_assert(!takt_queue_is_full(&queue), "one of them has a slot");
}

Test(queue, a_slot_goes_to_the_most_urgent_then_to_the_first_that_came)
{
    static const int priorities[] = {5, 9, 5, 0, 9, 0, 3}, order[] = {3, 5, 6, 0, 2, 1, 4};

    for (size_t i = 0; i < COUNT(priorities); i++)
        wait_with(priorities[i], 1, TAKT_NEVER);
    cr_assert_eq(queue.waiters.total, 7);
    for (size_t i = 0; i < COUNT(order); i++) {
        takt_permit *permit = takt_queue_match(&queue, &(takt_run){.cost = 1});
        cr_assert_eq(permit, &permits[order[i]], "slot %zu went to %td", i, permit - permits);
        takt_queue_remove(&queue, permit);
    }
    cr_assert_null(takt_queue_match(&queue, &(takt_run){.cost = 1}));
    cr_assert_eq(queue.waiters.total, 0);
}

Test(queue, a_slot_suits_its_own_cost_or_a_lower_one)
{
    static const struct {
        int32_t costs[4], slot;
        int match; /* -1: none */
    } rows[] = {{{1, 1, 1, 1}, 1, 0}, {{3, 1, 1, 1}, 1, 1},  {{1, 3, 1, 1}, 3, 1},
                {{3, 3, 2, 1}, 2, 2}, {{5, 5, 5, 5}, 4, -1}, {{5, 2, 1, 5}, 4, 1},
                {{2, 3, 4, 1}, 9, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        open_queue();
        for (int j = 0; j < 4; j++)
            wait_with(5, rows[i].costs[j], TAKT_NEVER);
        takt_permit *permit = takt_queue_match(&queue, &(takt_run){.cost = rows[i].slot});
        cr_assert_eq(permit, rows[i].match < 0 ? NULL : &permits[rows[i].match], "row %zu", i);
    }
}

Test(queue, only_so_many_are_looked_at_for_a_slot)
{
    for (int i = 0; i < 63; i++)
        wait_with(5, 8, TAKT_NEVER);
    takt_permit *near = wait_with(5, 1, TAKT_NEVER);
    cr_assert_eq(takt_queue_match(&queue, &(takt_run){.cost = 1}), near);
    takt_queue_remove(&queue, near);
    wait_with(5, 8, TAKT_NEVER);
    wait_with(5, 1, TAKT_NEVER);
    cr_assert_null(takt_queue_match(&queue, &(takt_run){.cost = 1}));
}

Test(queue, knows_its_last_and_who_gives_up_first)
{
    cr_assert_null(takt_queue_last(&queue));
    cr_assert_null(takt_queue_first_deadline(&queue));
    takt_permit *a = wait_with(5, 1, 300), *b = wait_with(7, 1, TAKT_NEVER),
                *c = wait_with(7, 1, 100);
    takt_permit *d = wait_with(0, 1, 200);
    cr_assert_eq(takt_queue_last(&queue), c);
    cr_assert_eq(takt_queue_first_deadline(&queue), c);
    takt_queue_remove(&queue, c);
    cr_assert_eq(takt_queue_last(&queue), b);
    cr_assert_eq(takt_queue_first_deadline(&queue), d);
    takt_queue_remove(&queue, b);
    takt_queue_remove(&queue, d);
    cr_assert_eq(takt_queue_last(&queue), a);
    cr_assert_eq(takt_queue_first_deadline(&queue), a);
    takt_queue_remove(&queue, a);
    cr_assert_null(takt_queue_first_deadline(&queue));
}
