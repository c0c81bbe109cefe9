/*
 * secrets.h: values that a job names and does not have: "Bearer ${env:API_KEY}" or
 * "${file:/run/secrets/key}".  They are read when a call starts, and what was read is blotted out
 * of all that comes back.
 */
#ifndef TAKT_WORKERS_CALL_SECRETS_H
#define TAKT_WORKERS_CALL_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include <takt/error.h>

#include "allowed.h"
#include "origin.h"

#define SECRET_SIZE_MAX 8192 /* bytes of one */

/* What one call has read. */
typedef struct takt_caller_secret {
    struct takt_caller_secret *next;
    size_t size;
    char text[];
} takt_caller_secret;

/* Whether all secrets that a header's value names are allowed and may be sent to `to`, without
 * reading any: 0, or TAKT_E_INVALID and what to write. */
int takt_caller_secrets_check(const takt_caller_allowed *allowed, const takt_caller_origin *to,
                              const char *value, takt_error *error);

/* Whether a header's value names a secret. */
bool takt_caller_secrets_is_named(const char *value);

/* The value with its secrets in their places, the caller's to takt_caller_secrets_wipe; what was
 * read comes before those in *read.  NULL: one cannot be had, and `error` says why, without any of
 * it. */
char *takt_caller_secrets_fill(const char *value, takt_caller_secret **read, takt_error *error);

/* Puts a * in the place of each of their bytes, also where JSON has put backslashes between them.
 * Those of less than 4 bytes are left alone: they
 * would be found everywhere. */
void takt_caller_secrets_blot(const takt_caller_secret *read, char *text, size_t size);

/* Frees it after overwriting it; NULL is harmless. */
void takt_caller_secrets_wipe(char *text);
void takt_caller_secrets_forget(takt_caller_secret **read);

#endif
