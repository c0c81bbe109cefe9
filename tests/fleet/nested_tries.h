/*
 * nested_tries.h: fleets that try at keys of an inner limit (accounts) within one outer limit,
 * beside work that waits.
 *
 * Of each level what was taken keeps the rule (promise 1), and each level has given exactly what
 * was granted: a refused try has taken nothing anywhere (5).
 */
#ifndef TAKT_TESTS_NESTED_TRIES_H
#define TAKT_TESTS_NESTED_TRIES_H

#include <stdint.h>

/* A fleet at random. A broken promise is reported to checker_on_failure. */
void nested_tries_run(uint64_t seed);

#endif
