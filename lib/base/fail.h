/*
 * Fills a takt_error: one place for "what was wrong, where, what to write instead".
 */
#ifndef TAKT_BASE_FAIL_H
#define TAKT_BASE_FAIL_H

#include <takt/error.h>

/* Writes the text and the code, and returns the code, so that `return takt_fail(...)` reads well. */
__attribute__((format(printf, 3, 4))) int takt_fail(takt_error *error, int code, const char *format, ...);

/* Puts a text and nothing else before what `error` says already ("rules[0]." before "rate: ..."). */
__attribute__((format(printf, 2, 3))) void takt_fail_prefix(takt_error *error, const char *format, ...);

#endif
