/*
 * bounded.h: fleets of nested work whose inner limits have max_waiting.
 */
#ifndef TAKT_TESTS_FLEET_BOUNDED_H
#define TAKT_TESTS_FLEET_BOUNDED_H

#include <stdint.h>

/* A fleet at random, or one of those that figures are known of. A broken promise is reported to
 * checker_on_failure. */
void bounded_run(uint64_t seed);

/* Those with figures, all of them. */
void bounded_run_figures(void);

#endif
