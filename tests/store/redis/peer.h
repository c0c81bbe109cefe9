/*
 * peer.h: a server on a port of the loopback, on the test's own loop, that answers with the bytes
 * that the test wants.
 */
#ifndef TAKT_TESTS_STORE_REDIS_PEER_H
#define TAKT_TESTS_STORE_REDIS_PEER_H

#include <stdbool.h>
#include <uv.h>

struct peer {
    uv_tcp_t listener;
    uv_tcp_t client; /* the last one */
    int port;
    int accepted;
    bool connected;
    const char *greeting; /* said when the first bytes come; NULL: nothing */
    const char *answer;   /* said when bytes come after that; NULL: nothing */
    size_t answer_size;   /* 0: up to its NUL */
    bool hang_up;         /* closes the connection behind the answer */
    bool greeted;
    int end; /* how the last connection ended: UV_EOF, UV_ECONNRESET ...; 0: it has not */
    size_t received;
    char bytes[65536];
};

void peer_listen(struct peer *peer, uv_loop_t *loop);
void peer_close(struct peer *peer); /* run the loop afterwards */

#endif
