/*
 * Steps of time double when they are outgrown, and nothing that was added is lost.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "simulate/series.h"

static takt_series *made(int64_t period_us)
{
    takt_series *series = calloc(1, sizeof *series);

    cr_assert_not_null(series);
    takt_series_init(series, period_us);
    return series;
}

Test(series, steps_of_whole_periods_are_multiples_of_them)
{
    takt_series *series = made(640);

    cr_expect_eq(series->step_us, 10);
    takt_series_add(series, 10 * TAKT_SERIES_STEPS - 1, 0, (takt_amounts){{1, 1}}, 0);
    cr_expect_eq(series->step_us, 10, "just fits");
    takt_series_add(series, 10 * TAKT_SERIES_STEPS, 0, (takt_amounts){{1, 1}}, 0);
    cr_expect_eq(series->step_us, 20);
    takt_series_add(series, INT64_C(1000000000), 0, (takt_amounts){{1, 1}}, 0);
    cr_expect_eq(series->step_us % 640, 0);
    cr_expect_leq(series->steps, TAKT_SERIES_STEPS);
    free(series);
}

Test(series, a_period_is_halved_as_far_as_it_can_be)
{
    static const int64_t rows[][2] = {{1000000, 15625}, {1000, 125}, {1, 1}, {7, 7}, {128, 2}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        takt_series *series = made(rows[i][0]);
        cr_expect_eq(series->step_us, rows[i][1]);
        free(series);
    }
}

Test(series, nothing_is_lost)
{
    takt_series *series = made(1000000);
    takt_series_step all;
    int64_t tokens = 0;

    for (int64_t i = 0; i < 100000; i++) {
        takt_series_add(series, i * 12345, (int)(i % 3), (takt_amounts){{1 + i % 2, 1}}, i);
        tokens += 1 + i % 2;
    }
    takt_series_sum(series, 0, TAKT_SERIES_STEPS, &all);
    cr_expect_eq(all.taken.of[0], tokens);
    cr_expect_eq(all.waits[0].count + all.waits[1].count + all.waits[2].count, 100000);
    cr_expect_eq(all.waits[0].sum_us + all.waits[1].sum_us + all.waits[2].sum_us,
                 INT64_C(99999) * 50000);
    cr_expect_eq(all.waits[0].max_us, 99999);
    cr_expect_eq(all.waits[3].count, 0);
    free(series);
}
