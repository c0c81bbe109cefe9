/*
 * field.h: helpers to read the fields of limits and rules from texts. The callers decide the range
 * of each field.
 */
#ifndef TAKT_POLICY_FIELD_H
#define TAKT_POLICY_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include <takt/error.h>

#define TAKT_WAITING_MAX INT64_C(1000000000) /* greatest bound of waiters */

/* Inserts the field before the error of another reader. Every error except TAKT_E_NOMEM becomes
 * TAKT_E_POLICY. */
int takt_field_refuse(const char *field, int code, takt_error *error);

/* Reads a whole number from 1 to max. A text that is NULL leaves *value unchanged. */
int takt_field_read_count(const char *field, const char *text, int64_t max, int64_t *value,
                          takt_error *error);

/* Reads one word of a list as its place in the list. */
int takt_field_read_word(const char *field, const char *text, const char *const *words,
                         size_t count, size_t *word, takt_error *error);

/* Appends to a text of `size` bytes, cut to fit. The text may already be full. */
__attribute__((format(printf, 3, 4))) void takt_field_append(char *text, size_t size,
                                                             const char *format, ...);

#endif
