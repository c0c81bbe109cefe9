/*
 * Failures while waiters wait: deadlines, cancellations, blocks, refusals, stores that do not
 * answer; and the state that remains without waiters.
 */
#include <malloc.h>

#include "scheduler/claims.h"
#include "scheduler/loss.h"
#include "scheduler/registry.h"
#include "scheduler/rigs.h"

static rig r;

static void set_up(void)
{
    open_rig(&r);
}

static void tear_down(void)
{
    close_rig(&r);
}

TestSuite(scheduler_trouble, .init = set_up, .fini = tear_down);

Test(scheduler_trouble, a_deadline_comes_at_its_time)
{
    acquire(&r, 5, 1, 300 * MS);
    acquire(&r, 5, 1, 100 * MS);
    acquire(&r, 5, 1, ALWAYS);
    pass(&r, 0);
    cr_assert_eq(wake_us(&r), 100 * MS);
    cr_assert_str_eq(pass(&r, 100 * MS - 1), "");
    cr_assert_str_eq(pass(&r, 100 * MS), "b-6");
    cr_assert_eq(r.permits[1].state, TAKT_PERMIT_IDLE);
    cr_assert_eq(wake_us(&r), 300 * MS);
    cr_assert_str_eq(pass(&r, 300 * MS), "a-6");
    cr_assert_eq(r.queue->waiters.total, 1);
}

Test(scheduler_trouble, a_deadline_that_cannot_be_kept_is_told_at_once)
{
    static const struct {
        int64_t next_slot_us;
        const char *fired; /* of a: 100 ms, b: 900 ms, c: any time */
    } rows[] = {
        {50 * MS, ""}, {97 * MS, ""}, {150 * MS, "a-6"}, {890 * MS, "a-6"}, {950 * MS, "a-6b-6"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        close_rig(&r);
        open_rig(&r);
        acquire(&r, 5, 1, 100 * MS);
        acquire(&r, 5, 1, 900 * MS);
        acquire(&r, 5, 1, ALWAYS);
        pass(&r, 0);
        takt_award award = award_of(0, rows[i].next_slot_us, 0, 0, 1);
        award.in_line = 1U << 5;
        award.claim_again_at_us = NOW + 10 * MS;
        answer(&r, 2 * MS, &award);
        cr_assert_str_eq(pass(&r, 2 * MS), rows[i].fired, "row %zu: %s", i, r.fired);
        if (rows[i].fired[0]) {
            int64_t retry_us = r.permits[0].retry_after_us;
            cr_assert(retry_us >= rows[i].next_slot_us - 2 * MS &&
                          retry_us <= rows[i].next_slot_us + MS,
                      "row %zu: %" PRId64, i, retry_us);
        }
    }
}

/* A slot in hand may still serve it; the first waiter gets it. */
Test(scheduler_trouble, a_deadline_is_not_given_up_while_there_are_slots_in_hand)
{
    acquire(&r, 5, 1, 150 * MS);
    pass(&r, 0);
    takt_award award = award_of(0, 100 * MS, SECOND, 1, 1);
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "");
    cr_assert_str_eq(pass(&r, 101 * MS), "a");
}

Test(scheduler_trouble, who_gives_up_is_not_charged)
{
    acquire(&r, 5, 1, 50 * MS);
    acquire_many(&r, 1);
    pass(&r, 0);
    takt_award award = award_of(0, 100 * MS, 100 * MS, 2, 1);
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 50 * MS), "a-6");
    cr_assert_str_eq(pass(&r, 101 * MS), "b", "the slot goes to the next");
    cr_assert_str_eq(pass(&r, 201 * MS), "", "and with nobody there to nobody");
    cr_assert_eq(r.queue->in_hand.count, 0);
}

Test(scheduler_trouble, near_deadlines_are_told_to_the_ledger)
{
    takt_clock_note(&r.s.servers.first.clock, NOW, NOW, NOW);
    acquire(&r, 5, 1, 200 * MS);
    acquire(&r, 5, 1, 900 * MS);
    pass(&r, 0);
    cr_assert_eq(r.claim.want_count, 2);
    cr_assert_eq(r.claim.wants[0].latest_us, NOW + 200 * MS);
    cr_assert_eq(r.claim.wants[1].latest_us, TAKT_NEVER);
}

Test(scheduler_trouble, deadlines_are_not_told_by_the_local_clock)
{
    acquire(&r, 5, 1, 200 * MS);
    acquire(&r, 5, 1, 900 * MS);
    pass(&r, 0);
    cr_assert_eq(r.claim.want_count, 1);
    cr_assert_eq(r.claim.wants[0].latest_us, TAKT_NEVER);
}

Test(scheduler_trouble, cancelled_waiters_leave_at_once)
{
    acquire_many(&r, 4);
    pass(&r, 0);
    takt_waiter_leave(&r.s, &r.permits[1], TAKT_E_CANCELED);
    takt_waiter_leave(&r.s, &r.permits[2], 0); /* released: no callback */
    cr_assert_str_eq(pass(&r, 0), "b-8");
    takt_award award = award_of(0, 0, 0, 4, 1);
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "ad");
    cr_assert_eq(r.permits[2].state, TAKT_PERMIT_IDLE);
}

Test(scheduler_trouble, one_whose_callback_is_due_can_still_be_released)
{
    takt_permit *permit;

    acquire_many(&r, 2);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 2, 1);
    answer(&r, 0, &award);
    takt_scheduler_run(&r.s, NOW);
    permit = takt_scheduler_next_fired(&r.s);
    cr_assert_eq(permit, &r.permits[0]);
    takt_waiter_leave(&r.s, &r.permits[1], 0); /* as its callback may do */
    cr_assert_null(takt_scheduler_next_fired(&r.s));
    cr_assert_eq(r.permits[1].state, TAKT_PERMIT_IDLE);
}

Test(scheduler_trouble, everybody_can_be_sent_away)
{
    takt_queue *other = takt_registry_queue(&r.s, &r.limit, "other");

    acquire_many(&r, 3);
    r.queue = other;
    acquire_many(&r, 2);
    pass(&r, 0);
    cr_assert_eq(r.claims, 2);
    takt_scheduler_leave_all(&r.s, TAKT_E_CANCELED);
    cr_assert_eq(strlen(pass(&r, 0)), strlen("a-8") * 5);
}

Test(scheduler_trouble, slots_in_hand_before_the_end_of_a_block_are_dropped)
{
    acquire_many(&r, 5);
    pass(&r, 0);
    takt_award award = award_of(0, 100 * MS, 50 * MS, 5, 1);
    answer(&r, 0, &award);
    pass(&r, 0);
    takt_scheduler_blocked(&r.s, r.queue, NOW + 220 * MS);
    pass(&r, MS);
    cr_assert_eq(r.queue->in_hand.count, 2);
    cr_assert_str_eq(pass(&r, 219 * MS), "");
    cr_assert_str_eq(pass(&r, 301 * MS), "ab");
    award = award_of(302 * MS, 0, 0, 0, 1); /* the other way to hear of a block: in an award */
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + 400 * MS;
    r.sent_us = 302 * MS;
    answer(&r, 302 * MS, &award);
    pass(&r, 302 * MS);
    pass(&r, 402 * MS);
    cr_assert_eq(r.claims, 1);
    award = award_of(402 * MS, 410 * MS, 10 * MS, 3, 1);
    award.blocked_until_us = NOW + 425 * MS;
    answer(&r, 402 * MS, &award);
    cr_assert_str_eq(pass(&r, 424 * MS), "");
    cr_assert_str_eq(pass(&r, 431 * MS), "c");
}

Test(scheduler_trouble, a_wake_makes_those_who_wait_claim)
{
    acquire_many(&r, 1);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 0, 1);
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + HOUR;
    answer(&r, 0, &award);
    pass(&r, 0);
    cr_assert_eq(r.claims, 0);
    takt_scheduler_blocked(&r.s, r.queue, 0);
    pass(&r, MS);
    cr_assert_eq(r.claims, 1);
}

Test(scheduler_trouble, those_refused_are_the_last)
{
    static const int priorities[] = {5, 7, 5, 7, 3};

    r.limit.numbers.max_waiting = 100;
    for (size_t i = 0; i < COUNT(priorities); i++)
        acquire(&r, priorities[i], 1, ALWAYS);
    pass(&r, 0);
    takt_award award = award_of(0, SECOND, 0, 0, 1);
    award.refused = 3;
    award.in_line = 1U << 3 | 1U << 5;
    award.claim_again_at_us = NOW + SECOND;
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "d-7b-7c-7");
    cr_assert_eq(r.queue->waiters.total, 2);
    acquire_many(&r, 1);
    takt_scheduler_leave_all(&r.s, 0);
    award.refused = 9; /* more than there are */
    pass(&r, SECOND);
    answer(&r, SECOND, &award);
    cr_assert_str_eq(pass(&r, SECOND), "");
}

/* A later waiter is refused instead, at any priority. */
Test(scheduler_trouble, who_was_accepted_is_not_refused)
{
    r.limit.numbers.max_waiting = 2;
    acquire(&r, 7, 1, ALWAYS);
    pass(&r, 0);
    takt_award award = award_of(0, SECOND, 0, 0, 1);
    award.waiting = 1;
    award.in_line = 1U << 7;
    award.claim_again_at_us = NOW + SECOND;
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "");
    acquire(&r, 0, 1, ALWAYS);
    acquire(&r, 0, 1, ALWAYS);
    cr_assert_str_eq(pass(&r, 10 * MS), "", "only the ledger knows how many others wait");
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.newcomers, 2);
    acquire(&r, 7, 1, ALWAYS); /* after the claim: that claim's award does not cover it */
    award.refused = 1;
    award.waiting = 2;
    award.in_line = 1U << 7 | 1U;
    answer(&r, 10 * MS, &award);
    cr_assert_str_eq(pass(&r, 10 * MS), "c-7d-7", "d: two that were counted wait here");
    acquire(&r, 0, 1, ALWAYS);
    cr_assert_str_eq(pass(&r, 20 * MS), "e-7", "at once, without a claim");
    cr_assert_eq(r.claims, 0);
}

/* Not those that have a slot in hand, nor those that this very award gives one. */
Test(scheduler_trouble, those_dropped_are_the_oldest_of_the_least_urgent)
{
    static const int priorities[] = {7, 5, 7, 5, 7};

    r.limit.numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    for (size_t i = 0; i < COUNT(priorities); i++)
        acquire(&r, priorities[i], 1, ALWAYS);
    pass(&r, 0);
    takt_award award = award_of(0, SECOND, SECOND, 3, 1);
    award.refused = 1;
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "c-7");
    award = award_of(0, SECOND, SECOND, 0, 1);
    award.refused = 9; /* more than there are without a slot */
    acquire(&r, 9, 1, ALWAYS);
    takt_claims_nudge(&r.s, r.queue);
    pass(&r, 0);
    cr_assert_eq(r.claim.waiting, 2);
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "f-7e-7");
    cr_assert_eq(r.queue->waiters.total, 3);
}

Test(scheduler_trouble, a_stale_award_changes_nothing_and_is_asked_again)
{
    acquire_many(&r, 2);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 2, 1);
    award.stale = true;
    award.refused = 1;
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "");
    cr_assert_eq(r.queue->in_hand.count, 0);
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.seq, 2);
}

Test(scheduler_trouble, failed_claims_are_repeated_with_growing_jitter)
{
    int64_t longest[12] = {0}, at_us = 0;

    for (uint64_t seed = 1; seed <= 50; seed++) {
        close_rig(&r);
        open_rig(&r);
        r.s.random = seed;
        acquire_many(&r, 1);
        at_us = 0;
        for (int i = 0; i < 12; i++) {
            pass(&r, at_us);
            cr_assert_eq(r.claims, 1, "failure %d", i);
            takt_scheduler_failed(&r.s, r.queue, TAKT_E_STORE, NOW + at_us);
            pass(&r, at_us);
            cr_assert_eq(r.claims, 0, "never at once");
            int64_t pause_us = wake_us(&r) - at_us, bound_us = 50 * MS << (i < 6 ? i : 6);
            cr_assert(pause_us > 0 && pause_us <= bound_us && pause_us <= 2 * SECOND,
                      "failure %d: %" PRId64, i, pause_us);
            longest[i] = pause_us > longest[i] ? pause_us : longest[i];
            at_us = wake_us(&r);
        }
    }
    cr_assert_gt(longest[0], 40 * MS, "at random, over the whole range");
    cr_assert_gt(longest[4], 500 * MS);
    cr_assert_gt(longest[11], 1700 * MS);
    pass(&r, at_us);
    takt_award award = award_of(at_us, at_us, 0, 1, 1);
    answer(&r, at_us, &award);
    cr_assert_str_eq(pass(&r, at_us), "a");
    cr_assert_eq(r.queue->loss.failures, 0, "an answer ends it");
}

Test(scheduler_trouble, deadlines_come_while_the_store_is_gone)
{
    acquire(&r, 5, 1, 100 * MS);
    pass(&r, 0);
    takt_scheduler_failed(&r.s, r.queue, TAKT_E_STORE, NOW);
    for (int64_t at_us = 0; at_us < 100 * MS; at_us = wake_us(&r)) {
        cr_assert_str_eq(pass(&r, at_us), "");
        if (r.claims)
            takt_scheduler_failed(&r.s, r.queue, TAKT_E_STORE, NOW + at_us);
        pass(&r, at_us);
    }
    cr_assert_str_eq(pass(&r, 100 * MS), "a-6");
    cr_assert_eq(r.permits[0].retry_after_us, 0, "nobody knows");
}

Test(scheduler_trouble, queues_are_told_apart_and_found_again)
{
    takt_limit other = limit_named(10, SECOND, 1);
    takt_queue *a, *b, *c;

    strcpy(other.name, "testkey"); /* with an empty key not the same as `test` with "key" */
    a = takt_registry_queue(&r.s, &r.limit, "a");
    b = takt_registry_queue(&r.s, &r.limit, "");
    c = takt_registry_queue(&r.s, &other, "");
    cr_assert(a != b && b != c && a != r.queue && c != r.queue);
    cr_assert_eq(takt_registry_queue(&r.s, &r.limit, "key"), r.queue);
    cr_assert_eq(takt_registry_queue(&r.s, &r.limit, "a"), a);
    cr_assert_eq(takt_registry_queue(&r.s, &other, ""), c);
    cr_assert_str_eq(a->key, "a");
    cr_assert_eq(a->owner, &r);
}

Test(scheduler_trouble, idle_queues_are_forgotten_but_not_those_in_use)
{
    enum { KEYS = 5000 };
    takt_queue *busy = r.queue;

    acquire_many(&r, 1);
    pass(&r, 0);
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof key, "key-%d", i);
        r.queue = takt_registry_queue(&r.s, &r.limit, key);
        r.permit_count = 1;
        acquire_many(&r, 1);
        pass(&r, i);
        takt_award award = award_of(i, i, 0, 1, 1);
        answer(&r, i, &award);
        cr_assert_str_eq(pass(&r, i + 1), "b", "key %d", i);
    }
    cr_assert_lt(r.s.queues.count, 1100);
    cr_assert_eq(takt_registry_queue(&r.s, &r.limit, "key"), busy);
    r.queue = busy;
    takt_award award = award_of(KEYS, KEYS, 0, 1, 1);
    answer(&r, KEYS, &award);
    cr_assert_str_eq(pass(&r, KEYS + 1), "a");
}

Test(scheduler_trouble, waiting_allocates_nothing)
{
    acquire_many(&r, 10); /* the hand has grown */
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 10, 1);
    answer(&r, 0, &award);
    pass(&r, 0);
    r.permit_count = 0;
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 200; i++)
        acquire(&r, i % 10, 1 + i % 3, i % 2 ? ALWAYS : SECOND + i);
    takt_scheduler_run(&r.s, NOW + MS);
    cr_assert_eq(mallinfo2().uordblks, before);
    takt_scheduler_leave_all(&r.s, 0);
}

Test(scheduler_trouble, newer_numbers_are_learned_from_an_award)
{
    acquire_many(&r, 2);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 1, 1);
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + 10 * MS;
    award.outdated = true;
    award.newer[0] = limit_of(20, SECOND, 1);
    award.newer[0].lookahead_us = 77 * MS;
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "a");
    cr_assert_eq(r.queue->numbers->lookahead_us, 77 * MS);
    cr_assert_eq(r.limit.numbers.lookahead_us, 250 * MS, "the policy's own is left alone");
    cr_assert_eq(takt_registry_queue(&r.s, &r.limit, "key"), r.queue);
}

/* Another worker's policy is newer and has a smaller burst: an impossible cost fails. */
Test(scheduler_trouble, costs_that_newer_numbers_make_impossible_are_refused)
{
    r.limit = limit_named(10, SECOND, 9);
    acquire(&r, 5, 9, ALWAYS);
    acquire(&r, 5, 3, ALWAYS);
    acquire(&r, 2, 4, ALWAYS);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 0, 1);
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + 10 * MS;
    award.outdated = true;
    award.newer[0] = limit_of(10, SECOND, 3);
    award.newer[0].revision = 1;
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "c-4a-4");
    acquire(&r, 5, 3, ALWAYS);
    acquire(&r, 5, 4, ALWAYS); /* its own policy allows it, the one that holds does not */
    cr_assert_str_eq(pass(&r, MS), "e-4");
    cr_assert_eq(r.queue->waiters.total, 2);
}

/* The ledger has taken a waiter out of the line by the bound of other workers' numbers.  To claim
 * for it again would be in vain, and so on and on. */
Test(scheduler_trouble, waiters_leave_by_a_bound_that_only_other_numbers_have)
{
    acquire_many(&r, 3);
    pass(&r, 0);
    for (int i = 0; i < 2; i++) {
        takt_award award = award_of(i * SECOND, 0, 0, 0, 1);
        award.in_line = 1U << 5;
        award.claim_again_at_us = NOW + i * SECOND + 100 * MS;
        award.outdated = true;
        award.newer[0] = limit_of(20, SECOND, 1);
        award.newer[0].max_waiting = 2 - i;
        award.newer[0].when_full = i == 0 ? TAKT_WHEN_FULL_DROP_LOWEST : TAKT_WHEN_FULL_DROP_OLDEST;
        award.refused = 1;
        answer(&r, i * SECOND, &award);
        pass(&r, i * SECOND);
        cr_expect_eq(r.permits[i == 0 ? 2 : 0].status, TAKT_E_FULL, "way %d", i);
        cr_expect_eq(r.claims, 0);
        cr_expect_eq(r.queue->waiters.total, 2 - i);
        pass(&r, (i + 1) * SECOND);
        cr_expect_eq(r.claims, 1);
    }
}

/* Of one revision the numbers of other workers hold while those state them: each acquire asks. */
Test(scheduler_trouble, costs_that_other_numbers_make_impossible_are_claimed_again)
{
    r.limit = limit_named(10, SECOND, 9);
    acquire(&r, 5, 9, ALWAYS);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 0, 1);
    award.outdated = true;
    award.newer[0] = limit_of(10, SECOND, 3);
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "a-4");
    acquire(&r, 5, 9, ALWAYS);
    cr_assert_str_eq(pass(&r, MS), "");
    cr_assert_eq(r.claims, 1);
    answer(&r, 2 * MS, &award);
    cr_assert_str_eq(pass(&r, 2 * MS), "b-4");
    acquire(&r, 5, 9, ALWAYS);
    pass(&r, 3 * MS);
    award = award_of(4 * MS, 4 * MS, 0, 1, 9);
    answer(&r, 4 * MS, &award);
    cr_assert_str_eq(pass(&r, 4 * MS), "c");
}

/* Slots of the old clock are far ahead by the new one: no waiter should wait for them. */
static void set_back(int64_t by_us)
{
    takt_award award = award_of(0, 100 * MS, 50 * MS, 3, 1);
    size_t fired = 0;

    acquire_many(&r, 6);
    pass(&r, 0);
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + 50 * MS;
    answer(&r, MS, &award);
    pass(&r, 53 * MS);
    cr_assert_eq(r.claims, 1);
    award = award_of(50 * MS - by_us, 100 * MS - by_us, 50 * MS, 3, 1);
    answer(&r, 54 * MS, &award);
    for (int64_t at_us = 55 * MS; at_us < SECOND; at_us += 10 * MS) {
        fired += strlen(pass(&r, at_us));
        if (r.claims == 0)
            continue;
        award = award_of(at_us - by_us, at_us - by_us + 50 * MS, 50 * MS, r.claim.waiting, 1);
        answer(&r, at_us + MS, &award);
    }
    cr_assert_eq(fired, 6);
}

Test(scheduler_trouble, a_store_s_clock_that_is_set_back_strands_nobody)
{
    set_back(HOUR);
}

/* A ledger whose clock goes back by 10 s may give them again. */
Test(scheduler_trouble, slots_that_may_be_given_anew_are_used_no_more)
{
    set_back(6 * SECOND);
}

/* The ledger may still have a place of the forgotten one, where its last award was lost. */
Test(scheduler_trouble, a_queue_that_is_made_anew_goes_on_with_its_claims_numbers)
{
    takt_award award = award_of(0, 0, 0, 0, 1);
    int64_t before;
    char key[16];

    acquire(&r, 5, 1, ALWAYS);
    pass(&r, 0);
    before = r.claim.seq;
    takt_waiter_leave(&r.s, &r.permits[0], 0);
    takt_scheduler_failed(&r.s, r.queue, TAKT_E_STORE, NOW + MS);
    pass(&r, MS);
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof key, "%d", i);
        r.queue = takt_registry_queue(&r.s, &r.limit, key);
        takt_scheduler_blocked(&r.s, r.queue, 0);
    }
    pass(&r, 2 * MS);
    pass(&r, 3 * MS);
    r.queue = takt_registry_queue(&r.s, &r.limit, "key");
    cr_assert_eq(r.queue->claims.sent_at_us, 0, "it has been forgotten");
    acquire(&r, 5, 1, ALWAYS);
    pass(&r, 4 * MS);
    cr_assert_eq(r.claims, 1);
    cr_assert_gt(r.claim.seq, before);
    answer(&r, 5 * MS, &award);
}

/* A store is reachable again, while claims wait for their next attempt. */
Test(scheduler_trouble, a_store_that_may_be_back_is_claimed_from_at_once)
{
    acquire(&r, 5, 1, ALWAYS);
    pass(&r, 0);
    takt_scheduler_failed(&r.s, r.queue, TAKT_E_STORE, NOW);
    pass(&r, 0);
    cr_assert_eq(r.claims, 0);
    cr_assert_gt(wake_us(&r), 0);
    takt_loss_retry(&r.s, &r.s.servers.first);
    pass(&r, 0);
    cr_assert_eq(r.claims, 1);
    takt_loss_retry(&r.s, &r.s.servers.first);
    pass(&r, 0);
    cr_assert_eq(r.claims, 0, "one claim is under way at a time");
}

/* One in a tenth of a second: the award says when the turn of the first one can come. */
Test(scheduler_trouble, who_comes_after_too_many_others_is_refused_when_that_is_known)
{
    takt_award award = award_of(0, 0, 0, 1, 1);

    r.limit.numbers.max_waiting = 0;
    for (int i = 0; i < 6; i++)
        acquire(&r, 5, 1, 250 * MS);
    acquire(&r, 9, 1, ALWAYS);
    takt_waiter_leave(&r.s, &r.permits[6], 0);
    cr_assert_str_eq(pass(&r, 0), "");
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + 100 * MS;
    award.next_slot_at_us = NOW + 100 * MS;
    answer(&r, MS, &award);
    cr_assert_str_eq(pass(&r, MS), "f-6e-6d-6a", "b and c can start after 100 and 200 ms");
    acquire(&r, 9, 1, ALWAYS);
    acquire(&r, 5, 1, 150 * MS);
    takt_claims_nudge(&r.s, r.queue);
    cr_assert_str_eq(pass(&r, 2 * MS), "");
    award = award_of(2 * MS, 0, 0, 0, 1);
    award.in_line = 1U << 5 | 1U << 9;
    award.claim_again_at_us = award.next_slot_at_us = NOW + 100 * MS;
    answer(&r, 3 * MS, &award);
    cr_assert_str_eq(pass(&r, 3 * MS), "", "who has no deadline waits behind it");
}

/* Urgent work that came after the claim goes before the claimed waiters. */
Test(scheduler_trouble, what_is_told_of_others_ahead_does_not_concern_the_more_urgent)
{
    takt_award award = award_of(0, 0, 0, 0, 1);

    acquire(&r, 5, 1, 300 * MS);
    pass(&r, 0);
    acquire(&r, 0, 1, 300 * MS);
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + 2 * SECOND;
    award.next_slot_at_us = NOW + 10 * SECOND;
    answer(&r, MS, &award);
    cr_assert_str_eq(pass(&r, MS), "a-6");
    cr_assert_eq(r.claims, 1);
}

/* The announced slot is for the place that stays in line, not for a more urgent one that is full.
 */
Test(scheduler_trouble, what_is_told_of_a_place_does_not_concern_the_more_urgent)
{
    takt_award award = award_of(0, 0, 0, 0, 1);

    r.limit.numbers.max_waiting = 2;
    acquire(&r, 5, 1, ALWAYS);
    pass(&r, 0);
    award.in_line = 1U << 5;
    award.claim_again_at_us = award.next_slot_at_us = NOW + 10 * SECOND;
    answer(&r, MS, &award);
    acquire(&r, 1, 1, ALWAYS);
    takt_claims_nudge(&r.s, r.queue);
    pass(&r, 2 * MS);
    acquire(&r, 2, 1, 300 * MS);
    award = award_of(2 * MS, 0, 0, 0, 1);
    award.in_line = 1U << 5;
    award.refused = 1;
    award.claim_again_at_us = award.next_slot_at_us = NOW + 10 * SECOND;
    answer(&r, 3 * MS, &award);
    cr_assert_str_eq(pass(&r, 3 * MS), "b-7");
    cr_assert_eq(r.claims, 1);
}

/* The announced slot is for the claimed cost: a later waiter with a lower cost may have an earlier
 * one. */
Test(scheduler_trouble, who_wants_too_much_for_its_deadline_is_refused_at_once)
{
    takt_award award = award_of(0, 0, 0, 0, 1);

    r.limit = limit_named(10, SECOND, 5);
    acquire(&r, 5, 3, 300 * MS);
    cr_assert_str_eq(pass(&r, 0), "");
    acquire(&r, 5, 1, 310 * MS);
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + 250 * MS;
    award.next_slot_at_us = NOW + 500 * MS;
    answer(&r, MS, &award);
    cr_assert_str_eq(pass(&r, MS), "a-6");
    cr_assert_eq(r.queue->waiters.total, 1);
}
