/*
 * test_backoff.c: how fast a fleet reconnects.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "redis/backoff.h"
#include "seed.h"

#define SECOND UINT64_C(1000)
#define LOST   UINT64_C(123456) /* when every client loses the server */

/* The connections that clients make after the server's return, in milliseconds after it: the first
 * of each client, and the one for hints, which begins when the first one works. */
enum { CLIENTS = 2000, CONNECTIONS = 2 * CLIENTS };
static uint64_t made[CONNECTIONS];

static void come_back(uint64_t seed, uint64_t client, uint64_t outage_ms)
{
    takt_backoff first = {.random = takt_random(&seed) + client};
    takt_backoff hints = {.random = ~first.random, .away_at_ms = LOST};
    uint64_t now_ms = LOST;

    while (now_ms < LOST + outage_ms)
        now_ms += takt_backoff_pause_ms(&first, now_ms);
    made[2 * client] = now_ms - LOST - outage_ms;
    made[2 * client + 1] = made[2 * client] + takt_backoff_pause_ms(&hints, now_ms);
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* The most of them in any second. */
static int busiest_second(void)
{
    int most = 0, from = 0;

    qsort(made, CONNECTIONS, sizeof made[0], by_value);
    for (int i = 0; i < CONNECTIONS; i++) {
        while (made[i] - made[from] >= SECOND)
            from++;
        most = i - from + 1 > most ? i - from + 1 : most;
    }
    return most;
}

Test(backoff, a_large_fleet_comes_back_slowly)
{
    static const struct {
        uint64_t outage_ms;
        int most;
    } rows[] = {{1 * SECOND, 2800}, {5 * SECOND, 800},  {10 * SECOND, 500},
                {11 * SECOND, 500}, {20 * SECOND, 500}, {3600 * SECOND, 500}};
    uint64_t seed = test_seed(1), rounds = test_rounds(20);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint64_t round = 0; round < rounds; round++) {
            for (uint64_t client = 0; client < CLIENTS; client++)
                come_back(seed + round, client, rows[i].outage_ms);
            cr_expect_leq(busiest_second(), rows[i].most, "%d ms, seed %d: %d in one second",
                          (int)rows[i].outage_ms, (int)(seed + round), busiest_second());
        }
}

/* A client is back at the latest as long after the server's return as the server was away for, half
 * a second at least and 8 s at most. */
Test(backoff, a_short_outage_ends_soon)
{
    static const uint64_t outages_ms[] = {1, 100, 500, 501, 1000, 3000, 8000, 9000, 100000};
    uint64_t seed = test_seed(1);

    for (size_t i = 0; i < sizeof outages_ms / sizeof outages_ms[0]; i++) {
        uint64_t last_ms = 0, max_ms = outages_ms[i];
        max_ms = max_ms < TAKT_BACKOFF_FIRST_MS ? TAKT_BACKOFF_FIRST_MS : max_ms;
        max_ms = max_ms > TAKT_BACKOFF_LONGEST_MS ? TAKT_BACKOFF_LONGEST_MS : max_ms;
        for (uint64_t client = 0; client < CLIENTS; client++) {
            come_back(seed, client, outages_ms[i]);
            last_ms = made[2 * client] > last_ms ? made[2 * client] : last_ms;
        }
        cr_expect_leq(last_ms, max_ms);
        cr_expect_gt(last_ms, max_ms / 2, "%d ms: the pauses do not grow", (int)outages_ms[i]);
    }
}

/* After the first loss the attempts of a fleet are spread over the first pause. */
Test(backoff, a_fleet_does_not_come_back_in_a_wave)
{
    enum { WORKERS = 500, STRETCH_MS = 100 };

    for (uint64_t seed = 1; seed <= 100; seed++) {
        int in_stretch[TAKT_BACKOFF_FIRST_MS / STRETCH_MS + 1] = {0};
        for (uint64_t worker = 0; worker < WORKERS; worker++) {
            takt_backoff backoff = {.random = seed * 1000 + worker};
            in_stretch[takt_backoff_pause_ms(&backoff, LOST) / STRETCH_MS]++;
        }
        for (int i = 0; i < TAKT_BACKOFF_FIRST_MS / STRETCH_MS; i++)
            cr_expect(in_stretch[i] > WORKERS / 10 && in_stretch[i] < WORKERS * 3 / 10,
                      "seed %d: %d workers in one stretch", (int)seed, in_stretch[i]);
    }
}

Test(backoff, grows_with_the_time_away)
{
    static const struct {
        uint64_t away_ms, shortest_ms, longest_ms;
    } rows[] = {{0, 0, 500},        {1, 0, 500},        {499, 0, 500},
                {500, 250, 500},    {1000, 500, 1000},  {3001, 1500, 3001},
                {8000, 4000, 8000}, {8001, 4000, 8000}, {UINT64_C(1) << 50, 4000, 8000}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t longest = 0, shortest = UINT64_MAX;
        for (uint64_t seed = 0; seed < 20000; seed++) {
            takt_backoff backoff = {.random = seed, .away_at_ms = LOST};
            uint64_t ms = takt_backoff_pause_ms(&backoff, LOST + rows[i].away_ms);
            longest = ms > longest ? ms : longest;
            shortest = ms < shortest ? ms : shortest;
        }
        cr_expect(longest <= rows[i].longest_ms && longest + 10 > rows[i].longest_ms, "%d: %d",
                  (int)rows[i].away_ms, (int)longest);
        cr_expect(shortest >= rows[i].shortest_ms && shortest < rows[i].shortest_ms + 10, "%d: %d",
                  (int)rows[i].away_ms, (int)shortest);
    }
}

/* Two in any second, at any requested times. */
Test(pace, two_in_a_second)
{
    static const struct {
        uint64_t now_ms, wait_ms;
    } rows[] = {{5000, 0},   {5000, 0}, {5000, 1000}, {6000, 0}, {6400, 0},
                {6401, 599}, {7000, 0}, {7399, 1},    {7400, 0}, {9000, 0}};
    takt_pace pace = {0};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t wait_ms = takt_pace_wait_ms(&pace, rows[i].now_ms);
        cr_expect_eq(wait_ms, rows[i].wait_ms, "%d: %d", (int)rows[i].now_ms, (int)wait_ms);
        if (wait_ms == 0)
            takt_pace_note(&pace, rows[i].now_ms);
    }
}
