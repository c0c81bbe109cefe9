/*
 * The waiters of one queue, which waiter gets a slot, and the contents of a claim.
 */
#include <stdio.h>
#include <string.h>

#include "core/limits.h"
#include "scheduler/queue.h"

enum { PERMITS = 5000 };

static takt_limit limit;
static takt_queue queue;
static takt_permit permits[PERMITS];
static int permit_count;

static void open_queue(void)
{
    limit = limit_named(10, SECOND, 1000);
    takt_queue_init(&queue, &limit, "key");
    permit_count = 0;
}

static void close_queue(void)
{
    takt_queue_close(&queue);
}

TestSuite(queue, .init = open_queue, .fini = close_queue);

static takt_permit *wait_with(int priority, int32_t cost, int64_t deadline_us)
{
    takt_permit *permit = &permits[permit_count++];

    *permit =
        (takt_permit){.priority = (int8_t)priority, .cost = cost, .deadline_at_us = deadline_us};
    takt_queue_add(&queue, permit);
    return permit;
}

static void put_in_hand(int64_t count, int32_t cost)
{
    takt_run run = {{NOW, 0}, {1, 0}, 1, count, cost, {{0}}, 0};

    cr_assert_eq(takt_slots_add(&queue.in_hand, &run, 1, 0), 0);
}

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

/* "priority:count*cost@latest ...", as a claim lists it. */
static const char *wants(int64_t soon_us, int64_t offset_us)
{
    static char text[4000];
    size_t size = 0;
    takt_claim claim;
    takt_queue_wants(&queue, soon_us, offset_us, &claim);
    text[0] = '\0';
    for (int i = 0; i < claim.want_count && size < sizeof text - 100; i++) {
        const takt_want *w = &claim.wants[i];
        size += (size_t)snprintf(text + size, sizeof text - size, "%d:%" PRId64 "*%d", w->priority,
                                 w->count, w->cost);
        if (w->latest_us != TAKT_NEVER)
            size += (size_t)snprintf(text + size, sizeof text - size, "@%" PRId64, w->latest_us);
        size += (size_t)snprintf(text + size, sizeof text - size, " ");
    }
    snprintf(text + size, sizeof text - size, "of %" PRId64, claim.waiting);
    return text;
}

Test(queue, a_claim_tells_like_waiters_as_one)
{
    cr_assert_str_eq(wants(0, 0), "of 0");
    for (int i = 0; i < 5; i++)
        wait_with(5, 1, TAKT_NEVER);
    wait_with(0, 2, TAKT_NEVER);
    cr_assert_str_eq(wants(0, 0), "0:1*2 5:5*1 of 6");
    takt_permit *odd = wait_with(5, 3, TAKT_NEVER);
    wait_with(5, 1, TAKT_NEVER);
    cr_assert_str_eq(wants(0, 0), "0:1*2 5:5*1 5:1*3 5:1*1 of 8");
    takt_queue_remove(&queue, odd);
    cr_assert_str_eq(wants(0, 0), "0:1*2 5:6*1 of 7");
    cr_assert_eq(queue.waiters.changes, 0);
}

Test(queue, slots_in_hand_cover_the_first_waiters)
{
    static const struct {
        int64_t in_hand;
        const char *wants;
    } rows[] = {{0, "2:3*1 6:4*1 of 7"},
                {1, "2:2*1 6:4*1 of 6"},
                {3, "6:4*1 of 4"},
                {5, "6:2*1 of 2"},
                {7, "of 0"},
                {9, "of 0"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        open_queue();
        for (int j = 0; j < 7; j++)
            wait_with(j < 3 ? 2 : 6, 1, TAKT_NEVER);
        if (rows[i].in_hand)
            put_in_hand(rows[i].in_hand, 1);
        cr_assert_str_eq(wants(0, 0), rows[i].wants, "row %zu: %s", i, wants(0, 0));
        takt_permit *odd = wait_with(9, 7, TAKT_NEVER); /* now each is looked at, to the same end */
        wait_with(9, 8, TAKT_NEVER);
        cr_assert_eq(strncmp(wants(0, 0), rows[i].wants, strcspn(rows[i].wants, "o")), 0,
                     "row %zu: %s", i, wants(0, 0));
        (void)odd;
        takt_queue_close(&queue);
    }
}

/* A slot covers a waiter that it can serve; a waiter with a larger cost needs a claim, even behind
 * others. */
Test(queue, slots_in_hand_do_not_cover_a_larger_cost)
{
    static const struct {
        int32_t in_hand[2]; /* a cost, and how many */
        const char *wants;
    } rows[] = {{{1, 1}, "5:1*9 5:3*1 of 4"},
                {{1, 2}, "5:1*9 5:2*1 of 3"},
                {{1, 4}, "5:1*9 of 1"},
                {{1, 6}, "5:1*9 of 1"},
                {{9, 1}, "5:4*1 of 4"},
                {{9, 2}, "5:3*1 of 3"},
                {{9, 5}, "of 0"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        open_queue();
        wait_with(5, 9, TAKT_NEVER);
        for (int j = 0; j < 4; j++)
            wait_with(5, 1, TAKT_NEVER);
        put_in_hand(rows[i].in_hand[1], rows[i].in_hand[0]);
        cr_assert_str_eq(wants(0, 0), rows[i].wants, "row %zu: %s", i, wants(0, 0));
        cr_assert_eq(takt_queue_is_covered(&queue), strcmp(rows[i].wants, "of 0") == 0, "row %zu",
                     i);
        takt_queue_close(&queue);
    }
}

Test(queue, deadlines_that_are_near_are_told_by_the_stores_clock)
{
    wait_with(5, 1, TAKT_NEVER);
    wait_with(5, 1, 1000);
    wait_with(5, 1, 1000);
    wait_with(5, 1, 2000);
    wait_with(5, 1, TAKT_NEVER);
    cr_assert_str_eq(wants(999, 70), "5:5*1 of 5", "none is near");
    cr_assert_str_eq(wants(1000, 70), "5:1*1 5:2*1@930 5:2*1 of 5");
    cr_assert_str_eq(wants(2000, -70), "5:1*1 5:2*1@1070 5:1*1@2070 5:1*1 of 5");
}

Test(queue, a_claim_lists_so_much_and_counts_the_rest)
{
    takt_claim claim;

    for (int i = 0; i < 200; i++)
        wait_with(5, 1 + i % 2, TAKT_NEVER);
    takt_queue_wants(&queue, 0, 0, &claim);
    cr_assert_eq(claim.want_count, TAKT_WANTS_MAX);
    cr_assert_eq(claim.waiting, 200);
    open_queue();
    for (int i = 0; i < PERMITS - 1; i++)
        wait_with(5, 1, TAKT_NEVER);
    wait_with(5, 2, TAKT_NEVER);
    takt_queue_wants(&queue, 0, 0, &claim);
    cr_assert_eq(claim.want_count, 1);
    cr_assert_leq(claim.wants[0].count, 4096, "not all are looked at");
    cr_assert_eq(claim.waiting, PERMITS);
}
