/*
 * refusal.h: catches the refusal of a command line. argp_error ends a program; in a fuzzer,
 * refusal.c replaces it by a function that returns to the caller.
 */
#ifndef TAKT_TESTS_FUZZ_REFUSAL_H
#define TAKT_TESTS_FUZZ_REFUSAL_H

#include <stdbool.h>

/* Whether something was refused since the last call. */
bool fuzz_was_refused(void);

#endif
