/*
 * allowed.h: what the command line allows jobs: where they may call, and which secrets they may
 * send where.  The words are those of the command line.
 */
#ifndef TAKT_WORKERS_CALL_ALLOWED_H
#define TAKT_WORKERS_CALL_ALLOWED_H

#include <stddef.h>

#define SECRETS_ALLOWED_MAX 64
#define SECRETS_PREFIX      "TAKT_SECRET_" /* of variables that need no --secret */

typedef struct takt_caller_allowed {
    const char *hosts; /* a list for hosts.h; NULL: every host with a public address */
    struct takt_caller_allowed_secret {
        const char *name; /* "env:NAME", "file:PATH", of `size` bytes */
        size_t size;
        const char *hosts; /* where it may go; NULL: to the hosts above */
    } secrets[SECRETS_ALLOWED_MAX];
    int secret_count;
} takt_caller_allowed;

#endif
