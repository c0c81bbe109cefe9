/*
 * The slots in hand beside the waiters of one queue: who has one, and what a claim wants for the
 * others.
 */
#include "scheduler/queue_cover.h"

#include <stdio.h>

#include "scheduler/waiters.h"

TestSuite(queue_cover, .init = open_queue, .fini = close_queue);

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

Test(queue_cover, a_claim_tells_like_waiters_as_one)
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

Test(queue_cover, slots_in_hand_cover_the_first_waiters)
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
Test(queue_cover, slots_in_hand_do_not_cover_a_larger_cost)
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

Test(queue_cover, deadlines_that_are_near_are_told_by_the_stores_clock)
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

Test(queue_cover, a_claim_lists_so_much_and_counts_the_rest)
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
