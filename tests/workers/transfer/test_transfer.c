/*
 * Transfers against a real HTTP peer, which answers on the same loop.
 */
#include <criterion/criterion.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transfer/transfer.h"

#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static uv_loop_t loop;
static takt_transfers *all;

/* The peer: answers each request without a body, over as many connections as there are. */
static struct {
    uv_tcp_t listener;
    uv_tcp_t connections[64];
    unsigned accepted, asked;
    int port;
    bool silent; /* reads, and never answers */
} peer;

static void give_memory(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    static char memory[65536];

    (void)handle;
    (void)wanted;
    *buffer = uv_buf_init(memory, sizeof memory - 1);
}

static void hear(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    uv_buf_t answer = uv_buf_init((char *)ANSWER, sizeof ANSWER - 1);

    if (size < 0) {
        if (!uv_is_closing((uv_handle_t *)stream))
            uv_close((uv_handle_t *)stream, NULL);
        return;
    }
    buffer->base[size] = 0;
    for (const char *at = buffer->base; (at = strstr(at, "\r\n\r\n")) != NULL; at += 4) {
        peer.asked++;
        if (!peer.silent)
            cr_assert_eq(uv_try_write(stream, &answer, 1), (int)answer.len);
    }
}

static void welcome(uv_stream_t *listener, int status)
{
    uv_tcp_t *connection = &peer.connections[peer.accepted];

    cr_assert_eq(status, 0);
    cr_assert_lt(peer.accepted, sizeof peer.connections / sizeof *peer.connections);
    uv_tcp_init(&loop, connection);
    cr_assert_eq(uv_accept(listener, (uv_stream_t *)connection), 0);
    uv_read_start((uv_stream_t *)connection, give_memory, hear);
    peer.accepted++;
}

static void open_peer(void)
{
    struct sockaddr_in address;
    int size = sizeof address;

    cr_assert_eq(uv_loop_init(&loop), 0);
    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_tcp_init(&loop, &peer.listener);
    uv_tcp_bind(&peer.listener, (struct sockaddr *)&address, 0);
    uv_tcp_getsockname(&peer.listener, (struct sockaddr *)&address, &size);
    peer.port = ntohs(address.sin_port);
    cr_assert_eq(uv_listen((uv_stream_t *)&peer.listener, 64, welcome), 0);
    cr_assert_eq(takt_transfers_open(&all, &loop, 64, NULL), 0);
}

static void close_handle(uv_handle_t *handle, void *data)
{
    (void)data;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

/* Closes the transfers and lets go of the peer: nothing may be left on the loop then. */
static void close_peer(void)
{
    if (all)
        takt_transfers_close(all);
    uv_close((uv_handle_t *)&peer.listener, NULL);
    for (unsigned i = 0; i < peer.accepted; i++)
        close_handle((uv_handle_t *)&peer.connections[i], NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&loop), 0, "all of it is closed");
}

TestSuite(transfer, .init = open_peer, .fini = close_peer, .timeout = 280);

static unsigned done_count, awaited_count;
static CURLcode last_result;
static bool inside_start;

static size_t drop(char *text, size_t one, size_t size, void *data)
{
    (void)text;
    *(size_t *)data += size * one;
    return size * one;
}

static size_t received;

static void begin_with(CURL *handle, const char *host, takt_transfer_cb done, void *data)
{
    char url[64];

    cr_assert_not_null(handle);
    snprintf(url, sizeof url, "http://%s:%d/", host, peer.port);
    curl_easy_setopt(handle, CURLOPT_URL, url);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &received);
    inside_start = true;
    cr_assert(takt_transfers_start(all, handle, done, data));
    inside_start = false;
}

/* Begins a transfer from `host`. */
static CURL *begin(const char *host, takt_transfer_cb done, void *data)
{
    CURL *handle = takt_transfers_take(all);

    begin_with(handle, host, done, data);
    return handle;
}

static void count_done(void)
{
    if (++done_count == awaited_count)
        uv_stop(&loop);
}

static void note(CURL *handle, CURLcode result, void *data)
{
    (void)data;
    cr_assert_not(inside_start);
    last_result = result;
    takt_transfers_put(all, handle);
    count_done();
}

/* Runs until so many are done: the peer keeps the loop alive. */
static void run_until(unsigned count)
{
    awaited_count = count;
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(done_count, count);
}

/* Each end begins the next, until `*data` is used up. */
static void next(CURL *handle, CURLcode result, void *data)
{
    unsigned *left = data;

    cr_assert_eq(result, CURLE_OK);
    note(handle, result, NULL);
    if (*left > 0) {
        --*left;
        begin("127.0.0.1", next, left);
    }
}

Test(transfer, many_over_few_connections)
{
    unsigned left = 992;

    for (int i = 0; i < 8; i++)
        begin("127.0.0.1", next, &left);
    run_until(1000);
    cr_assert_eq(received, 5 * 1000);
    cr_assert_eq(peer.asked, 1000, "each is asked for once");
    cr_assert_eq(peer.accepted, 8, "connections are kept, and were %u", peer.accepted);
}

Test(transfer, a_handle_comes_back_blank)
{
    CURL *handle = begin("127.0.0.1", note, NULL);

    run_until(1);
    cr_assert_eq(last_result, CURLE_OK);
    cr_assert_eq(takt_transfers_take(all), handle, "and is used again");
    cr_assert(takt_transfers_start(all, handle, note, NULL));
    run_until(2);
    cr_assert_eq(last_result, CURLE_URL_MALFORMAT, "nothing is left of what it was set to");
}

static bool refuse(const struct sockaddr *address, void *data)
{
    cr_expect_eq(address->sa_family, AF_INET);
    cr_expect_eq(ntohs(((const struct sockaddr_in *)address)->sin_port), peer.port);
    ++*(unsigned *)data;
    return false;
}

Test(transfer, addresses_can_be_refused)
{
    unsigned refused = 0;
    CURL *handle = takt_transfers_take(all);

    takt_transfers_ask(handle, refuse, &refused);
    begin_with(handle, "127.0.0.1", note, NULL);
    run_until(1);
    cr_assert_eq(last_result, CURLE_COULDNT_CONNECT);
    cr_assert_eq(refused, 1);
    cr_assert_eq(peer.accepted, 0, "nothing is sent there");
    cr_assert_eq(begin("127.0.0.1", note, NULL), handle);
    run_until(2);
    cr_assert_eq(last_result, CURLE_OK, "a handle that comes back asks nobody");
    cr_assert_eq(refused, 1);
}

Test(transfer, names_are_looked_up)
{
    begin("localhost", note, NULL);
    run_until(1);
    cr_assert_eq(last_result, CURLE_OK);
    cr_assert_eq(peer.asked, 1);
}

Test(transfer, nobody_is_there)
{
    uv_tcp_t unheard;
    struct sockaddr_in address;
    int size = sizeof address, port = peer.port;

    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_tcp_init(&loop, &unheard);
    uv_tcp_bind(&unheard, (struct sockaddr *)&address, 0); /* bound, so that no other program has
                                                            * the port */
    uv_tcp_getsockname(&unheard, (struct sockaddr *)&address, &size);
    peer.port = ntohs(address.sin_port);
    begin("127.0.0.1", note, NULL);
    run_until(1);
    peer.port = port;
    cr_assert_eq(last_result, CURLE_COULDNT_CONNECT);
    uv_close((uv_handle_t *)&unheard, NULL);
    uv_run(&loop, UV_RUN_NOWAIT);
}

Test(transfer, a_silent_peer_is_given_up)
{
    CURL *handle;

    peer.silent = true;
    handle = begin("127.0.0.1", note, NULL);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, 20L);
    run_until(1);
    cr_assert_eq(last_result, CURLE_OPERATION_TIMEDOUT);
}

/* A port of which nobody takes the connections, so that after some no more is made. */
static int full_port(int *listener, int fill[8])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;

    *listener = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(*listener, (struct sockaddr *)&address, size), 0);
    cr_assert_eq(listen(*listener, 0), 0);
    cr_assert_eq(getsockname(*listener, (struct sockaddr *)&address, &size), 0);
    for (int i = 0; i < 8; i++) {
        fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(fill[i], (struct sockaddr *)&address, size);
    }
    return ntohs(address.sin_port);
}

/* libcurl closes such a socket without a word; another file may have its number then. */
Test(transfer, what_did_not_connect_is_forgotten)
{
    int listener, fill[8], pair[2];
    CURL *handle = takt_transfers_take(all);
    int open_port = peer.port;

    peer.port = full_port(&listener, fill);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, 20L);
    begin_with(handle, "127.0.0.1", note, NULL);
    run_until(1);
    peer.port = open_port;
    cr_assert_eq(last_result, CURLE_OPERATION_TIMEDOUT);

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    takt_transfers_close(all);
    all = NULL;
    uv_run(&loop, UV_RUN_NOWAIT);
    cr_assert_eq(write(pair[0], "a", 1), 1, "a socket of others goes on");
    cr_assert_eq(write(pair[1], "a", 1), 1);
    close(pair[0]);
    close(pair[1]);
    for (int i = 0; i < 8; i++)
        close(fill[i]);
    close(listener);
}

Test(transfer, closing_drops_what_is_under_way)
{
    peer.silent = true;
    begin("127.0.0.1", note, NULL);
    while (peer.asked == 0)
        uv_run(&loop, UV_RUN_ONCE);
    begin("127.0.0.1", note, NULL); /* one more that has hardly begun, and one that never will */
    takt_transfers_take(all);
    takt_transfers_close(all);
    all = NULL;
    close_handle((uv_handle_t *)&peer.connections[0], NULL);
    uv_run(&loop, UV_RUN_NOWAIT);
    cr_assert_eq(done_count, 0);
}

static void close_all(CURL *handle, CURLcode result, void *data)
{
    (void)handle;
    (void)data;
    cr_assert_eq(result, CURLE_OK);
    count_done();
    takt_transfers_close(all);
    all = NULL;
}

Test(transfer, a_callback_may_close)
{
    begin("127.0.0.1", close_all, NULL);
    begin("127.0.0.1", close_all, NULL);
    run_until(1);
    uv_run(&loop, UV_RUN_NOWAIT);
    cr_assert_eq(done_count, 1, "the other one is dropped");
}
