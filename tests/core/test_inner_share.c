/*
 * How many accounts on many workers share a limit: long, and through the lines of core/inner.c that
 * tests/core/test_inner.c reaches too.
 */
#include "core/subs.h"

TestSuite(inner_share);

/* 100 accounts, each on a third of 8 workers or on one more. */
Test(inner_share, accounts_share_the_outer_limit_evenly)
{
    int low = INT32_MAX, high = 0;

    set_up(limit_of(100, SECOND, 1), limit_of(5, SECOND, 1));
    for (int i = 0; i < 100; i++)
        for (int worker = 0; worker < 8; worker++)
            if ((i + worker) % 3 == 0 || worker == i % 8)
                add((uint64_t)worker + 1, i, 1000000, (i * 37 + worker * 11) % 50 * MS);
    run_until(22 * SECOND);
    check_all();
    for (int i = 0; i < 100; i++) {
        int count = count_between(i, SECOND, 21 * SECOND);
        low = count < low ? count : low;
        high = count > high ? count : high;
    }
    cr_assert_geq(b.slot_count, 100 * 22, "the whole rate is used");
    cr_assert_leq(high - low, 3, "%d to %d slots in 20 s", low, high);
}
