/*
 * The seed of a random test: printed, so that a failure can be had again, and taken from TAKT_SEED
 * where that is set.
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

#endif
