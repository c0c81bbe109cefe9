/*
 * How long permits are held and free, in a course that is small enough to be counted by hand.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "simulate/use.h"

Test(use, what_is_held_and_free_is_counted)
{
    takt_use *use = calloc(1, sizeof *use);

    cr_assert_not_null(use);
    cr_assert_eq(takt_use_open(use, 2), 0);
    takt_use_take(use, 100);
    takt_use_take(use, 200);
    takt_use_give_back(use, 300);
    takt_use_give_back(use, 400);
    takt_use_take(use, 500); /* that of 300 */
    takt_use_take(use, 600); /* that of 400 */
    takt_use_lose(use, 650);
    takt_use_take(use, 700); /* nobody gave that back */
    takt_use_give_back(use, 900);
    cr_expect_eq(use->max, 2);
    cr_expect_eq(use->hand_over.count, 2);
    cr_expect_eq(use->hand_over.max_us, 200);
    /* one for 100, two for 100, one for 100, none, one for 100, two for 50, one for 50 */
    cr_expect_eq(takt_use_busy_ppm(use, 2), 650 * INT64_C(1000000) / 1200);
    takt_use_close(use);
    free(use);
}

Test(use, nothing_is_busy_before_the_second_start)
{
    takt_use *use = calloc(1, sizeof *use);

    cr_assert_not_null(use);
    cr_assert_eq(takt_use_open(use, 1), 0);
    cr_expect_eq(takt_use_busy_ppm(use, 1), 0);
    takt_use_take(use, 7);
    cr_expect_eq(takt_use_busy_ppm(use, 1), 0);
    takt_use_close(use);
    free(use);
}
