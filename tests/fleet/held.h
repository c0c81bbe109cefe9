/*
 * held.h: fleets of nested work that holds permits, of inner limits and of the outermost one.
 */
#ifndef TAKT_TESTS_FLEET_HELD_H
#define TAKT_TESTS_FLEET_HELD_H

#include <stdint.h>

/* A fleet at random, or one of those that figures are known of. A broken promise is reported to
 * checker_on_failure. */
void held_run(uint64_t seed);

/* Those with figures, all of them. */
void held_run_figures(void);

#endif
