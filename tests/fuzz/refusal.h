/*
 * refusal.h: what a command line is refused with.  argp_error ends a program; the one of refusal.c
 * takes its place in a fuzzer and lets the caller go on, as the readers of command lines can.
 */
#ifndef TAKT_TESTS_FUZZ_REFUSAL_H
#define TAKT_TESTS_FUZZ_REFUSAL_H

#include <stdbool.h>

/* Whether something was refused since the last call. */
bool fuzz_was_refused(void);

#endif
