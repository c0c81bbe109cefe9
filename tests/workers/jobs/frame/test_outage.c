/*
 * The pauses of an outage: 1 s, 2 s, 4 s and so on to a minute, however many tries fail at the same
 * time.
 */
#include <criterion/criterion.h>

#include "jobs/frame/outage.h"

#define SECOND INT64_C(1000000)

Test(outage, each_try_in_vain_doubles_the_pause)
{
    static const int pauses[] = {1, 2, 4, 8, 16, 32, 60, 60};
    takt_outage outage = {0};
    int64_t now = 5 * SECOND;

    cr_expect_eq(takt_outage_left(&outage, 0), 0);
    for (int i = 0; i < 8; i++) {
        int64_t began = now;
        now += 10;
        cr_expect_eq(takt_outage_note(&outage, began, now), pauses[i] * SECOND);
        cr_expect_eq(takt_outage_left(&outage, now), pauses[i] * SECOND);
        cr_expect_eq(takt_outage_note(&outage, began, now + 5), pauses[i] * SECOND,
                     "with the first");
        cr_expect_eq(takt_outage_left(&outage, now + SECOND / 2), pauses[i] * SECOND - SECOND / 2);
        now += pauses[i] * SECOND;
        cr_expect_eq(takt_outage_left(&outage, now), 0);
    }
}

Test(outage, a_try_during_the_pause_does_not_lengthen_it)
{
    takt_outage outage = {0};

    for (int i = 0; i < 10; i++)
        cr_expect_eq(takt_outage_note(&outage, i * SECOND / 10, i * SECOND / 10 + 10), SECOND);
    cr_expect_eq(takt_outage_left(&outage, SECOND), 10, "from the first one on");
    cr_expect_eq(takt_outage_note(&outage, SECOND + 10, SECOND + 20), 2 * SECOND);
}

Test(outage, lasts_from_the_first_try_in_vain)
{
    takt_outage outage = {0};

    takt_outage_note(&outage, 0, 10);
    takt_outage_note(&outage, 2 * SECOND, 3 * SECOND);
    cr_expect(takt_outage_is_within(&outage, 60 * SECOND, 60 * SECOND + 9));
    cr_expect_not(takt_outage_is_within(&outage, 60 * SECOND, 60 * SECOND + 10));
    cr_expect_not(takt_outage_is_within(&outage, 0, 10), "none at all");
}
