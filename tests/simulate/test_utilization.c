/*
 * How long permits are held and free, in a simulation that is small enough to be counted by hand.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "simulate/utilization.h"

Test(utilization, what_is_held_and_free_is_counted)
{
    takt_utilization *utilization = calloc(1, sizeof *utilization);

    cr_assert_not_null(utilization);
    cr_assert_eq(takt_utilization_open(utilization, 2), 0);
    takt_utilization_take(utilization, 100);
    takt_utilization_take(utilization, 200);
    takt_utilization_give_back(utilization, 300);
    takt_utilization_give_back(utilization, 400);
    takt_utilization_take(utilization, 500); /* that of 300 */
    takt_utilization_take(utilization, 600); /* that of 400 */
    takt_utilization_lose(utilization, 650);
    takt_utilization_take(utilization, 700); /* this one was never given back */
    takt_utilization_give_back(utilization, 900);
    cr_expect_eq(utilization->max, 2);
    cr_expect_eq(utilization->hand_over.count, 2);
    cr_expect_eq(utilization->hand_over.max_us, 200);
    /* one for 100, two for 100, one for 100, none, one for 100, two for 50, one for 50 */
    cr_expect_eq(takt_utilization_busy_ppm(utilization, 2), 650 * INT64_C(1000000) / 1200);
    takt_utilization_close(utilization);
    free(utilization);
}

Test(utilization, nothing_is_busy_before_the_second_start)
{
    takt_utilization *utilization = calloc(1, sizeof *utilization);

    cr_assert_not_null(utilization);
    cr_assert_eq(takt_utilization_open(utilization, 1), 0);
    cr_expect_eq(takt_utilization_busy_ppm(utilization, 1), 0);
    takt_utilization_take(utilization, 7);
    cr_expect_eq(takt_utilization_busy_ppm(utilization, 1), 0);
    takt_utilization_close(utilization);
    free(utilization);
}
