/*
 * client.h: a client of a Redis or Valkey server on the program's own loop, for data kept there
 * beside the limits: streams of jobs.
 *
 * The URL is that of a store (takt/store.h): redis://, rediss://, redis-sentinel://,
 * rediss-sentinel:// or unix:, with the same options, TLS and secrets. Commands are sent in the
 * order of the calls, those of one turn of the loop in one write, and each is answered once, in
 * that order. A lost connection is made again after a pause with jitter. Commands under way at the
 * loss fail with a code; they are never sent again, since the server may have executed them.
 *
 * Units: durations are int64 microseconds, sizes are bytes. Threads: a client belongs to its loop's
 * thread; its functions and callbacks run there. Callbacks are never called inside a function of
 * this header, except in takt_redis_reset, takt_redis_refused and takt_redis_close.
 */
#ifndef TAKT_REDIS_CLIENT_H
#define TAKT_REDIS_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include <takt/error.h>

#include "redis/reply.h"
#include "redis/url.h"

struct uv_loop_s; /* libuv's loop, declared here to avoid <uv.h> */

typedef struct takt_redis takt_redis;

/* Zeros are the defaults, without callbacks. */
typedef struct takt_redis_options {
    /* The time-out of a command and of the greeting. A time-out ends the connection, as
     * takt_redis_reset does with TAKT_E_STORE_TIMEOUT. 0: one second. Less than 0: no time-out for
     * commands (one second for the greeting), for commands that block. */
    int64_t timeout_us;
    /* The largest accepted reply: bytes of all its strings (0: 64 MiB), and values including arrays
     * (0: 65536), which take 40 bytes each. A larger reply ends the connection with
     * TAKT_E_STORE_SPACE before memory is allocated for it. */
    size_t reply_bytes_max;
    int reply_values_max;

    /* A node of the URL's cluster to connect to, instead of the URL's own server. NULL: none. */
    const takt_redis_address *at;
    /* The key that all commands are about, or one with the same hash tag: in a cluster the client
     * connects to the node that has it, or to the one that it was moved to before the rest of its
     * slot. Its user needs CLUSTER SLOTS, XRANGE and ASKING then; a user who may not run CLUSTER
     * SLOTS, and a server that is no cluster, are left as they are. NULL: none. */
    const char *key;

    /* The connection is ready for commands. */
    void (*on_ready)(void *data);
    /* The connection was lost, or an attempt to connect failed; commands under way fail next.
     * Another attempt follows. `text` names the server, without user and password, and the
     * reason. */
    void (*on_lost)(void *data, int code, const char *text);
    /* A reply while no command is under way, such as a message of a channel. NULL: no such reply is
     * expected. */
    void (*on_pushed)(void *data, const takt_reply *reply);
    /* After takt_redis_close: the client is freed. */
    void (*on_closed)(void *data);
    void *data;
} takt_redis_options;

/*
 * Begins to connect, and keeps the loop alive until closed. The options are read during the call.
 * 0, or TAKT_E_STORE_URL (`url` is wrong), TAKT_E_STORE_ACCESS (a secret cannot be read),
 * TAKT_E_SYSTEM or TAKT_E_NOMEM with a message in `error` that shows only host, path and database
 * of the URL. An unreachable server is reported by on_lost().
 */
int takt_redis_open(takt_redis **redis, struct uv_loop_s *loop, const char *url,
                    const takt_redis_options *options, takt_error *error);

/* Where the client is connected or connects to; valid until the client is closed. */
const takt_redis_url *takt_redis_server(const takt_redis *redis);

/* 1: ready for commands; 0: not now, on_ready() follows. */
int takt_redis_is_ready(const takt_redis *redis);

/*
 * Sends a command of `count` arguments, which are copied; `sizes` are their sizes, NULL: they end
 * with NUL. Without `command` its answers come as on_pushed(). 0, or TAKT_E_STORE (not connected)
 * or TAKT_E_NOMEM: nothing was sent, and answered() is not called.
 */
int takt_redis_send(takt_redis *redis, takt_redis_command *command, int count,
                    const char *const *arguments, const size_t *sizes);

/* Sends the commands of this turn of the loop now, as far as the system takes them: for a caller
 * whose next step may end the program. */
void takt_redis_flush(takt_redis *redis);

/*
 * Closes the present connection as if it had been lost, with that code and text: commands under way
 * fail, inside the call, and another connection is made. Over TCP the server gets a RST, so that it
 * drops commands that it has not read; it may execute those that it has read. Harmless without a
 * connection.
 */
void takt_redis_reset(takt_redis *redis, int code, const char *text);

/*
 * Handles an unexpected error reply: returns the code, and a message with the server and the first
 * word of the error only, since servers repeat arguments in errors. If no command can succeed on
 * this connection from now on (the server has become a replica, the password is wrong), the
 * connection is closed as by takt_redis_reset.
 */
int takt_redis_refused(takt_redis *redis, const takt_reply *reply, takt_error *error);

/* Closes the client: commands under way fail with TAKT_E_CANCELED, inside the call; on_closed()
 * follows later. NULL and a second call before on_closed() are harmless. */
void takt_redis_close(takt_redis *redis);
#endif
