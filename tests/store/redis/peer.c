/*
 * peer.c: see peer.h.
 */
#include "store/redis/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int status, const char *what)
{
    if (status >= 0)
        return;
    fprintf(stderr, "peer: %s: %s\n", what, uv_strerror(status));
    abort();
}

static void on_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    struct peer *peer = handle->data;

    (void)wanted;
    *buffer = uv_buf_init(peer->bytes + peer->received,
                          (unsigned)(sizeof peer->bytes - 1 - peer->received));
}

static void hang_up(struct peer *peer)
{
    if (!peer->connected)
        return;
    peer->connected = false;
    uv_close((uv_handle_t *)&peer->client, NULL);
}

static void send_command(struct peer *peer, const char *bytes, size_t size)
{
    while (size > 0) {
        uv_buf_t buffer = uv_buf_init((char *)(size_t)bytes, (unsigned)size);
        int sent = uv_try_write((uv_stream_t *)&peer->client, &buffer, 1);
        if (sent < 0) /* the peer has closed, or reads no more: no error here */
            return;
        bytes += sent;
        size -= (size_t)sent;
    }
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct peer *peer = stream->data;

    (void)buffer;
    if (size < 0) {
        peer->end = (int)size;
        hang_up(peer);
        return;
    }
    peer->received += (size_t)size;
    peer->bytes[peer->received] = '\0';
    if (!peer->greeted && peer->greeting != NULL) {
        peer->greeted = true;
        send_command(peer, peer->greeting, strlen(peer->greeting));
    } else if (peer->answer != NULL) {
        send_command(peer, peer->answer,
                     peer->answer_size > 0 ? peer->answer_size : strlen(peer->answer));
        if (peer->hang_up)
            hang_up(peer);
    }
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct peer *peer = stream->data;

    must(status, "connection");
    if (peer->connected || uv_is_closing((uv_handle_t *)&peer->client))
        return; /* one at a time */
    must(uv_tcp_init(stream->loop, &peer->client), "client");
    peer->client.data = peer;
    must(uv_accept(stream, (uv_stream_t *)&peer->client), "accept");
    peer->connected = true;
    peer->greeted = false;
    peer->end = 0;
    peer->received = 0;
    peer->accepted++;
    must(uv_read_start((uv_stream_t *)&peer->client, on_alloc, on_read), "read");
}

void peer_listen(struct peer *peer, uv_loop_t *loop)
{
    struct sockaddr_in address;
    int size = sizeof address;

    memset(peer, 0, sizeof *peer);
    must(uv_tcp_init(loop, &peer->listener), "listener");
    peer->listener.data = peer;
    must(uv_ip4_addr("127.0.0.1", 0, &address), "address");
    must(uv_tcp_bind(&peer->listener, (struct sockaddr *)&address, 0), "bind");
    must(uv_listen((uv_stream_t *)&peer->listener, 16, on_connection), "listen");
    must(uv_tcp_getsockname(&peer->listener, (struct sockaddr *)&address, &size), "name");
    peer->port = ntohs(address.sin_port);
}

void peer_close(struct peer *peer)
{
    hang_up(peer);
    uv_close((uv_handle_t *)&peer->listener, NULL);
}
