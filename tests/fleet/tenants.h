/*
 * tenants.h: fleets whose workers have work of several tenants of one limit.
 *
 * No faults but workers that die, and each tenant always wants more.  The rule holds and no slot is
 * wasted (promises 1 and 5), and each tenant gets a part in proportion to its weight, wherever its
 * work waits (promise 4).
 */
#ifndef TAKT_TESTS_TENANTS_H
#define TAKT_TESTS_TENANTS_H

#include <stdint.h>

/* Some tenants at random. */
void tenants_run(uint64_t seed);

/* The figures that docs/design.md has. */
void tenants_run_figures(void);

#endif
