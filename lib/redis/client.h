/*
 * client.h: a client of a Redis or Valkey server on the program's own loop, for what is kept there
 * beside the limits: streams of jobs.
 *
 * The server is named by the URL of a store (takt/store.h): redis://, rediss:// or unix:, with the
 * same options, TLS and secrets.  Commands go out in the order in which they are said, what is said
 * in one turn of the loop in one write, and each is answered once, in that order.  A connection
 * that is lost is made again by itself, after a pause with jitter; what was under way then is
 * answered with a code, and nothing is ever said twice: nobody knows whether the server has done
 * it.
 *
 * Units: durations are int64 microseconds, sizes are bytes.  Threads: a connection belongs to its
 * loop's thread; every function here is called on it, and so are the callbacks, never inside a
 * function of this header but takt_redis_reset, takt_redis_refused and takt_redis_close, which say
 * so.
 */
#ifndef TAKT_REDIS_CLIENT_H
#define TAKT_REDIS_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include <takt/error.h>

#include "redis/reply.h"

struct uv_loop_s; /* libuv's loop: this header does not need <uv.h> */

typedef struct takt_redis takt_redis;

/* A zeroed struct has the defaults, and hears of nothing. */
typedef struct takt_redis_options {
    /* A command that is not answered within that time ends the connection, as takt_redis_reset
     * does with TAKT_E_STORE_TIMEOUT; so does a server that does not greet in time.  0: one second.
     * Less than 0: answers are waited for without end (a greeting for a second), for commands that
     * block. */
    int64_t timeout_us;
    /* The largest reply that is taken in: bytes of all its strings (0: 64 MiB), and values, arrays
     * included (0: 65536), which take 40 bytes each.  A larger one ends the connection with
     * TAKT_E_STORE_SPACE, before its memory is asked for. */
    size_t reply_bytes_max;
    int reply_values_max;

    /* Commands can be said. */
    void (*on_ready)(void *data);
    /* The connection was lost, or an attempt to connect failed; commands under way are answered
     * next.  Another attempt will follow.  `text` tells the server, without user and password, and
     * what is wrong. */
    void (*on_lost)(void *data, int code, const char *text);
    /* A reply while no command is under way, such as a message of a channel.  NULL: there must be
     * none. */
    void (*on_pushed)(void *data, const takt_reply *reply);
    /* After takt_redis_close: nothing of it is left. */
    void (*on_closed)(void *data);
    void *data;
} takt_redis_options;

/*
 * Begins to connect, and keeps the loop alive until it is closed.  The options are read during the
 * call.  0, or TAKT_E_STORE_URL (`url` names no server), TAKT_E_STORE_ACCESS (a secret cannot be
 * read), TAKT_E_SYSTEM or TAKT_E_NOMEM with words in `error`, which show nothing of the URL but
 * host, path and database.  A server that is not there is no error: on_lost() tells.
 */
int takt_redis_open(takt_redis **redis, struct uv_loop_s *loop, const char *url,
                    const takt_redis_options *options, takt_error *error);

/* 1: commands can be said; 0: not now, on_ready() will tell. */
int takt_redis_is_ready(const takt_redis *redis);

/*
 * Says a command of `count` arguments, which are copied; `sizes` are theirs, NULL: they end with
 * NUL.  Without `command` its answers, however many, come as on_pushed().  0, or TAKT_E_STORE (not
 * connected) or TAKT_E_NOMEM: nothing was said, answered() is not called.
 */
int takt_redis_send(takt_redis *redis, takt_redis_command *command, int count,
                    const char *const *arguments, const size_t *sizes);

/* Sends now what was said in this turn of the loop, for who does something next that may end the
 * program: as much of it as the system takes. */
void takt_redis_flush(takt_redis *redis);

/*
 * Leaves the connection at hand as if it had been lost, with that code and words: commands under
 * way are given up, inside the call, and another connection is made.  Over TCP the server is told
 * by RST, so that it drops what it has not read yet; what it has read it may still do.  Nothing
 * happens where there is no connection.
 */
void takt_redis_reset(takt_redis *redis, int code, const char *text);

/*
 * What an error reply means, for errors that their receiver did not expect: the code, and words
 * with the server and the error's first word alone, because servers repeat arguments in their
 * errors.  Where no command can succeed on this connection any more (the server has become a
 * replica, the password is not right any more), it is left as takt_redis_reset does.
 */
int takt_redis_refused(takt_redis *redis, const takt_reply *reply, takt_error *error);

/* Ends it all: commands under way are answered with TAKT_E_CANCELED, inside the call, then
 * on_closed() comes, later.  NULL and a second time are harmless until then. */
void takt_redis_close(takt_redis *redis);
#endif
