/*
 * nested_tenants.h: fleets whose work of an inner limit is for tenants: the innermost limit has
 * `fair`, alone or like the outermost one.
 *
 * The rules of both levels hold (promise 1), nothing starts before its slot (2), the tenants of a
 * key have their parts of what it gets, by their weights (4), and no slot is wasted (5).
 */
#ifndef TAKT_TESTS_NESTED_TENANTS_H
#define TAKT_TESTS_NESTED_TENANTS_H

#include <stdint.h>

/* Some tenants at random. */
void nested_tenants_run(uint64_t seed);

/* The figures that docs/design.md has. */
void nested_tenants_run_figures(void);

#endif
