/*
 * test_backoff.c: how a fleet comes back.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "redis/backoff.h"

/* 500 workers that lose the server at one instant: how many come back in one stretch of 100 ms. */
Test(backoff, a_fleet_does_not_come_back_in_a_wave)
{
    enum { WORKERS = 500, STRETCH_MS = 100 };
    int in_stretch[TAKT_BACKOFF_LONGEST_MS / STRETCH_MS + 1];

    for (uint64_t seed = 1; seed <= 100; seed++) {
        memset(in_stretch, 0, sizeof in_stretch);
        for (uint64_t worker = 0; worker < WORKERS; worker++) {
            takt_backoff backoff = {.random = seed * 1000 + worker};
            in_stretch[takt_backoff_next_ms(&backoff) / STRETCH_MS]++;
        }
        for (int i = 0; i < TAKT_BACKOFF_FIRST_MS / STRETCH_MS; i++)
            cr_expect(in_stretch[i] > WORKERS / 10 && in_stretch[i] < WORKERS * 3 / 10,
                      "seed %d: %d workers in one stretch", (int)seed, in_stretch[i]);
    }
}

Test(backoff, doubles_to_a_ceiling)
{
    static const uint64_t ceilings[] = {500, 1000, 1500, 1500, 1500, 1500};

    for (size_t tries = 0; tries < sizeof ceilings / sizeof ceilings[0]; tries++) {
        uint64_t longest = 0, shortest = UINT64_MAX;
        for (uint64_t seed = 0; seed < 20000; seed++) {
            takt_backoff backoff = {.random = seed, .tries = (int)tries};
            uint64_t ms = takt_backoff_next_ms(&backoff);
            cr_assert_eq(backoff.tries, (int)tries + 1);
            longest = ms > longest ? ms : longest;
            shortest = ms < shortest ? ms : shortest;
        }
        cr_expect_leq(longest, ceilings[tries]);
        cr_expect_gt(longest, ceilings[tries] - 10);
        cr_expect_lt(shortest, 10);
    }
}

Test(backoff, ever_more_tries)
{
    takt_backoff backoff = {.random = 1, .tries = INT32_MAX - 1};

    cr_expect_leq(takt_backoff_next_ms(&backoff), TAKT_BACKOFF_LONGEST_MS);
}
