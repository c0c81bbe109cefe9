/*
 * subscribe.h: hints that something happened to a ledger (a block, its end, a reset), so that its
 * waiters claim earlier than planned. Hints are optional: a lost one delays a waiter until its
 * keepalive, a useless one costs a claim.
 *
 * A hint is a message on the channel with the ledger's name, by sharded publish if the server has
 * it. A hint to one worker, to claim now, has a channel per worker: on a common channel a wake-up
 * would wake all workers. Listening uses a connection of its own, made at the first use.
 */
#ifndef TAKT_STORE_REDIS_SUBSCRIBE_H
#define TAKT_STORE_REDIS_SUBSCRIBE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "redis/connection.h"

#define TAKT_HINTS_MAX 4096 /* channels listened to at once; ledgers beyond that get no hints */

typedef struct takt_hints takt_hints;

typedef struct takt_hints_options {
    const char *name_space;
    /* `own`: the hint is for this worker only. Also called after subscribing, for hints missed
     * before. `by` is the message: the worker that knows the news already; "": none does. */
    void (*on_hint)(void *data, const char *limit, const char *key, bool own, const char *by,
                    size_t by_size);
    /* In a cluster: a channel is no longer heard here, since its slot has moved. NULL: not wanted.
     */
    void (*on_moved)(void *data);
    void (*closed)(void *data); /* after takt_hints_close */
    void *data;
} takt_hints_options;

/* Listens beside the store's own connection. NULL: no memory. The namespace must outlive the
 * hints, which are closed no later than the connection. */
takt_hints *takt_hints_open(uv_loop_t *loop, takt_redis_connection *beside,
                            const takt_hints_options *options);

/* This client uses a ledger: listens to it for a while, and if `worker` is not 0, to the channel of
 * that worker. Never fails: without memory there are no hints. */
void takt_hints_want(takt_hints *hints, const char *limit, const char *key, uint64_t worker);

/* Drops the channels of ledgers that are on another server now: stays() tells whether one stays.
 * `own` as in on_hint. Those that stay, but are no longer heard, are subscribed to again. */
void takt_hints_review(takt_hints *hints,
                       bool (*stays)(void *data, const char *limit, const char *key, bool own));

/* Drops the channels that have not been used for a minute. Returns how many are left. */
size_t takt_hints_drop_idle(takt_hints *hints);

/* While held, a lost connection is not made again, since the store's own connection is lost,
 * too. */
void takt_hints_hold(takt_hints *hints, bool held);

void takt_hints_close(takt_hints *hints);

#endif
