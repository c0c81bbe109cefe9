/*
 * The positions of values on a chart, the ends of its axes, and its labels.
 */
#include "simulate/draw/chart.h"
#include "text.h"

Test(chart, axes_end_at_good_values)
{
    static const struct {
        double max;
        bool is_time;
        double end;
    } rows[] = {
        {0, false, 1},
        {1, false, 1},
        {5, false, 5},
        {6, false, 6},
        {11, false, 15},
        {101, false, 150},
        {999, false, 1000},
        {1e9 + 1, false, 1.5e9},
        {5e6, true, 5e6},
        {61e6, true, 75e6},
        {110e6, true, 120e6},
        {4000e6, true, 4500e6},
        {90000e6, true, 108000e6},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(takt_chart_end(rows[i].max, rows[i].is_time), rows[i].end, "row %zu: %f", i,
                     takt_chart_end(rows[i].max, rows[i].is_time));
}

Test(chart, zero_is_in_the_lower_left_corner)
{
    const takt_chart chart = {
        .x = 100, .y = 200, .width = 1000, .height = 500, .x_max = 10, .y_max = 5};

    cr_expect_eq(takt_chart_x(&chart, 0), 100);
    cr_expect_eq(takt_chart_x(&chart, 10), 1100);
    cr_expect_eq(takt_chart_y(&chart, 0), 700);
    cr_expect_eq(takt_chart_y(&chart, 5), 200);
    cr_expect_eq(takt_chart_y(&chart, 2.5), 450);
}

Test(chart, ticks_tell_values_and_times)
{
    test_text kept = {.calls_left = -1};
    takt_page page = {keep_text, &kept, 0};
    const takt_chart chart = {.page = &page,
                              .width = 1000,
                              .height = 500,
                              .x_max = 90e6,
                              .y_max = 150,
                              .x_is_time = true};

    takt_chart_frame(&chart, "a < b", "time");
    cr_expect_eq(count_of(&kept, ">a &lt; b<"), 1);
    cr_expect_eq(count_of(&kept, ">150<"), 1);
    cr_expect_eq(count_of(&kept, ">30 s<"), 1);
    cr_expect_eq(count_of(&kept, ">90 s<"), 1);
    cr_expect_eq(count_of(&kept, ">time<"), 1);
    cr_expect_eq(count_of(&kept, ">0<"), 2, "both axes begin with 0");
    free(kept.text);
}

Test(chart, shapes)
{
    test_text kept = {.calls_left = -1};
    takt_page page = {keep_text, &kept, 0};
    const takt_chart chart = {.page = &page, .width = 100, .height = 100, .x_max = 4, .y_max = 10};
    const double values[] = {5, 5, 0, 10}, gaps[] = {5, -1, 5, 10};

    takt_chart_steps(&chart, "s", values, 4, 1, true);
    takt_chart_line(&chart, "l", gaps, 4, 1);
    takt_chart_bar(&chart, "b", 1, 2, 5);
    takt_chart_stroke(&chart, "k", 0, 0, 4, 10);
    cr_expect_str_eq(kept.text, "<path class='s' d='M0 100V50H50V100H75V0H100V100Z'/>\n"
                                "<path class='l' d='M13 50m-30 0h60M63 50L88 0'/>\n"
                                "<rect class='b' x='25' y='50' width='25' height='50'/>\n"
                                "<path class='k' d='M0 100L100 0'/>\n");
    free(kept.text);
}

Test(chart, times_of_the_calendar)
{
    static const struct {
        int64_t start_us;
        double span_us;
        const char *first, *second, *below;
    } rows[] = {
        /* 23:57:13 */
        {INT64_C(1795478233000000), 600e6, ">00:00<", ">00:02<", ">23 Nov to 24 Nov 2026, UTC<"},
        {INT64_C(1795478233000000), 30e6, ">23:57:20<", ">23:57:30<", ">23 Nov 2026, UTC<"},
        {INT64_C(1795478233000000), 4 * 864e8, ">24 Nov<", ">25 Nov<",
         ">23 Nov to 27 Nov 2026, UTC<"},
        {INT64_C(1795478233000000), 5e6, ">1 s<", ">2 s<", ">5 s<"}, /* too short */
        {0, 600e6, ">2 min<", ">4 min<", ">10 min<"},                /* any time */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        test_text kept = {.calls_left = -1};
        takt_page page = {keep_text, &kept, 0};
        const takt_chart chart = {.page = &page,
                                  .width = 1000,
                                  .height = 500,
                                  .x_max = rows[i].span_us,
                                  .y_max = 5,
                                  .x_is_time = true,
                                  .start_us = rows[i].start_us};
        takt_chart_frame(&chart, "heading", NULL);
        cr_expect_eq(count_of(&kept, rows[i].first), 1, "row %zu: %s", i, kept.text);
        cr_expect_eq(count_of(&kept, rows[i].second), 1, "row %zu: %s", i, kept.text);
        cr_expect_eq(count_of(&kept, rows[i].below), 1, "row %zu: %s", i, kept.text);
        free(kept.text);
    }
}
