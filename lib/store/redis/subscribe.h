/*
 * subscribe.h: hints that something happened to a ledger (a block, its end, a reset), so that who
 * waits there looks before the time it would have.  Never needed: a hint that is lost costs a
 * keepalive, one that comes for nothing costs a claim.
 *
 * A hint is a message on the channel that bears the ledger's name, by sharded publish where
 * the server has it.  What concerns one worker alone, that it is to claim now, has a channel for
 * each of them: on a common one a wake-up would wake them all.  Listening has a connection of its
 * own, which is made when there is something to listen to.
 */
#ifndef TAKT_STORE_REDIS_SUBSCRIBE_H
#define TAKT_STORE_REDIS_SUBSCRIBE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "redis/tls.h"
#include "redis/url.h"

#define TAKT_HINTS_MAX 4096 /* channels listened to at once; the others' hints are not had */

typedef struct takt_hints takt_hints;

typedef struct takt_hints_options {
    const char *name_space;
    uint64_t timeout_ms;
    /* `own`: it is for this worker alone; also once it is listened to, for what came before. */
    void (*on_hint)(void *data, const char *limit, const char *key, bool own);
    void (*closed)(void *data); /* after takt_hints_close */
    void *data;
} takt_hints_options;

/* NULL: no memory.  The url, the trust and the namespace must outlive it. */
takt_hints *takt_hints_open(uv_loop_t *loop, const takt_redis_url *url, takt_tls_trust *trust,
                            const takt_hints_options *options);

/* This client has business with a ledger: listen to it for a while, and if `worker` is not 0, to
 * what is for that worker alone.  Never fails: without memory there is no hint. */
void takt_hints_want(takt_hints *hints, const char *limit, const char *key, uint64_t worker);

/* While held, a lost connection is not made again: the store's own is lost, too. */
void takt_hints_hold(takt_hints *hints, bool held);

void takt_hints_close(takt_hints *hints);

#endif
