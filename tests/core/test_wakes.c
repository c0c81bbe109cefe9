/*
 * The workers that an award names: each once, a tenant's client in place of its number, and no more
 * than there is space for.
 */
#include <criterion/criterion.h>

#include "core/wakes.h"

Test(wakes, a_worker_is_named_once)
{
    takt_award award = {.wake_count = 0};
    takt_place places[] = {{.worker = 7}, {.worker = 9}, {.worker = 7, .priority = 3}};

    for (int i = 0; i < 3; i++)
        takt_wakes_add(&award, &places[i], 0);
    cr_assert_eq(award.wake_count, 2);
    cr_expect_eq(award.wakes[0], 7);
    cr_expect_eq(award.wakes[1], 9);
}

/* A worker stands in line once for each of its tenants, under a number that nobody listens to. */
Test(wakes, a_place_of_a_tenant_names_its_client)
{
    takt_award award = {.wake_count = 0};
    takt_place places[] = {{.worker = 70, .process = 7}, {.worker = 71, .process = 7}};

    for (int i = 0; i < 2; i++)
        takt_wakes_add(&award, &places[i], 0);
    cr_assert_eq(award.wake_count, 1);
    cr_expect_eq(award.wakes[0], 7);
}

Test(wakes, what_does_not_fit_is_left_out)
{
    takt_award award = {.wake_count = 0};

    for (uint64_t worker = 1; worker <= TAKT_WAKES_MAX + 2; worker++)
        takt_wakes_add(&award, &(takt_place){.worker = worker}, 0);
    cr_assert_eq(award.wake_count, TAKT_WAKES_MAX);
    cr_expect_eq(award.wakes[TAKT_WAKES_MAX - 1], TAKT_WAKES_MAX);
}
