/*
 * script.h: the scripts that run in the server, one for each operation of store.h and one for
 * several claims at once, joined from lua/ when the library is built. lua/PROTOCOL.md describes
 * their arguments and replies.
 */
#ifndef TAKT_STORE_REDIS_SCRIPT_H
#define TAKT_STORE_REDIS_SCRIPT_H

#include <stddef.h>

#include "store/store.h"

typedef struct takt_script {
    const char *name;
    const char *source; /* without NUL */
    size_t size;
    char sha1[41]; /* as EVALSHA takes it */
} takt_script;

#define TAKT_SCRIPT_CLAIMS TAKT_OPS /* several claims in one call */
#define TAKT_SCRIPTS       (TAKT_OPS + 1)

/* By takt_op. */
extern const takt_script takt_scripts[TAKT_SCRIPTS];

#endif
