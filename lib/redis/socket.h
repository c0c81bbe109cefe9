/*
 * socket.h: bytes to and from a server, over TCP or a socket in the file system, on a libuv loop.
 *
 * Decides how a connection is made, kept alive and left.  A descriptor of our own watched by libuv,
 * not a libuv stream: those write without MSG_NOSIGNAL, and a library must not let SIGPIPE end the
 * program it is in; they also keep the loop alive while they connect and write.
 */
#ifndef TAKT_REDIS_SOCKET_H
#define TAKT_REDIS_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#include <uv.h>

#include "redis/url.h"

typedef struct takt_redis_socket takt_redis_socket;

/* Called on the loop's thread, never inside a function of this file. */
typedef struct takt_redis_socket_events {
    void (*opened)(void *data);
    void (*received)(void *data, const char *bytes, size_t size);
    void (*ended)(void *data, int code, const char *text); /* could not connect, or was cut: the
                                                              socket is to be closed */
    void (*gone)(void *data); /* after takt_redis_socket_close: nothing of it is left */
} takt_redis_socket_events;

/*
 * Begins to connect; of a host with several addresses the `attempt`-th is tried first.  Returns 0,
 * or a code with words in `error` where that is known at once.  The url and the events must outlive
 * the socket.
 */
int takt_redis_socket_open(takt_redis_socket **socket, uv_loop_t *loop, const takt_redis_url *url,
                           unsigned attempt, const takt_redis_socket_events *events, void *data,
                           takt_error *error);

/* Sends what the system takes now; the rest is kept and follows.  False: no memory for that. */
bool takt_redis_socket_write(takt_redis_socket *socket, const char *bytes, size_t size);

/* Takes in what has come already, without waiting for the loop to say so. */
void takt_redis_socket_drain(takt_redis_socket *socket);

/*
 * Ends a connection: no event comes any more but gone().  With `reset` a peer over TCP is told by
 * RST that nobody is there any more, and what its system has not taken in yet is dropped, so that a
 * server which was out of reach does not work off later what its client has given up.  (What it has
 * taken in, a server that was frozen may still read.)
 */
void takt_redis_socket_close(takt_redis_socket *socket, bool reset);

#endif
