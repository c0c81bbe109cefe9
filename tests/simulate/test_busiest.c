/*
 * The busiest window, against counting all windows one by one.
 */
#include <criterion/criterion.h>

#include "base/random.h"
#include "seed.h"
#include "simulate/busiest.h"

Test(busiest, windows_are_half_open)
{
    static const struct {
        int64_t at_us[4];
        int64_t max;
    } rows[] = {
        {{0, 10, 20, 30}, 1}, {{0, 9, 20, 29}, 2}, {{0, 5, 9, 10}, 3},
        {{7, 7, 7, 7}, 4},    {{9, 0, 20, 5}, 3},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        takt_window window;
        cr_assert_eq(takt_window_open(&window, 10, 100), 0);
        for (int j = 0; j < 4; j++)
            cr_assert_eq(takt_window_add(&window, rows[i].at_us[j], 1), 0);
        takt_window_flush(&window);
        cr_expect_eq(window.max, rows[i].max, "row %zu: %lld", i, (long long)window.max);
        takt_window_close(&window);
    }
}

Test(busiest, is_what_counting_finds)
{
    enum { COUNT = 1000 };
    uint64_t random = test_seed(1);

    for (int round = 0; round < 30; round++) {
        int64_t at_us[COUNT], tokens[COUNT], now_us = 0, max = 0;
        int64_t period_us = 1 + takt_random_below(&random, 3000),
                slack_us = takt_random_below(&random, 200);
        takt_window window;
        cr_assert_eq(takt_window_open(&window, period_us, slack_us), 0);
        for (int i = 0; i < COUNT; i++) {
            now_us += takt_random_below(&random, 1 + takt_random_below(&random, 100));
            at_us[i] = now_us - takt_random_below(
                                    &random, slack_us + 1); /* no later than the slack allows */
            tokens[i] = 1 + takt_random_below(&random, 5);
            cr_assert_eq(takt_window_add(&window, at_us[i], tokens[i]), 0);
        }
        takt_window_flush(&window);
        for (int i = 0; i < COUNT; i++) {
            int64_t sum = 0;
            for (int j = 0; j < COUNT; j++)
                if (at_us[j] >= at_us[i] && at_us[j] < at_us[i] + period_us)
                    sum += tokens[j];
            max = sum > max ? sum : max;
        }
        cr_expect_eq(window.max, max, "round %d: %lld, not %lld", round, (long long)window.max,
                     (long long)max);
        takt_window_close(&window);
    }
}

Test(busiest, memory_is_bounded_and_the_figure_close)
{
    enum { COUNT = 3000000 }; /* one each us, of which a window holds a million */
    takt_window window;

    cr_assert_eq(takt_window_open(&window, 1000000, 1000), 0);
    for (int64_t i = 0; i < COUNT; i++)
        cr_assert_eq(takt_window_add(&window, i, 1), 0);
    takt_window_flush(&window);
    cr_expect_leq(window.capacity, 1 << 18);
    cr_expect(window.max <= 1000000 && window.max >= 1000000 - 1000000 / 32768, "%lld",
              (long long)window.max);
    takt_window_close(&window);
}
