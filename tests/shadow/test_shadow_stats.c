/*
 * The statistics of a limit in shadow: which acquires would have waited, and percentiles that are
 * at most 2 % off for any waits.
 */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "core/limits.h"
#include "shadow/shadow_stats.h"

Test(shadow_stats, what_is_no_wait)
{
    takt_shadow_stats shadow_stats = {.limit = "a"};

    cr_assert_eq(takt_shadow_stats_percentile(&shadow_stats, 50), 0, "nobody has waited");
    takt_shadow_stats_grant(&shadow_stats, 0, 0);
    takt_shadow_stats_grant(&shadow_stats, MS, 0);
    takt_shadow_stats_grant(&shadow_stats, 5 * MS, 5 * MS); /* two ways to a store that is far */
    cr_assert_eq(shadow_stats.counts.at_once, 3);
    cr_assert_eq(takt_shadow_stats_percentile(&shadow_stats, 99), 0);
    takt_shadow_stats_grant(&shadow_stats, MS + 1, 0);
    takt_shadow_stats_grant(&shadow_stats, 5 * MS + 1, 5 * MS);
    cr_assert_eq(shadow_stats.counts.at_once, 3);
    cr_assert_eq(shadow_stats.counts.waited, 2);
    cr_assert_eq(shadow_stats.counts.max_us, 5 * MS + 1);
}

Test(shadow_stats, one_wait_of_any_length)
{
    for (int64_t wait_us = 1001; wait_us < 30 * DAY; wait_us += wait_us / 7) {
        takt_shadow_stats shadow_stats = {.limit = "a"};
        int64_t is_us, off_us;
        takt_shadow_stats_grant(&shadow_stats, wait_us, 0);
        takt_shadow_stats_grant(&shadow_stats, 100 * DAY, 0); /* so that most_us does not help */
        is_us = takt_shadow_stats_percentile(&shadow_stats, 50);
        off_us = is_us > wait_us ? is_us - wait_us : wait_us - is_us;
        if (wait_us < 25 * DAY)
            cr_assert_leq(off_us * 50, wait_us, "%" PRId64 " for %" PRId64, is_us, wait_us);
        else
            cr_assert_gt(is_us, 24 * DAY, "it counts as the longest");
    }
}

Test(shadow_stats, percentiles)
{
    takt_shadow_stats shadow_stats = {.limit = "a"};

    for (int i = 1; i <= 98; i++)
        takt_shadow_stats_grant(&shadow_stats, 10 * MS, 0);
    takt_shadow_stats_grant(&shadow_stats, SECOND, 0);
    takt_shadow_stats_grant(&shadow_stats, MINUTE, 0);
    cr_assert_eq(takt_shadow_stats_percentile(&shadow_stats, 98) / MS, 10);
    cr_assert_eq((takt_shadow_stats_percentile(&shadow_stats, 99) + 20 * MS) / (100 * MS), 10);
    cr_assert_leq(takt_shadow_stats_percentile(&shadow_stats, 100), MINUTE);
}

Test(shadow_stats, refusals)
{
    takt_shadow_stats shadow_stats = {.limit = "a"};

    takt_shadow_stats_refuse(&shadow_stats, TAKT_E_DEADLINE);
    takt_shadow_stats_refuse(&shadow_stats, TAKT_E_FULL);
    takt_shadow_stats_refuse(&shadow_stats, TAKT_E_FULL);
    takt_shadow_stats_refuse(&shadow_stats, TAKT_E_STORE);
    cr_assert_eq(shadow_stats.counts.refused, 4);
    cr_assert_eq(shadow_stats.counts.refused_late, 1);
    cr_assert_eq(shadow_stats.counts.refused_full, 2);
}
