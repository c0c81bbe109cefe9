/*
 * nested.h: fleets whose work is of keys of an inner limit (accounts), within one outer limit.
 *
 * Of each level the slots keep the rule, also after blocks, crashes and lost messages (promise 1),
 * nothing starts before its slot (2), accounts that wait get equal parts (4), and no slot is wasted
 * (5).
 */
#ifndef TAKT_TESTS_NESTED_H
#define TAKT_TESTS_NESTED_H

#include <stdint.h>

/* Some accounts at random. */
void nested_run(uint64_t seed);

/* The figures that docs/design.md has. */
void nested_run_figures(void);

#endif
