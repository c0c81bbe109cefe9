/*
 * An instant as a person reads it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <criterion/criterion.h>

#include "kit/wall_clock.h"

Test(wall_clock, another_day_has_its_date)
{
    static const struct {
        int64_t at_us;
        const char *zone, *text;
    } rows[] = {
        {0, "UTC0", "1970-01-01 00:00:00"},
        {INT64_C(951782400999999), "UTC0", "2000-02-29 00:00:00"},
        {INT64_C(951782400999999), "EST5", "2000-02-28 19:00:00"},
    };
    char text[TAKT_WALL_CLOCK_TEXT_SIZE];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setenv("TZ", rows[i].zone, 1);
        tzset();
        cr_expect_str_eq(takt_wall_clock_text(rows[i].at_us, text), rows[i].text, "%s", text);
    }
}

/* The zone is chosen so that it is about noon: no midnight comes between two readings. */
Test(wall_clock, today_has_none)
{
    int64_t now_us = takt_wall_clock_now(), hour = now_us / INT64_C(3600000000) % 24;
    char zone[16], text[TAKT_WALL_CLOCK_TEXT_SIZE];

    snprintf(zone, sizeof(zone), "XXX%d", (int)hour - 12);
    setenv("TZ", zone, 1);
    tzset();
    cr_expect(strncmp(takt_wall_clock_text(now_us, text), "12:", 3) == 0 && strlen(text) == 8, "%s",
              text);
}
