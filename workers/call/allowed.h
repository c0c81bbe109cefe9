/*
 * allowed.h: what the command line allows: which hosts jobs may call, and which secrets they may
 * send to which hosts.
 */
#ifndef TAKT_WORKERS_CALL_ALLOWED_H
#define TAKT_WORKERS_CALL_ALLOWED_H

#include <stddef.h>

#define SECRETS_ALLOWED_MAX 64
#define SECRETS_PREFIX      "TAKT_SECRET_" /* prefix of variables that need no --secret */

typedef struct takt_caller_allowed {
    const char *hosts; /* a list as hosts.h reads it; NULL: every host with a public address */
    struct takt_caller_allowed_secret {
        const char *name; /* "env:NAME", "file:PATH", of `size` bytes */
        size_t size;
        const char *hosts; /* the hosts that may receive the secret; NULL: the hosts above */
    } secrets[SECRETS_ALLOWED_MAX];
    int secret_count;
} takt_caller_allowed;

#endif
