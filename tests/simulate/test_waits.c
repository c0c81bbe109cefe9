/*
 * Percentiles: exact below a millisecond, and never too small, nor more than 1/512 too large, above
 * it.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/random.h"
#include "seed.h"
#include "simulate/waits.h"

static takt_histogram *made(void)
{
    takt_histogram *histogram = calloc(1, sizeof *histogram);

    cr_assert_not_null(histogram);
    return histogram;
}

Test(waits, small_ones_are_exact)
{
    takt_histogram *histogram = made();
    takt_waits waits;

    cr_expect_eq(takt_histogram_percentile(histogram, 50), 0, "of none");
    for (int i = 1; i <= 1000; i++)
        takt_histogram_add(histogram, i);
    takt_histogram_sum_up(histogram, &waits);
    cr_expect_eq(waits.count, 1000);
    cr_expect_eq(waits.p50_us, 500);
    cr_expect_eq(waits.p95_us, 950);
    cr_expect_eq(waits.p99_us, 990);
    cr_expect_eq(waits.max_us, 1000);
    free(histogram);
}

Test(waits, one_alone_is_every_percentile)
{
    static const int64_t values[] = {
        0, 1, 1023, 1024, 1025, 999999, INT64_C(86400000000), INT64_C(1576800000000000), INT64_MAX};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        takt_histogram *histogram = made();
        takt_histogram_add(histogram, values[i]);
        cr_expect_eq(takt_histogram_percentile(histogram, 50), values[i]);
        cr_expect_eq(takt_histogram_percentile(histogram, 99), values[i]);
        free(histogram);
    }
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

Test(waits, large_ones_are_close)
{
    enum { COUNT = 5000 };
    static int64_t values[COUNT];
    uint64_t random = test_seed(1);
    takt_histogram *histogram = made();

    for (int i = 0; i < COUNT; i++) {
        values[i] = (int64_t)(takt_random(&random) >> (20 + takt_random_below(&random, 44)));
        takt_histogram_add(histogram, values[i]);
    }
    qsort(values, COUNT, sizeof *values, by_size);
    for (int percent = 1; percent <= 100; percent++) {
        int64_t exact = values[COUNT * percent / 100 - 1],
                told = takt_histogram_percentile(histogram, percent);
        cr_expect(told >= exact && told <= exact + exact / 512, "%d %%: %lld for %lld", percent,
                  (long long)told, (long long)exact);
    }
    free(histogram);
}
