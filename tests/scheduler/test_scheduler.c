/*
 * From acquire to callback: which waiter gets which slot. test_claims.c tests when a queue claims,
 * test_scheduler_trouble.c tests failures.
 */
#include "base/random.h"
#include "scheduler/rigs.h"
#include "seed.h"

static rig r;

static void set_up(void)
{
    open_rig(&r);
}

static void tear_down(void)
{
    close_rig(&r);
}

TestSuite(scheduler, .init = set_up, .fini = tear_down);

Test(scheduler, an_acquire_claims_waits_and_is_called_back_when_due)
{
    acquire(&r, 5, 1, ALWAYS);
    cr_assert_str_eq(pass(&r, 0), "");
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.worker, 7);
    cr_assert_eq(r.claim.seq, 1);
    cr_assert_eq(r.claim.waiting, 1);
    cr_assert_eq(r.claim.want_count, 1);
    cr_assert_eq(wake_us(&r), -1, "nothing but the answer is waited for");
    takt_award award = award_of(0, 100 * MS, 0, 1, 1);
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "");
    int64_t due_us = wake_us(&r);
    cr_assert(due_us >= 100 * MS && due_us < 101 * MS, "%" PRId64, due_us);
    takt_waiter_leave(&r.s, acquire(&r, 5, 1, ALWAYS), 0); /* a pass is made for any reason */
    cr_assert_str_eq(pass(&r, due_us - 1), "");
    cr_assert_str_eq(pass(&r, due_us), "a");
    cr_assert_eq(r.permits[0].slot_at_us, NOW + 100 * MS);
    cr_assert_eq(r.permits[0].state, TAKT_PERMIT_GRANTED);
    cr_assert_eq(r.claims, 0);
    cr_assert_eq(wake_us(&r), -1);
}

Test(scheduler, slots_go_by_priority_then_by_arrival)
{
    static const int priorities[] = {5, 9, 5, 0, 9, 0, 3};

    for (size_t i = 0; i < COUNT(priorities); i++)
        acquire(&r, priorities[i], 1, ALWAYS);
    pass(&r, 0);
    takt_award award = award_of(0, 0, 0, 4, 1);
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "dfga");
    award = award_of(10, 10, 0, 3, 1);
    answer(&r, 10, &award);
    cr_assert_str_eq(pass(&r, 20), "cbe");
}

Test(scheduler, an_urgent_waiter_takes_the_next_slot_in_hand)
{
    acquire_many(&r, 3);
    pass(&r, 0);
    takt_award award = award_of(0, 100 * MS, 100 * MS, 3, 1);
    answer(&r, 0, &award);
    pass(&r, 50 * MS);
    acquire(&r, 0, 1, ALWAYS);
    cr_assert_str_eq(pass(&r, 60 * MS), "");
    cr_assert_eq(r.claims, 0, "the in_hand serves it");
    cr_assert_str_eq(pass(&r, 110 * MS), "d");
    cr_assert_str_eq(pass(&r, 210 * MS), "a");
    cr_assert_eq(r.claim.seq, 2, "for the one who is left with nothing in in_hand");
    cr_assert_eq(r.claim.waiting, 1);
    cr_assert_str_eq(pass(&r, 310 * MS), "b");
}

Test(scheduler, mixed_costs_each_get_their_own_slot)
{
    static const int32_t costs[] = {1, 7, 1, 7, 1};

    for (size_t i = 0; i < COUNT(costs); i++)
        acquire(&r, 5, costs[i], ALWAYS);
    pass(&r, 0);
    cr_assert_eq(r.claim.want_count, 5);
    takt_award award = award_of(0, 0, 10 * MS, 3, 1);
    award.run_count = 2;
    award.runs[1] = (takt_run){{NOW + 5 * MS, 0}, {10 * MS, 0}, 1, 2, 7, {{0}}, 0};
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 30 * MS), "abcde");
    cr_assert_eq(r.permits[3].slot_at_us, NOW + 15 * MS);
}

/* With any delay of the answer and any drift of the clocks, no callback comes before its slot by
 * the store's clock. */
Test(scheduler, never_calls_back_early)
{
    uint64_t seed = test_seed(1);

    for (uint64_t round = 0, rounds = test_rounds(300); round < rounds; round++) {
        uint64_t random = seed + round;
        int64_t ppm = takt_random_below(&random, 401) - 200, store_us = 0;
        close_rig(&r);
        open_rig(&r);
        for (int i = 0; i < 20; i++) {
#define LOCAL(store) ((store) + (store)*ppm / 1000000 - 77 * SECOND)
            acquire_many(&r, 1);
            pass(&r, LOCAL(store_us));
            store_us += takt_random_below(&random, 80 * MS);
            int64_t slot_us = store_us + takt_random_below(&random, 250 * MS);
            takt_award award = award_of(store_us, slot_us, 0, 1, 1);
            store_us += takt_random_below(&random, 2) ? 0 : takt_random_below(&random, 80 * MS);
            answer(&r, LOCAL(store_us), &award);
            while (pass(&r, LOCAL(store_us))[0] == '\0') {
                int64_t wake_at_us = wake_us(&r);
                cr_assert_geq(wake_at_us, LOCAL(store_us), "it must not spin");
                while (LOCAL(store_us) < wake_at_us) /* to the very microsecond */
                    store_us += 1 + (wake_at_us - LOCAL(store_us)) / 2;
            }
            cr_assert_geq(store_us, slot_us, "seed %" PRIu64 ": %" PRId64 " early", seed + round,
                          slot_us - store_us);
            cr_assert_leq(store_us, slot_us + 161 * MS, "seed %" PRIu64 ": %" PRId64 " late",
                          seed + round, store_us - slot_us);
            store_us += takt_random_below(&random, 300 * MS);
#undef LOCAL
        }
    }
}
