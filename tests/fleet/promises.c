/*
 * promises.c: fleets at random on virtual time, and whether the promises hold at every step.
 *
 * Usage: promises [--seed N | --seeds A..B]
 * A seed takes the same course each time.  Prints the seed that failed, why, and the last events
 * before it.  Without arguments: the large fleets that docs/design.md has figures of, or, where
 * each instruction is watched and these take minutes (TAKT_ROUNDS_DIVIDED_BY), the first seeds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "scenario.h"
#include "seed.h"

#define SEEDS 50 /* test_promises.py runs more */

static const family *const families[] = {
    &hosts_family,   &tenants_family,      &nested_family,       &held_family,
    &bounded_family, &units_family,        &nested_units_family, &nested_tenants_family,
    &modes_family,   &nested_tries_family, &nested_rates_family,
};

#define FAMILIES (sizeof families / sizeof *families)

static uint64_t seed;

/* Takes the same course again, this time with its events. */
static void failed(void)
{
    if (!timeline_kept) {
        timeline_kept = true;
        scenario_run(seed);
    }
    timeline_print();
    printf("seed %" PRIu64 " failed; the same again: promises --seed %" PRIu64 "\n", seed, seed);
    fflush(stdout);
    _Exit(1);
}

int main(int argc, char **argv)
{
    uint64_t first = 1, last = test_rounds(SEEDS);
    bool figures = argc == 1 && last == SEEDS;

    if (figures) {
        last = 0;
    } else if (argc == 3 && strcmp(argv[1], "--seed") == 0) {
        first = last = strtoull(argv[2], NULL, 10);
    } else if (argc == 3 && strcmp(argv[1], "--seeds") == 0) {
        if (sscanf(argv[2], "%" SCNu64 "..%" SCNu64, &first, &last) != 2)
            return 64;
    } else if (argc != 1) {
        fprintf(stderr, "usage: promises [--seed N | --seeds A..B]\n");
        return 64;
    }
    checker_on_failure = failed;
    for (seed = first; seed <= last; seed++) {
        scenario_run(seed);
        for (size_t i = 0; i < FAMILIES; i++)
            if (seed % (uint64_t)families[i]->each == (uint64_t)families[i]->at)
                families[i]->run(seed);
    }
    for (size_t i = 0; figures && i < FAMILIES; i++)
        if (families[i]->run_figures)
            families[i]->run_figures();
    printf(
        "%" PRIu64
        " seeds: %lld calls, %lld slots, %lld started, %lld handed back, %lld left without, %lld "
        "permits handed on, %lld lost\n",
        last - first + 1, (long long)scenario_total.calls, (long long)scenario_total.slots,
        (long long)scenario_total.started, (long long)scenario_total.handed_back,
        (long long)scenario_total.left, (long long)scenario_total.handed_on,
        (long long)scenario_total.losers);
    return 0;
}
