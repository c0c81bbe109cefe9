/*
 * When a queue claims from its ledger, and the content of the claim.
 */
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

TestSuite(claims, .init = set_up, .fini = tear_down);

/* Other workers wait with a lower priority: their next slots may go to this one. */
Test(claims, an_urgent_waiter_claims_at_once_where_others_are_less_urgent)
{
    static const struct {
        int priority, least_urgent;
        int claims;
    } rows[] = {{5, -1, 0}, {5, 5, 0}, {5, 4, 0}, {5, 6, 1}, {0, 1, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        close_rig(&r);
        open_rig(&r);
        acquire(&r, 5, 1, ALWAYS);
        pass(&r, 0);
        takt_award award = award_of(0, 200 * MS, 0, 1, 1);
        award.least_urgent = rows[i].least_urgent;
        answer(&r, 0, &award);
        pass(&r, 0);
        acquire(&r, rows[i].priority, 1, ALWAYS);
        acquire(&r, rows[i].priority, 1, ALWAYS);
        pass(&r, MS);
        cr_assert_eq(r.claims, rows[i].claims, "row %zu", i);
    }
}

/* A line that may be full: a refused waiter gets its answer soon. */
Test(claims, newcomers_claim_at_once_where_the_line_may_be_full)
{
    static const struct {
        int64_t max_waiting, waiting;
        int64_t claim_us;
    } rows[] = {{0, 0, 1000 * MS}, {10, 2, 1000 * MS}, {10, 5, 4 * MS}, {2, 1, 4 * MS}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        close_rig(&r);
        open_rig(&r);
        r.limit.numbers.max_waiting = rows[i].max_waiting;
        acquire_many(&r, 1);
        pass(&r, 0);
        takt_award award = award_of(0, SECOND, 0, 0, 1);
        award.claim_again_at_us = NOW + SECOND;
        award.in_line = 1U << 5;
        award.waiting = rows[i].waiting;
        answer(&r, 0, &award);
        pass(&r, 0);
        acquire_many(&r, 1);
        pass(&r, 0);
        cr_assert_eq(r.claims, 0, "no sooner than somebody would who is first in line");
        int64_t at_us = wake_us(&r);
        cr_assert(at_us >= rows[i].claim_us - MS && at_us <= rows[i].claim_us + MS,
                  "row %zu: %" PRId64, i, at_us);
        pass(&r, at_us);
        cr_assert_eq(r.claims, 1);
        cr_assert_eq(r.claim.waiting, 2);
    }
}

Test(claims, one_claim_is_in_flight_and_what_happens_meanwhile_goes_into_the_next)
{
    acquire_many(&r, 2);
    pass(&r, 0);
    cr_assert_eq(r.claims, 1);
    for (int i = 0; i < 10; i++) {
        acquire_many(&r, 1);
        pass(&r, i * MS);
        cr_assert_eq(r.claims, 0);
    }
    takt_award award = award_of(10 * MS, 10 * MS, 0, 2, 1);
    answer(&r, 10 * MS, &award);
    cr_assert_str_eq(pass(&r, 11 * MS), "ab");
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.waiting, 10);
    cr_assert_eq(r.claim.seq, 2);
}

Test(claims, claims_again_when_it_was_told_to)
{
    static const struct {
        int64_t again_us, claim_us;
    } rows[] = {
        {100 * MS, 100 * MS}, {1900 * MS, 1900 * MS}, {5 * SECOND, 2 * SECOND}, {HOUR, 2 * SECOND}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        close_rig(&r);
        open_rig(&r);
        acquire_many(&r, 3);
        pass(&r, 0);
        takt_award award = award_of(0, 0, 0, 0, 1);
        award.claim_again_at_us = NOW + rows[i].again_us;
        award.in_line = 1U << 5;
        answer(&r, 0, &award);
        pass(&r, 0);
        cr_assert_eq(r.claims, 0);
        int64_t at_us = wake_us(&r);
        cr_assert(at_us >= rows[i].claim_us && at_us <= rows[i].claim_us + MS, "row %zu: %" PRId64,
                  i, at_us);
        acquire_many(&r, 3); /* new waiters change nothing */
        pass(&r, at_us - 1);
        cr_assert_eq(r.claims, 0, "row %zu", i);
        pass(&r, at_us);
        cr_assert_eq(r.claims, 1, "row %zu", i);
        cr_assert_eq(r.claim.waiting, 6);
    }
}

/* The ledger plans for the waiters that it knows.  A few more come back for half of the slots. */
Test(claims, few_that_are_left_wait_for_others_unless_other_workers_wait)
{
    static const struct {
        int waiters, cost, least_urgent;
        int64_t again_us, claim_us;
    } rows[] = {
        {8, 1, -1, 10 * MS, 125 * MS},
        {8, 1, -1, 140 * MS, 140 * MS}, /* the ledger's time is later */
        {10, 1, -1, 10 * MS, 10 * MS},  /* as many as have slots */
        {8, 1, 5, 10 * MS, 10 * MS},    /* others are in line, too */
        {8, 2, -1, 10 * MS, 10 * MS},   /* all may wait for what the first one needs */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        close_rig(&r);
        open_rig(&r);
        for (int j = 0; j < rows[i].waiters; j++)
            acquire(&r, 5, rows[i].cost, ALWAYS);
        pass(&r, 0);
        takt_award award = award_of(0, 250 * MS, 0, 5, rows[i].cost);
        award.claim_again_at_us = NOW + rows[i].again_us;
        award.in_line = 1U << 5;
        award.least_urgent = rows[i].least_urgent;
        answer(&r, 0, &award);
        pass(&r, 0);
        cr_assert_eq(r.claims, 0, "row %zu", i);
        int64_t at_us = wake_us(&r);
        cr_assert(at_us >= rows[i].claim_us && at_us <= rows[i].claim_us + MS, "row %zu: %" PRId64,
                  i, at_us);
        acquire_many(&r, 3);
        pass(&r, at_us - 1);
        cr_assert_eq(r.claims, 0, "row %zu", i);
        pass(&r, at_us);
        cr_assert_eq(r.claims, 1, "row %zu", i);
        cr_assert_eq(r.claim.waiting, rows[i].waiters - 2, "row %zu", i);
    }
}

Test(claims, claims_again_when_half_of_what_it_has_is_left)
{
    static const struct {
        int64_t last_us, round_trip_us, claim_us;
    } rows[] = {
        {250 * MS, 0, 125 * MS},      /* half a lookahead */
        {100 * MS, 0, 50 * MS},       /* half of the permits */
        {250 * MS, 90 * MS, 70 * MS}, /* early enough for the answer: two round trips */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        close_rig(&r);
        open_rig(&r);
        acquire_many(&r, 5);
        pass(&r, -rows[i].round_trip_us);
        takt_award award = award_of(0, rows[i].last_us, 0, 5, 1);
        answer(&r, 0, &award);
        pass(&r, 0);
        cr_assert_eq(r.claims, 0);
        acquire_many(&r, 3);
        pass(&r, MS);
        cr_assert_eq(r.claims, 0, "row %zu: a new waiter alone is no reason", i);
        int64_t at_us = wake_us(&r);
        cr_assert(at_us >= rows[i].claim_us && at_us <= rows[i].claim_us + MS, "row %zu: %" PRId64,
                  i, at_us);
        pass(&r, at_us);
        cr_assert_eq(r.claims, 1, "row %zu", i);
        cr_assert_eq(r.claim.waiting, 3);
    }
}

Test(claims, a_more_urgent_waiter_than_stands_in_line_claims_at_once)
{
    acquire_many(&r, 1);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 0, 1);
    award.claim_again_at_us = NOW + SECOND;
    award.in_line = 1U << 5;
    answer(&r, 0, &award);
    pass(&r, 0);
    acquire(&r, 7, 1, ALWAYS);
    pass(&r, MS);
    cr_assert_eq(r.claims, 0);
    acquire(&r, 2, 1, ALWAYS);
    pass(&r, 2 * MS);
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.wants[0].priority, 2);
}

Test(claims, says_so_when_nobody_waits_any_more)
{
    acquire_many(&r, 2);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 0, 1);
    award.claim_again_at_us = NOW + SECOND;
    award.in_line = 1U << 5;
    answer(&r, 0, &award);
    pass(&r, 0);
    takt_waiter_leave(&r.s, &r.permits[0], 0);
    cr_assert_str_eq(pass(&r, MS), "");
    cr_assert_eq(r.claims, 0, "one still waits");
    takt_waiter_leave(&r.s, &r.permits[1], TAKT_E_CANCELED);
    cr_assert_str_eq(pass(&r, 2 * MS), "b-8");
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.waiting, 0);
    cr_assert_eq(r.claim.want_count, 0);
    award = award_of(3 * MS, 0, 0, 0, 1);
    answer(&r, 3 * MS, &award);
    pass(&r, 3 * MS);
    cr_assert_eq(r.claims, 0);
    cr_assert_eq(wake_us(&r), -1);
}

/* Someone with a small cost went away: the slot left over must not stand for the large one, claim
 * after claim. */
Test(claims, a_slot_left_over_does_not_keep_a_large_cost_from_being_claimed)
{
    acquire_many(&r, 4);
    acquire(&r, 5, 9, ALWAYS);
    acquire_many(&r, 20);
    pass(&r, 0);
    takt_award award = award_of(0, 100 * MS, 10 * MS, 4, 1);
    answer(&r, 0, &award);
    takt_waiter_leave(&r.s, &r.permits[0], 0);
    pass(&r, 0);
    pass(&r, wake_us(&r));
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.wants[0].cost, 9);
}

/* The claim's report of the last award: no other worker was in the way, and there should be a slot
 * again. */
Test(claims, a_claim_tells_whether_it_should_be_uncontended)
{
    static const struct {
        bool award;
        int64_t next_slot_us, claim_us;
        bool claim;
    } rows[] = {{true, 0, MS, true},
                {false, 0, MS, false},
                {true, 200 * MS, MS, true},
                {true, 300 * MS, MS, false},
                {true, 300 * MS, 100 * MS, true},
                {true, HOUR, MS, false}};
    takt_award award = award_of(0, 0, 0, 1, 1);

    for (size_t i = 0; i < COUNT(rows); i++) {
        close_rig(&r);
        open_rig(&r);
        acquire(&r, 5, 1, ALWAYS);
        pass(&r, 0);
        cr_assert(!r.claim.uncontended, "row %zu", i);
        award.uncontended = rows[i].award;
        award.next_slot_at_us = NOW + rows[i].next_slot_us;
        answer(&r, 0, &award);
        cr_assert_str_eq(pass(&r, 0), "a");
        acquire(&r, 5, 1, ALWAYS);
        pass(&r, rows[i].claim_us);
        cr_assert_eq(r.claims, 1, "row %zu", i);
        cr_assert_eq(r.claim.uncontended, rows[i].claim, "row %zu", i);
    }
}

/* A store learns whether the worker stands in line, and how many share the ledger: while its slot
 * is split, these calls are sent less often. */
Test(claims, a_claim_tells_who_shares_the_ledger)
{
    takt_award award = award_of(0, 100 * MS, 10 * MS, 0, 1);

    acquire(&r, 5, 1, ALWAYS);
    pass(&r, 0);
    cr_assert_eq(r.claims, 1);
    cr_expect(!r.claim.in_line);
    cr_expect_eq(r.claim.workers, 0);
    award.in_line = 1U << 5;
    award.workers = 3;
    answer(&r, 0, &award);
    pass(&r, 0);
    pass(&r, wake_us(&r));
    cr_assert_eq(r.claims, 1);
    cr_expect(r.claim.in_line);
    cr_expect_eq(r.claim.workers, 3);
}

/* The ledger plans for the first waiter: if that one goes, those behind it may have been held up.
 */
Test(claims, a_dear_head_that_goes_is_told_at_once)
{
    static const struct {
        int32_t head, other;
        int claims; /* when the head goes */
    } rows[] = {{7, 1, 1}, {7, 6, 1}, {7, 7, 0}, {1, 1, 0}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_permit *head;
        takt_award award;
        close_rig(&r);
        open_rig(&r);
        head = acquire(&r, 5, rows[i].head, ALWAYS);
        acquire(&r, 5, rows[i].other, ALWAYS);
        pass(&r, 0);
        award = award_of(0, 0, 0, 0, 1);
        award.in_line = 1U << 5;
        award.claim_again_at_us = NOW + SECOND;
        answer(&r, 0, &award);
        pass(&r, MS);
        cr_expect_eq(r.claims, 0);
        takt_waiter_leave(&r.s, head, 0);
        pass(&r, 2 * MS);
        cr_expect_eq(r.claims, rows[i].claims, "row %zu", i);
    }
}
