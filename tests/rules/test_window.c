/*
 * Windows by the clocks of a place: local midnights on days of 23, 24 and 25 hours, parts of a day,
 * whole days, and the closed forms against stepping from one window to the next.
 */
#include <time.h>

#include "base/random.h"
#include "rules/promises.h"
#include "rules/window.h"
#include "seed.h"
#include "zone/zone_load.h"

static int64_t utc(int year, int month, int day, int hour, int minute)
{
    struct tm at = {.tm_year = year - 1900,
                    .tm_mon = month - 1,
                    .tm_mday = day,
                    .tm_hour = hour,
                    .tm_min = minute};

    return (int64_t)timegm(&at) * SECOND;
}

static takt_rule rule_in(const char *zone, int64_t period_us)
{
    takt_rule rule = {.algorithm = &takt_fixed_window, .limit = 3, .period_us = period_us};
    takt_error error;

    cr_assert_eq(takt_zone_load(zone, &rule.zone, &error), 0, "%s", error.text);
    cr_assert_eq(takt_rule_prepare(&rule, &error), 0, "%s", error.text);
    return rule;
}

/* The midnight of a day, and how long the day is. */
Test(window, local_days)
{
    const struct {
        const char *zone;
        int64_t midnight_us, hours_and_minutes;
    } rows[] = {
        {"America/Los_Angeles", utc(2026, 3, 7, 8, 0), 2400},
        {"America/Los_Angeles", utc(2026, 3, 8, 8, 0), 2300},
        {"America/Los_Angeles", utc(2026, 3, 9, 7, 0), 2400},
        {"America/Los_Angeles", utc(2026, 11, 1, 7, 0), 2500},
        {"America/Los_Angeles", utc(2026, 11, 2, 8, 0), 2400},
        {"Europe/Berlin", utc(2026, 3, 28, 23, 0), 2300},
        {"Europe/Berlin", utc(2026, 10, 24, 22, 0), 2500},
        {"Asia/Kathmandu", utc(2026, 6, 30, 18, 15), 2400},
        {"Australia/Lord_Howe", utc(2026, 4, 4, 13, 0), 2430},
        {"Australia/Lord_Howe", utc(2026, 10, 3, 13, 30), 2330},
        /* beyond the tables of the files */
        {"America/Los_Angeles", utc(2060, 3, 14, 8, 0), 2300},
        {"Europe/Berlin", utc(2099, 10, 24, 22, 0), 2500},
        /* where the clocks change at midnight: the day begins at one */
        {"America/Sao_Paulo", utc(2018, 11, 4, 3, 0), 2300},
        {"America/Sao_Paulo", utc(2019, 2, 16, 2, 0), 2500},
        {"Pacific/Apia", utc(2011, 12, 30, 10, 0), 2400}, /* the 30th was left out */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule rule = rule_in(rows[i].zone, DAY);
        int64_t hours = rows[i].hours_and_minutes / 100, minutes = rows[i].hours_and_minutes % 100;
        int64_t length_us = hours * HOUR + minutes * MINUTE, midnight_us = rows[i].midnight_us;
        cr_expect_eq(takt_window_start(&rule, midnight_us), midnight_us, "row %zu", i);
        cr_expect_lt(takt_window_start(&rule, midnight_us - 1), midnight_us, "row %zu", i);
        cr_expect_eq(takt_window_start(&rule, midnight_us + length_us - 1), midnight_us, "row %zu",
                     i);
        cr_expect_eq(takt_window_after(&rule, midnight_us, 1), midnight_us + length_us,
                     "row %zu: %" PRId64, i,
                     (takt_window_after(&rule, midnight_us, 1) - midnight_us) / MINUTE);
    }
}

/* 800 a day until local midnight, for days of every length. */
Test(window, a_quota_is_reset_at_midnight_pacific)
{
    kept k;

    keep(&k, rule_in("America/Los_Angeles", DAY), utc(2026, 3, 8, 9, 0));
    for (int i = 0; i < 3; i++)
        cr_expect_eq(take_from(&k, utc(2026, 3, 8, 9, 0), 1), utc(2026, 3, 8, 9, 0));
    for (int i = 0; i < 3; i++)
        cr_expect_eq(take_from(&k, utc(2026, 3, 8, 9, 0), 1), utc(2026, 3, 9, 7, 0), "23 hours");
    cr_expect_eq(take_from(&k, utc(2026, 3, 8, 9, 0), 1), utc(2026, 3, 10, 7, 0));
    cr_expect_eq(take_from(&k, utc(2026, 11, 1, 7, 0), 3), utc(2026, 11, 1, 7, 0));
    cr_expect_eq(take_from(&k, utc(2026, 11, 1, 7, 0), 1), utc(2026, 11, 2, 8, 0), "25 hours");
    through_text(&k);
    let_go(&k);
}

Test(window, parts_of_a_day_are_counted_from_midnight)
{
    takt_rule quarter = rule_in("America/Los_Angeles", 6 * HOUR);
    const int64_t starts[] = {
        utc(2026, 3, 8, 8, 0),  utc(2026, 3, 8, 14, 0), utc(2026, 3, 8, 20, 0),
        utc(2026, 3, 9, 2, 0),  utc(2026, 3, 9, 7, 0), /* an hour was left out: the last window is
                                                          cut off */
        utc(2026, 3, 9, 13, 0),
    };
    const int64_t longer[] = {
        utc(2026, 11, 1, 7, 0), utc(2026, 11, 1, 13, 0), utc(2026, 11, 1, 19, 0),
        utc(2026, 11, 2, 1, 0), utc(2026, 11, 2, 7, 0), /* the hour that is there twice is one more
                                                         */
        utc(2026, 11, 2, 8, 0), utc(2026, 11, 2, 14, 0),
    };

    for (size_t i = 0; i + 1 < COUNT(starts); i++)
        cr_expect_eq(takt_window_after(&quarter, starts[i], 1), starts[i + 1], "%zu", i);
    for (size_t i = 0; i + 1 < COUNT(longer); i++)
        cr_expect_eq(takt_window_after(&quarter, longer[i], 1), longer[i + 1], "%zu", i);
    cr_expect_eq(takt_window_after(&quarter, utc(2026, 3, 8, 19, 59), 0), starts[1]);
}

Test(window, whole_days_are_counted_from_1970)
{
    takt_rule week = rule_in("Asia/Kathmandu", 7 * DAY);

    /* Thursday 2026-11-19, local midnight is 18:15 UTC the day before */
    cr_expect_eq(takt_window_start(&week, utc(2026, 11, 21, 12, 0)), utc(2026, 11, 18, 18, 15));
    cr_expect_eq(takt_window_after(&week, utc(2026, 11, 21, 12, 0), 1), utc(2026, 11, 25, 18, 15));
}

/* Each closed form is what single steps give. */
Test(window, many_windows_are_single_steps)
{
    static const char *const zones[] = {"America/Los_Angeles", "Australia/Lord_Howe",
                                        "America/Sao_Paulo",   "Asia/Kathmandu",
                                        "Africa/Casablanca",   "UTC"};
    static const int64_t periods[] = {10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY};
    uint64_t random = test_seed(1);

    for (size_t z = 0; z < COUNT(zones); z++)
        for (size_t p = 0; p < COUNT(periods); p++) {
            takt_rule rule = rule_in(zones[z], periods[p]);
            int64_t first_us =
                takt_window_start(&rule, takt_random_below(&random, utc(2090, 1, 1, 0, 0)));
            int64_t at_us = first_us;
            for (int64_t n = 0; n < 1500; n++) {
                int64_t next_us = takt_window_after(&rule, at_us, 1);
                cr_assert_eq(takt_window_after(&rule, first_us, n), at_us, "%s %zu: %" PRId64,
                             zones[z], p, n);
                cr_assert_eq(takt_window_count(&rule, first_us, at_us), n, "%s %zu: %" PRId64,
                             zones[z], p, n);
                cr_assert_eq(takt_window_count(&rule, first_us, next_us - 1), n);
                cr_assert_eq(takt_window_start(&rule, next_us - 1), at_us);
                cr_assert(next_us > at_us && next_us - at_us <= periods[p] + HOUR);
                at_us = next_us;
            }
        }
}

Test(window, far_ahead_is_told_as_the_end)
{
    takt_rule rules[] = {rule_in("Europe/Berlin", DAY), rule_in("Europe/Berlin", HOUR),
                         rule_by(&takt_fixed_window, 1, 1)};

    for (size_t i = 0; i < COUNT(rules); i++) {
        cr_expect_eq(takt_window_after(&rules[i], NOW, TAKT_WINDOW_END), TAKT_WINDOW_END, "%zu", i);
        cr_expect_leq(takt_window_after(&rules[i], NOW, TAKT_ROOM_MAX), TAKT_WINDOW_END, "%zu", i);
        cr_expect_gt(
            takt_window_count(&rules[i], takt_window_start(&rules[i], NOW), TAKT_WINDOW_END), 1000);
    }
}

Test(window, products_are_exact_and_bounded)
{
    const int64_t big = (INT64_C(1) << 53) - 1;

    cr_expect_eq(takt_mul_div(big, big, big), big);
    cr_expect_eq(takt_mul_div(7, 3, 2), 10);
    cr_expect_eq(takt_mul_div_up(7, 3, 2), 11);
    cr_expect_eq(takt_mul_div_up(6, 3, 2), 9);
    cr_expect_eq(takt_mul_div_up(0, big, 1), 0);
    cr_expect_eq(takt_mul_div(big, big, 1), TAKT_WINDOW_END);
    cr_expect_eq(takt_mul_div_up(big, 2, 1), TAKT_WINDOW_END);
}
