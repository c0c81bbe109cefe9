/*
 * modes.h: fleets whose workers put a level into shadow, and out of it, while work waits and while
 * callbacks are due.
 */
#ifndef TAKT_TESTS_FLEET_MODES_H
#define TAKT_TESTS_FLEET_MODES_H

#include <stdint.h>

/* A fleet at random.  A broken promise is reported to checker_on_failure. */
void modes_run(uint64_t seed);

#endif
