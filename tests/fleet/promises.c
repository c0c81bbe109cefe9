/*
 * promises.c: fleets at random on virtual time, and whether the promises hold at every step.
 *
 * Usage: promises [--seed N | --seeds A..B]
 * A seed takes the same course each time.  Prints the seed that failed, why, and the last events
 * before it.  Without arguments: the first seeds, and the large fleets that docs/design.md has
 * figures of.  Those take minutes where each instruction is watched: TAKT_ROUNDS_DIVIDED_BY leaves
 * them out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounded.h"
#include "held.h"
#include "hosts.h"
#include "modes.h"
#include "nested.h"
#include "nested_tenants.h"
#include "nested_tries.h"
#include "nested_units.h"
#include "scenario.h"
#include "seed.h"
#include "tenants.h"
#include "units.h"

#define SEEDS        50 /* the others are of test_promises.py */
#define HOSTS_EACH   10 /* seeds that are fleets of hosts, too */
#define TENANTS_EACH 5  /* and of tenants */
#define NESTED_EACH  5  /* and of nested limits */
#define HELD_EACH    10 /* and of nested limits with permits */
#define BOUNDED_EACH 7  /* and of nested limits that bound their waiters */
#define UNITS_EACH   10 /* and of units */
#define LEVELS_EACH  5  /* and of units of nested limits */
#define INSIDE_EACH  5  /* and of tenants of nested limits */
#define MODES_EACH   5  /* and of levels that are put into shadow and out of it */
#define TRIES_EACH   10 /* and of tries of nested limits */

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
    uint64_t first = 1, last = SEEDS;

    if (argc == 3 && strcmp(argv[1], "--seed") == 0) {
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
        if (seed % HOSTS_EACH == 0)
            hosts_run(seed);
        if (seed % TENANTS_EACH == 0)
            tenants_run(seed);
        if (seed % NESTED_EACH == 0)
            nested_run(seed);
        if (seed % HELD_EACH == 0)
            held_run(seed);
        if (seed % BOUNDED_EACH == 0)
            bounded_run(seed);
        if (seed % UNITS_EACH == 0)
            units_run(seed);
        if (seed % LEVELS_EACH == 0)
            nested_units_run(seed);
        if (seed % INSIDE_EACH == 0)
            nested_tenants_run(seed);
        if (seed % MODES_EACH == 0)
            modes_run(seed);
        if (seed % TRIES_EACH == 1)
            nested_tries_run(seed);
    }
    if (argc == 1 && test_rounds(SEEDS) == SEEDS) {
        hosts_run_many();
        tenants_run_figures();
        nested_run_figures();
        held_run_figures();
        bounded_run_figures();
        units_run_figures();
        nested_units_run_figures();
        nested_tenants_run_figures();
    }
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
