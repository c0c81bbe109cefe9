/*
 * units.h: fleets whose work takes different amounts of several units of one limit.
 *
 * No faults but workers that die, and every worker always wants more.  All rules hold (promise 1),
 * the scarce unit is used up (promise 5), and workers whose requests are small parts of a turn get
 * the same dominant share: the largest part that each has of any unit (promise 4).
 */
#ifndef TAKT_TESTS_UNITS_H
#define TAKT_TESTS_UNITS_H

#include <stdint.h>

/* Some workers and amounts at random. */
void units_run(uint64_t seed);

/* Where the scarce unit is known. */
void units_run_figures(void);

#endif
