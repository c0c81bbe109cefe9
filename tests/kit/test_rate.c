/*
 * The rate of the last samples.
 */
#include <criterion/criterion.h>

#include "kit/rate.h"

/* 10/s for a minute, then nothing: after ten seconds the rate is that. */
Test(rate, is_that_of_the_last_samples)
{
    takt_rate starts = {0};
    uint64_t ms = 1000;

    cr_assert_eq(takt_rate_now(&starts), 0);
    takt_rate_sample(&starts, ms, 5);
    cr_assert_eq(takt_rate_now(&starts), 0);
    for (unsigned i = 0; i < 240; i++, ms += 250)
        takt_rate_sample(&starts, ms, 5 + i * 5 / 2);
    cr_assert_float_eq(takt_rate_now(&starts), 10, 0.1);
    for (unsigned i = 0; i < TAKT_RATE_SAMPLES; i++, ms += 250)
        takt_rate_sample(&starts, ms, 1000);
    cr_assert_eq(takt_rate_now(&starts), 0);
    takt_rate same = {0};
    takt_rate_sample(&same, 7, 1);
    takt_rate_sample(&same, 7, 2);
    cr_assert_eq(takt_rate_now(&same), 0, "no time has passed");
}
