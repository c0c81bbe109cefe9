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

#define SECRET_SIZE_MAX     8192 /* bytes of one */
#define SECRETS_ALLOWED_MAX 64

/* Which ones jobs may name: "env:NAME", "file:PATH"; none are listed: any. */
typedef struct takt_caller_secrets_allowed {
    const char *names[SECRETS_ALLOWED_MAX];
    int count;
} takt_caller_secrets_allowed;

/* What one call has read. */
typedef struct takt_caller_secret {
    struct takt_caller_secret *next;
    size_t size;
    char text[];
} takt_caller_secret;

/* Whether a header's value names secrets in the right way, without reading any: 0, or
 * TAKT_E_INVALID and what to write.  *names says whether it names any. */
int takt_caller_secrets_check(const takt_caller_secrets_allowed *allowed, const char *value,
                              bool *names, takt_error *error);

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
