/*
 * secrets.h: values that a job names and does not contain: "Bearer ${env:API_KEY}" or
 * "${file:/run/secrets/key}". They are read when a call starts, and removed from everything that
 * comes back.
 */
#ifndef TAKT_WORKERS_CALL_SECRETS_H
#define TAKT_WORKERS_CALL_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include <takt/error.h>

#include "allowed.h"
#include "origin.h"

#define SECRET_SIZE_MAX 8192 /* bytes of one secret */

/* What one call has read. */
typedef struct takt_caller_secret {
    struct takt_caller_secret *next;
    size_t size;
    char text[];
} takt_caller_secret;

/* Whether the environment variable of "env:NAME", of `size` bytes, is set. True for a file, which
 * may come while takt-call runs. */
bool takt_caller_secrets_is_set(const char *name, size_t size);

/* Whether all secrets that a header's value names are allowed and may be sent to `to`, and those of
 * the environment are set. Reads none of them. 0, or TAKT_E_INVALID and what to write instead. */
int takt_caller_secrets_check(const takt_caller_allowed *allowed, const takt_caller_origin *to,
                              const char *value, takt_error *error);

/* Whether a header's value names a secret. */
bool takt_caller_secrets_is_named(const char *value);

/* The value with its secrets filled in; the caller frees it by takt_caller_secrets_wipe. The
 * secrets that were read are put before those in *read. NULL: a secret cannot be read; `error` says
 * why without showing any of it. */
char *takt_caller_secrets_fill(const char *value, takt_caller_secret **read, takt_error *error);

/* Replaces each byte of each secret by an asterisk, also where JSON has put backslashes between the
 * bytes. Secrets of less than 4 bytes are left alone, since they would match everywhere. */
void takt_caller_secrets_blot(const takt_caller_secret *read, char *text, size_t size);

/* Overwrites and frees the text; NULL is harmless. */
void takt_caller_secrets_wipe(char *text);
void takt_caller_secrets_forget(takt_caller_secret **read);

#endif
