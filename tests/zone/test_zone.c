/*
 * The look-up in a small table of changes: offsets, days and midnights around each of them.
 */
#include <criterion/criterion.h>

#include "zone/zone.h"

#define HOUR     INT64_C(3600000000)
#define DAY      TAKT_DAY_US
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* An hour ahead of UTC; at noon of day 10 two hours, at noon of day 20 one again, at 23:00 UTC of
 * day 30 (midnight there) two, at 22:00 UTC of day 40 (midnight there) one again, and at noon of
 * day 50 a day ahead. */
static const takt_zone_change changes[] = {
    {0, HOUR},
    {10 * DAY + 12 * HOUR, 2 * HOUR},
    {20 * DAY + 12 * HOUR, HOUR},
    {30 * DAY - HOUR, 2 * HOUR},
    {40 * DAY - 2 * HOUR, HOUR},
    {50 * DAY + 12 * HOUR, 25 * HOUR},
};
static const takt_zone zone = {.count = COUNT(changes), .changes = changes};
/* Half an hour after midnight of day 5 the clocks go back by one: that day has begun, and
 * continues. */
static const takt_zone_change past_midnight[] = {{0, 0}, {5 * DAY + HOUR / 2, -HOUR}};
static const takt_zone back = {.count = 2, .changes = past_midnight};
static const takt_zone_change never[] = {{0, -5 * HOUR}};
static const takt_zone plain = {.count = 1, .changes = never};

Test(core_zone, offsets)
{
    cr_expect_eq(takt_zone_offset(&zone, 0), HOUR);
    cr_expect_eq(takt_zone_offset(&zone, -DAY), HOUR);
    for (size_t i = 1; i < COUNT(changes); i++) {
        cr_expect_eq(takt_zone_offset(&zone, changes[i].at_us), changes[i].offset_us);
        cr_expect_eq(takt_zone_offset(&zone, changes[i].at_us - 1), changes[i - 1].offset_us);
        cr_expect_eq(takt_zone_next_change(&zone, changes[i].at_us - 1), changes[i].at_us);
    }
    cr_expect_eq(takt_zone_next_change(&zone, changes[5].at_us), INT64_MAX);
    cr_expect_eq(takt_zone_offset(&plain, 99 * DAY), -5 * HOUR);
}

Test(core_zone, midnights)
{
    static const struct {
        int64_t day, midnight_us;
    } rows[] = {
        {0, -HOUR},
        {1, DAY - HOUR},
        {10, 10 * DAY - HOUR},
        {11, 11 * DAY - 2 * HOUR},
        {20, 20 * DAY - 2 * HOUR},
        {21, 21 * DAY - HOUR},
        {30, 30 * DAY - HOUR}, /* the hour after midnight is skipped: the day begins at one */
        {31, 31 * DAY - 2 * HOUR},
        {40, 40 * DAY - HOUR}, /* 23:00 comes twice before it */
        {41, 41 * DAY - HOUR},
        {51, 50 * DAY + 12 * HOUR}, /* a day ahead at noon: the rest of the day is skipped */
        {52, 52 * DAY - 25 * HOUR},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_expect_eq(
            takt_zone_midnight(&zone, rows[i].day), rows[i].midnight_us, "row %zu: %lld", i,
            (long long)((takt_zone_midnight(&zone, rows[i].day) - rows[i].midnight_us) / HOUR));
        cr_expect_eq(takt_zone_day(&zone, rows[i].midnight_us), rows[i].day, "row %zu", i);
        cr_expect_eq(takt_zone_day(&zone, rows[i].midnight_us - 1), rows[i].day - 1, "row %zu", i);
    }
    cr_expect_eq(takt_zone_midnight(&plain, 7), 7 * DAY + 5 * HOUR);
}

Test(core_zone, a_day_that_has_begun_goes_on)
{
    cr_expect_eq(takt_zone_midnight(&back, 5), 5 * DAY);
    cr_expect_eq(takt_zone_midnight(&back, 6), 6 * DAY + HOUR);
    for (int64_t t_us = 5 * DAY; t_us < 6 * DAY + HOUR; t_us += HOUR / 4)
        cr_expect_eq(takt_zone_day(&back, t_us), 5, "%lld", (long long)t_us);
    cr_expect_eq(takt_zone_day(&back, 5 * DAY - 1), 4);
}

Test(core_zone, days_never_go_back)
{
    int64_t day = takt_zone_day(&zone, 0);

    for (int64_t t_us = 0; t_us < 55 * DAY; t_us += HOUR / 4) {
        cr_assert_geq(takt_zone_day(&zone, t_us), day);
        day = takt_zone_day(&zone, t_us);
        cr_assert_leq(takt_zone_midnight(&zone, day), t_us);
        cr_assert_gt(takt_zone_midnight(&zone, day + 1), t_us);
    }
}
