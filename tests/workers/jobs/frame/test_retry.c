/*
 * The wait before another attempt: any length from 0 to min(longest, first * 2^(attempt - 1)).
 */
#include <criterion/criterion.h>

#include "jobs/frame/retry.h"

static const takt_retry_rule rule = {5, 1000, 10000};

Test(retry, bound)
{
    static const int64_t bounds[] = {1000, 2000, 4000, 8000, 10000, 10000};

    for (unsigned i = 0; i < 6; i++)
        cr_assert_eq(takt_retry_bound(&rule, i + 1), bounds[i]);
    cr_assert_eq(takt_retry_bound(&rule, 1000), 10000);
    cr_assert_eq(takt_retry_bound(&(takt_retry_rule){5, INT64_MAX / 2, INT64_MAX}, 9), INT64_MAX);
    cr_assert_eq(takt_retry_bound(&(takt_retry_rule){5, 1000, 10}, 1), 10);
}

/* Every tenth of the range is drawn about as often as the others: with 10,000 draws a tenth has
 * 1,000, and 150 are five times what chance makes of that. */
Test(retry, full_jitter)
{
    uint64_t random = 1;
    int tenths[10] = {0};

    for (int i = 0; i < 10000; i++) {
        int64_t wait = takt_retry_wait(&rule, 5, 0, &random);
        cr_assert(wait >= 0 && wait <= 10000);
        tenths[wait * 10 / 10001]++;
    }
    for (int i = 0; i < 10; i++)
        cr_assert(abs(tenths[i] - 1000) < 150, "%d: %d", i, tenths[i]);
}

Test(retry, at_least)
{
    uint64_t random = 1;

    for (int i = 0; i < 1000; i++)
        cr_assert_geq(takt_retry_wait(&rule, 1, 700, &random), 700);
    cr_assert_eq(takt_retry_wait(&rule, 1, 99999, &random), 99999);
}
