/*
 * The last line of a timezone file: its meaning, to the second, and malformed ones.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "zone/tz_footer.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

Test(tz_footer, means)
{
    static const struct {
        const char *text;
        int64_t standard_s;
        bool has_summer;
        int64_t summer_s;
        int year;
        int64_t begins_s, ends_s;
    } rows[] = {
        {"UTC0", 0, false, 0, 0, 0, 0},
        {"<+0545>-5:45", 20700, false, 0, 0, 0, 0},
        {"<-03>3", -10800, false, 0, 0, 0, 0},
        {"XYZ-1:02:03", 3723, false, 0, 0, 0, 0},
        /* 2026-03-08 02:00 PST and 2026-11-01 02:00 PDT */
        {"PST8PDT,M3.2.0,M11.1.0", -28800, true, -25200, 2026, 1772964000, 1793523600},
        /* 2038-03-28 01:00 UTC and 2038-10-31 01:00 UTC */
        {"CET-1CEST,M3.5.0,M10.5.0/3", 3600, true, 7200, 2038, 2153350800, 2172099600},
        /* half an hour of summer: 2026-10-04 02:00 +10:30 and 2026-04-05 02:00 +11 */
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 37800, true, 39600, 2026, 1791041400, 1775314800},
        /* summer that is an hour behind: 2026-10-25 01:00 UTC and 2026-03-29 01:00 UTC */
        {"IST-1GMT0,M10.5.0,M3.5.0/1", 3600, true, 0, 2026, 1792890000, 1774746000},
        /* times before the day and far after it: 2026-03-29 22:00 -02:00 the day before, ... */
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200, true, -3600, 2026, 1774746000, 1792890000},
        /* days by number: 60 is 1 March in every year, and the day after 29 February in a leap year
         */
        {"AAA0BBB,J60/0,J365/25", 0, true, 3600, 2028, 1835481600, 1861920000},
        {"AAA0BBB,59/0,365/0", 0, true, 3600, 2028, 1835395200, 1861833600 - 3600},
        {"AAA0BBB,M12.5.6/0,M1.1.4/0", 0, true, 3600, 2026, 1798243200, 1767225600 - 3600},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_tz_footer footer;
        cr_assert(takt_tz_footer_read(&footer, rows[i].text, strlen(rows[i].text)), "%s",
                  rows[i].text);
        cr_expect_eq(footer.standard_s, rows[i].standard_s, "%s", rows[i].text);
        cr_expect_eq(footer.has_summer, rows[i].has_summer, "%s", rows[i].text);
        if (!rows[i].has_summer)
            continue;
        cr_expect_eq(footer.summer_s, rows[i].summer_s, "%s", rows[i].text);
        cr_expect_eq(takt_tz_summer_begins(&footer, rows[i].year), rows[i].begins_s, "%s: %lld",
                     rows[i].text, (long long)takt_tz_summer_begins(&footer, rows[i].year));
        cr_expect_eq(takt_tz_summer_ends(&footer, rows[i].year), rows[i].ends_s, "%s: %lld",
                     rows[i].text, (long long)takt_tz_summer_ends(&footer, rows[i].year));
    }
}

Test(tz_footer, refuses)
{
    static const char *const texts[] = {
        "",
        "UTC",
        "UT0",
        "<+01-1",
        "<+0>-1",
        "UTC25",
        "UTC0:60",
        "UTC0:00:60",
        "UTC0 ",
        "PST8PDT",
        "PST8PDT,M3.2.0",
        "PST8PDT,M3.2.0,M11.1.0,",
        "PST8PDT,M0.2.0,M11.1.0",
        "PST8PDT,M13.2.0,M11.1.0",
        "PST8PDT,M3.0.0,M11.1.0",
        "PST8PDT,M3.6.0,M11.1.0",
        "PST8PDT,M3.2.7,M11.1.0",
        "PST8PDT,J0,J366",
        "PST8PDT,J1,J366",
        "PST8PDT,1,366",
        "PST8PDT,M3.2.0/168,M11.1.0",
        "PST8PDT,M3.2.0/-,M11.1.0",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        takt_tz_footer footer = {.standard_s = 77};
        cr_expect_not(takt_tz_footer_read(&footer, texts[i], strlen(texts[i])), "%s", texts[i]);
        cr_expect_eq(footer.standard_s, 77, "%s touched the output", texts[i]);
    }
}
