/*
 * takt/redis.h: a conversation with a Redis or Valkey server on the program's own loop, for
 * programs that keep more there than their limits: streams of jobs, for instance.
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
#ifndef TAKT_REDIS_H
#define TAKT_REDIS_H

#include <stddef.h>
#include <stdint.h>

#include <takt/error.h>
#include <takt/links.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* libuv's loop: this header does not need <uv.h> */

typedef struct takt_redis takt_redis;
typedef struct takt_redis_command takt_redis_command;

typedef enum takt_reply_type {
    TAKT_REPLY_NIL,
    TAKT_REPLY_STATUS,
    TAKT_REPLY_ERROR,
    TAKT_REPLY_INTEGER,
    TAKT_REPLY_STRING,
    TAKT_REPLY_ARRAY
} takt_reply_type;

/*
 * A value.  Those of an array follow it, each with all that is in it, so a reply is read from its
 * first value on, one after the other: of ["a", [1, 2], "b"] reply[0] is the array (count 3),
 * reply[1] is "a", reply[2] the array in it (count 2), reply[3] is 1, reply[4] is 2, reply[5] "b".
 * takt_reply_after steps over a value with all that is in it.
 */
typedef struct takt_reply {
    takt_reply_type type;
    int64_t integer;
    int count;        /* of an array: values in it, those in arrays of it not counted */
    const char *text; /* of a status, an error, a string: ends with a NUL that size does not count;
                         a string may hold more of them */
    size_t size;
} takt_reply;

/* The value behind this one and all that is in it.  Only for a value that has one behind it; for
 * the reply as a whole it is its end. */
TAKT_EXPORT const takt_reply *takt_reply_after(const takt_reply *reply);

/*
 * A command under way: its owner's memory until answered() is called, once, with the reply (which
 * may be an error, and lives during the call), or with NULL where the connection was lost with
 * `code` before one came.  answered() may say more commands, also with this same memory.
 */
struct takt_redis_command {
    takt_link link;                                                                   /* private */
    void (*answered)(takt_redis_command *command, const takt_reply *reply, int code); /* public */
    void *data;       /* public: the owner's own */
    uint64_t said_ns; /* private */
};

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
TAKT_EXPORT int takt_redis_open(takt_redis **redis, struct uv_loop_s *loop, const char *url,
                                const takt_redis_options *options, takt_error *error);

/* 1: commands can be said; 0: not now, on_ready() will tell. */
TAKT_EXPORT int takt_redis_is_ready(const takt_redis *redis);

/*
 * Says a command of `count` arguments, which are copied; `sizes` are theirs, NULL: they end with
 * NUL.  Without `command` its answers, however many, come as on_pushed().  0, or TAKT_E_STORE (not
 * connected) or TAKT_E_NOMEM: nothing was said, answered() is not called.
 */
TAKT_EXPORT int takt_redis_send(takt_redis *redis, takt_redis_command *command, int count,
                                const char *const *arguments, const size_t *sizes);

/* Sends now what was said in this turn of the loop, for who does something next that may end the
 * program: as much of it as the system takes. */
TAKT_EXPORT void takt_redis_flush(takt_redis *redis);

/*
 * Leaves the connection at hand as if it had been lost, with that code and words: commands under
 * way are given up, inside the call, and another connection is made.  Over TCP the server is told
 * by RST, so that it drops what it has not read yet; what it has read it may still do.  Nothing
 * happens where there is no connection.
 */
TAKT_EXPORT void takt_redis_reset(takt_redis *redis, int code, const char *text);

/*
 * What an error reply means, for errors that their receiver did not expect: the code, and words
 * with the server and the error's first word alone, because servers repeat arguments in their
 * errors.  Where no command can succeed on this connection any more (the server has become a
 * replica, the password is not right any more), it is left as takt_redis_reset does.
 */
TAKT_EXPORT int takt_redis_refused(takt_redis *redis, const takt_reply *reply, takt_error *error);

/* Ends it all: commands under way are answered with TAKT_E_CANCELED, inside the call, then
 * on_closed() comes, later.  NULL and a second time are harmless until then. */
TAKT_EXPORT void takt_redis_close(takt_redis *redis);

#ifdef __cplusplus
}
#endif
#endif
