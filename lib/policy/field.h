/*
 * field.h: what the fields of limits and rules have in common when they are read from texts.
 */
#ifndef TAKT_POLICY_FIELD_H
#define TAKT_POLICY_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include <takt/error.h>

#define TAKT_WAITING_MAX INT64_C(1000000000) /* what a bound of waiters may be at most */

/* Puts the field before what another reader said; every trouble but memory is the policy's. */
int takt_field_refuse(const char *field, int code, takt_error *error);

/* A whole number from 1 to max; a text that is NULL leaves *value as it is. */
int takt_field_read_count(const char *field, const char *text, int64_t max, int64_t *value,
                          takt_error *error);

/* Appends to a text of `size` bytes that may be full already. */
__attribute__((format(printf, 3, 4))) void takt_field_append(char *text, size_t size,
                                                             const char *format, ...);

#endif
