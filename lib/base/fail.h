/*
 * Fills a takt_error: one place for "what was wrong, where, what to write instead".
 */
#ifndef TAKT_BASE_FAIL_H
#define TAKT_BASE_FAIL_H

#include <stdbool.h>

#include <takt/error.h>

/* Writes the text and the code, and returns the code, so that `return takt_fail(...)` reads well.
 */
__attribute__((format(printf, 3, 4))) int takt_fail(takt_error *error, int code, const char *format,
                                                    ...);

/* Puts a text and nothing else before what `error` says already ("rules[0]." before "rate: ...").
 */
__attribute__((format(printf, 2, 3))) void takt_fail_prefix(takt_error *error, const char *format,
                                                            ...);

/* Whether a code says that a store failed; others are about this process: no memory, a client that
 * closes. */
static inline bool takt_is_of_store(int code)
{
    return code <= TAKT_E_STORE && code >= TAKT_E_STORE_FORMAT;
}

#endif
