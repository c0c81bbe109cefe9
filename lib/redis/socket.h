/*
 * socket.h: bytes to and from a server, over TCP or a unix socket, on a libuv loop.
 *
 * Decides how a connection is made, kept alive and closed. libuv watches a descriptor of ours. A
 * libuv stream would write without MSG_NOSIGNAL, and a library must not let SIGPIPE end its
 * program; it would also keep the loop alive while it connects and writes.
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
    /* could not connect, or was cut: the owner must close the socket */
    void (*ended)(void *data, int code, const char *text);
    void (*gone)(void *data); /* after takt_redis_socket_close: the socket is freed */
} takt_redis_socket_events;

/*
 * Begins to connect. Of a host with several addresses the `attempt`-th is tried first. Returns 0,
 * or a code and a message in `error` if the failure is known at once. The url and the events must
 * outlive the socket.
 */
int takt_redis_socket_open(takt_redis_socket **socket, uv_loop_t *loop, const takt_redis_url *url,
                           unsigned attempt, const takt_redis_socket_events *events, void *data,
                           takt_error *error);

/* Sends what the system takes now; keeps the rest and sends it later. False: no memory for the
 * rest. */
bool takt_redis_socket_write(takt_redis_socket *socket, const char *bytes, size_t size);

/* Reads bytes that have arrived, without waiting for the loop. */
void takt_redis_socket_drain(takt_redis_socket *socket);

/*
 * Closes a connection: the only further event is gone(). With `reset` a TCP peer gets a RST, and
 * bytes that its system has not received are dropped, so that a server which was unreachable does
 * not execute given-up commands later. (A frozen server may still read bytes that its system has
 * received.)
 */
void takt_redis_socket_close(takt_redis_socket *socket, bool reset);

#endif
