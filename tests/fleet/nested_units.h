/*
 * nested_units.h: fleets whose work takes different amounts of several units of nested limits,
 * which number their units differently.
 *
 * All rules of all levels hold (promise 1), work of every key goes on (promise 4), and each key
 * uses up its own rules or, with the others, those of all (promise 5).
 */
#ifndef TAKT_TESTS_NESTED_UNITS_H
#define TAKT_TESTS_NESTED_UNITS_H

#include <stdint.h>

/* Some workers, keys and amounts at random, with lost and repeated messages, blocks and crashes. */
void nested_units_run(uint64_t seed);

/* Teams with input and output tokens inside an organisation's, and inside one of requests alone. */
void nested_units_run_figures(void);

#endif
