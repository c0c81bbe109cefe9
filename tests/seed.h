/*
 * The seed of a random test: printed, so that a failure can be had again, and taken from TAKT_SEED
 * where that is set.  And how many rounds it takes: a part of them is enough where valgrind or a
 * sanitizer looks on, since other rounds take the same paths through the code.
 */
#ifndef TAKT_TESTS_SEED_H
#define TAKT_TESTS_SEED_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline uint64_t test_seed(uint64_t usual)
{
    const char *given = getenv("TAKT_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : usual;

    fprintf(stderr, "TAKT_SEED=%" PRIu64 "\n", seed);
    return seed;
}

/* The usual number, divided by TAKT_ROUNDS_DIVIDED_BY where that is set; ten are left, so that each
 * kind of rule has its turn. */
static inline uint64_t test_rounds(uint64_t usual)
{
    const char *given = getenv("TAKT_ROUNDS_DIVIDED_BY");
    uint64_t by = given ? strtoull(given, NULL, 10) : 1;

    if (by <= 1 || usual <= 10)
        return usual;
    return usual / by > 10 ? usual / by : 10;
}

#endif
