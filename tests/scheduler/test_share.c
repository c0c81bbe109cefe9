/*
 * A worker's part of a limit: the rates divided, no burst, and any cost.
 */
#include "core/limits.h"
#include "scheduler/share.h"

static uint64_t seed = 1;

/* The slots of so many waiters of one cost that arrive at NOW, after NOW. */
static void take(takt_share *share, int32_t cost, int count, int64_t slots_us[])
{
    for (int i = 0; i < count; i++) {
        int64_t slot_us = takt_share_next(share, NOW);
        takt_share_take(share, slot_us, cost, TAKT_NO_MORE);
        slots_us[i] = slot_us - NOW;
    }
}

Test(share, each_rate_is_divided_and_no_burst_is_left)
{
    static const struct {
        int64_t limit, period_us, burst, workers;
        int32_t cost;
        int64_t interval_us; /* from slot to slot */
    } rows[] = {
        {10, SECOND, 1, 1, 1, 100 * MS},  {10, SECOND, 1, 4, 1, 400 * MS},
        {10, SECOND, 10, 4, 1, 400 * MS}, {10, SECOND, 5, 4, 3, 1200 * MS},
        {1, HOUR, 1, 100, 1, 100 * HOUR}, {1, SECOND, 1, 0, 1, SECOND},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_numbers limit = limit_of(rows[i].limit, rows[i].period_us, rows[i].burst);
        takt_share share = {0};
        int64_t slots_us[5];
        takt_share_begin(&share, &limit, rows[i].workers, NOW, &seed);
        take(&share, rows[i].cost, 5, slots_us);
        cr_assert(slots_us[0] >= 0 && slots_us[0] <= rows[i].interval_us / rows[i].cost,
                  "row %zu begins at %" PRId64, i, slots_us[0]);
        for (int j = 1; j < 5; j++)
            cr_assert_eq(slots_us[j] - slots_us[j - 1], rows[i].interval_us, "row %zu", i);
    }
}

Test(share, thirds_are_exact)
{
    takt_numbers limit = limit_of(3, SECOND, 1);
    takt_share share = {0};
    int64_t first_us = 0, last_us = 0;

    takt_share_begin(&share, &limit, 2, NOW, &seed);
    for (int i = 0; i <= 3000; i++) {
        last_us = takt_share_next(&share, NOW);
        first_us = i == 0 ? last_us : first_us;
        takt_share_take(&share, last_us, 1, TAKT_NO_MORE);
    }
    cr_assert_eq(last_us - first_us, 2000 * SECOND);
}

Test(share, windows_and_logs_are_paced_too)
{
    static const char *const names[] = {"fixed-window", "sliding-window", "sliding-log",
                                        "token-bucket", "leaky-bucket"};

    for (size_t i = 0; i < COUNT(names); i++) {
        takt_numbers limit = {.rule_count = 1, .lookahead_us = 250 * MS};
        takt_share share = {0};
        int64_t slots_us[3];
        limit.rules[0] = (takt_rule){
            .algorithm = takt_algorithm_named(names[i]), .limit = 60, .period_us = 60 * SECOND};
        cr_assert_eq(takt_rule_prepare(&limit.rules[0], NULL), 0);
        takt_share_begin(&share, &limit, 5, NOW, &seed);
        take(&share, 1, 3, slots_us);
        cr_assert_eq(slots_us[1] - slots_us[0], 5 * SECOND, "%s", names[i]);
        cr_assert_eq(slots_us[2] - slots_us[1], 5 * SECOND, "%s", names[i]);
    }
}

Test(share, all_rules_hold)
{
    takt_numbers limit = limit_of(10, SECOND, 1);
    takt_share share = {0};
    int64_t slots_us[4];

    limit.rule_count = 2;
    limit.rules[1] =
        (takt_rule){.algorithm = &takt_gcra, .limit = 60, .period_us = 60 * SECOND, .burst = 60};
    cr_assert_eq(takt_rule_prepare(&limit.rules[1], NULL), 0);
    takt_share_begin(&share, &limit, 2, NOW, &seed);
    take(&share, 1, 4, slots_us);
    for (int i = 2; i < 4; i++)
        cr_assert_eq(slots_us[i] - slots_us[i - 1], 2 * SECOND);
}

/* Workers that lose the store together do not start together. */
Test(share, beginnings_are_spread)
{
    takt_numbers limit = limit_of(10, SECOND, 1);
    int quarters[4] = {0};

    for (int i = 0; i < 1000; i++) {
        takt_share share = {0};
        takt_share_begin(&share, &limit, 40, NOW, &seed);
        int64_t first_us = takt_share_next(&share, NOW) - NOW;
        cr_assert(first_us >= 0 && first_us <= 4 * SECOND);
        quarters[first_us * 4 / (4 * SECOND + 1)]++;
    }
    for (int i = 0; i < 4; i++)
        cr_assert(quarters[i] > 150 && quarters[i] < 350, "%d of 1000 in a quarter", quarters[i]);
}

/* A store that is lost again and again gives a worker no more than one that stays away. */
Test(share, beginning_again_gains_nothing)
{
    takt_numbers limit = limit_of(10, SECOND, 1);
    takt_share share = {0};
    int64_t last_us = 0;
    int started = 0;

    for (int64_t at_us = NOW; at_us < NOW + 100 * SECOND; at_us += 50 * MS) {
        takt_share_begin(&share, &limit, 10, at_us, &seed);
        while (takt_share_next(&share, at_us + 49 * MS) <= at_us + 49 * MS) {
            cr_assert_geq(at_us + 49 * MS - last_us, SECOND - 50 * MS);
            last_us = at_us + 49 * MS;
            takt_share_take(&share, takt_share_next(&share, at_us + 49 * MS), 1, TAKT_NO_MORE);
            started++;
        }
    }
    cr_assert_leq(started, 101);
    cr_assert_gt(started, 90, "%d", started);
}

Test(share, after_silence_one_starts_and_no_more)
{
    takt_numbers limit = limit_of(10, SECOND, 10);
    takt_share share = {0};

    takt_share_begin(&share, &limit, 1, NOW, &seed);
    cr_assert_eq(takt_share_next(&share, NOW + HOUR), NOW + HOUR);
    takt_share_take(&share, NOW + HOUR, 1, TAKT_NO_MORE);
    cr_assert_eq(takt_share_next(&share, NOW + HOUR), NOW + HOUR + 100 * MS);
}

/* The slowest rate and more workers than possible: slower than any limit, without an overflow. */
Test(share, rates_too_slow_to_tell)
{
    takt_numbers limit = limit_of(7, TAKT_SPAN_MAX_US, 1);
    static const int64_t workers[] = {2, 1000, INT64_C(1) << 40, INT64_MAX};

    for (size_t i = 0; i < COUNT(workers); i++) {
        takt_share share = {0};
        int64_t slot_us;
        takt_share_begin(&share, &limit, workers[i], NOW, &seed);
        slot_us = takt_share_next(&share, NOW);
        cr_assert(slot_us >= NOW && slot_us <= NOW + TAKT_SPAN_MAX_US, "row %zu", i);
        takt_share_take(&share, slot_us, 1, TAKT_NO_MORE);
        cr_assert_geq(takt_share_next(&share, NOW) - slot_us, 2 * (TAKT_SPAN_MAX_US / 7), "row %zu",
                      i);
    }
}
