/*
 * status_server.h: a small HTTP server for probes and scrapers. It serves texts that are in memory,
 * to few and short connections.
 */
#ifndef TAKT_KIT_STATUS_SERVER_H
#define TAKT_KIT_STATUS_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include <takt/error.h>
#include <uv.h>

typedef struct takt_status_server takt_status_server;

typedef struct takt_status_site {
    /* "unix:PATH", a port of the loopback, or, with `abroad`, also ADDRESS:PORT ("0.0.0.0:9464",
     * "[::]:9464"). */
    const char *address;
    bool abroad;
    const char *what; /* is served, for messages: "its status" */
    /* The page at a path: the body of the answer, which the server frees, with its size and type;
     * NULL: no memory. *code: the result of parsing the request (200: good) goes in, the status of
     * the answer comes out. */
    char *(*page)(void *data, const char *path, int *code, size_t *size, const char **type);
    void *data;
} takt_status_site;

/* Listens, without keeping the loop alive; the site is copied, its strings must outlive the server.
 * 0, or a code and why. */
int takt_status_server_open(takt_status_server **server, uv_loop_t *loop,
                            const takt_status_site *site, takt_error *error);

/* Stops serving; the memory is freed when the loop has run. NULL is harmless. */
void takt_status_server_close(takt_status_server *server);

#endif
