/*
 * fail.h: errors that explain why a call cannot be made.
 */
#ifndef TAKT_WORKERS_CALL_FAIL_H
#define TAKT_WORKERS_CALL_FAIL_H

#include <takt/error.h>

/* Fills the error; TAKT_E_INVALID. */
__attribute__((format(printf, 2, 3))) int takt_caller_fail(takt_error *error, const char *format,
                                                           ...);

/* Prefixes the message with the place of the mistake; TAKT_E_INVALID. */
__attribute__((format(printf, 2, 3))) int takt_caller_fail_in(takt_error *error, const char *format,
                                                              ...);

#endif
