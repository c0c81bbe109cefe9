/*
 * fail.h: fills a takt_error. Callers write the message: what is wrong, where, and what to write
 * instead.
 */
#ifndef TAKT_BASE_FAIL_H
#define TAKT_BASE_FAIL_H

#include <stdbool.h>

#include <takt/error.h>

/* Writes the text and the code, and returns the code: `return takt_fail(...)`. */
__attribute__((format(printf, 3, 4))) int takt_fail(takt_error *error, int code, const char *format,
                                                    ...);

/* Inserts a text before the text of `error` ("rules[0]." before "rate: ..."). */
__attribute__((format(printf, 2, 3))) void takt_fail_prefix(takt_error *error, const char *format,
                                                            ...);

/* Whether a code means that the store failed. Other codes are about this process, such as missing
 * memory or a closing client. */
static inline bool takt_is_of_store(int code)
{
    return code <= TAKT_E_STORE && code >= TAKT_E_STORE_FORMAT;
}

#endif
