/*
 * A stand-in for an agent: a socket, a client of a memory store, and lib/relay. It runs on the loop
 * of the programs that it serves.
 */
#ifndef TAKT_TESTS_RELAY_STAND_IN_H
#define TAKT_TESTS_RELAY_STAND_IN_H

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <takt/relay.h>
#include <unistd.h>
#include <uv.h>

#include "redis/resp.h"

typedef struct stand_in stand_in;

typedef struct stand_in_connection {
    uv_pipe_t pipe;
    stand_in *agent;
    takt_resp *resp;
    takt_relay *relay;
    char held[4096];
    size_t held_size;
    struct stand_in_connection *next;
} stand_in_connection;

struct stand_in {
    uv_loop_t *loop;
    uv_pipe_t listener;
    takt_policy *policy;
    takt_client *client;
    takt_relays *relays;
    stand_in_connection *connections;
    char path[80];
    char url[100];
    bool frozen; /* reads nothing */
    bool holds;  /* keeps what it has to send, until stand_in_send_held */
    int limits;  /* that programs have stated */
    int wants;   /* statements of what they want */
    int closed;
};

static void stand_in_write(stand_in_connection *connection, const char *bytes, size_t size)
{
    uv_buf_t buffer = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)size);

    int written = uv_try_write((uv_stream_t *)&connection->pipe, &buffer, 1);

    cr_assert(written == (int)size || written == UV_EPIPE, "%d of %d", written, (int)size);
}

static void stand_in_send(void *data, const char *bytes, size_t size)
{
    stand_in_connection *connection = data;

    cr_assert_not_null(bytes);
    if (!connection->agent->holds) {
        stand_in_write(connection, bytes, size);
        return;
    }
    cr_assert_leq(connection->held_size + size, sizeof connection->held);
    memcpy(connection->held + connection->held_size, bytes, size);
    connection->held_size += size;
}

static inline void stand_in_send_held(stand_in *agent)
{
    agent->holds = false;
    for (stand_in_connection *at = agent->connections; at; at = at->next) {
        stand_in_write(at, at->held, at->held_size);
        at->held_size = 0;
    }
}

static void stand_in_gone(uv_handle_t *handle)
{
    stand_in_connection *connection = handle->data;

    takt_resp_free(connection->resp);
    free(connection);
}

static void stand_in_end(stand_in_connection *connection)
{
    stand_in_connection **at = &connection->agent->connections;

    if (uv_is_closing((uv_handle_t *)&connection->pipe))
        return;
    while (*at != connection)
        at = &(*at)->next;
    *at = connection->next;
    takt_relay_close(connection->relay);
    uv_close((uv_handle_t *)&connection->pipe, stand_in_gone);
}

static void stand_in_do(stand_in_connection *connection, const takt_reply *command)
{
    const char *words[8];
    size_t sizes[8];
    takt_error error;
    char text[TAKT_ERROR_TEXT_SIZE + 16];

    cr_assert_eq(command->type, TAKT_REPLY_ARRAY);
    cr_assert_leq(command->count, 8);
    for (int i = 0; i < command->count; i++) {
        words[i] = command[i + 1].text;
        sizes[i] = command[i + 1].size;
    }
    if (strcmp(words[0], "RELAY") != 0) {
        stand_in_write(connection, "+OK\r\n", 5);
        return;
    }
    connection->agent->limits += strcmp(words[1], "LIMIT") == 0;
    connection->agent->wants += strcmp(words[1], "WANT") == 0;
    if (takt_relay_command(connection->relay, command->count, words, sizes, &error) == 0)
        return;
    snprintf(text, sizeof text, "-ERR %s\r\n", error.text);
    stand_in_write(connection, text, strlen(text));
    stand_in_end(connection);
}

static void stand_in_allocate(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    static char bytes[65536];

    (void)handle, (void)size;
    *buffer = uv_buf_init(bytes, sizeof bytes);
}

static void stand_in_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    stand_in_connection *connection = stream->data;
    const takt_reply *command;
    const char *why = "";

    if (size < 0) {
        stand_in_end(connection);
        return;
    }
    cr_assert_eq(takt_resp_feed(connection->resp, buffer->base, (size_t)size, &why), 0, "%s", why);
    while (!uv_is_closing((uv_handle_t *)stream) &&
           takt_resp_next(connection->resp, &command, &why) > 0)
        stand_in_do(connection, command);
}

static void stand_in_accept(uv_stream_t *listener, int status)
{
    stand_in *agent = listener->data;
    stand_in_connection *connection = calloc(1, sizeof *connection);

    cr_assert_eq(status, 0);
    cr_assert_not_null(connection);
    connection->agent = agent;
    connection->resp = takt_resp_new(NULL);
    cr_assert_eq(uv_pipe_init(agent->loop, &connection->pipe, 0), 0);
    connection->pipe.data = connection;
    cr_assert_eq(uv_accept(listener, (uv_stream_t *)&connection->pipe), 0);
    uv_unref((uv_handle_t *)&connection->pipe);
    cr_assert_eq(takt_relay_open(&connection->relay, agent->relays, stand_in_send, connection), 0);
    connection->next = agent->connections;
    agent->connections = connection;
    if (!agent->frozen)
        uv_read_start((uv_stream_t *)&connection->pipe, stand_in_allocate, stand_in_read);
}

static void stand_in_event(takt_client *client, const takt_event *event, void *data)
{
    stand_in *agent = data;

    (void)client;
    (void)takt_relays_event(agent->relays, event);
}

/* Begins to listen; the store keeps its state. */
static void stand_in_listen(stand_in *agent)
{
    unlink(agent->path);
    cr_assert_eq(uv_pipe_init(agent->loop, &agent->listener, 0), 0);
    agent->listener.data = agent;
    cr_assert_eq(uv_pipe_bind(&agent->listener, agent->path), 0);
    cr_assert_eq(uv_listen((uv_stream_t *)&agent->listener, 16, stand_in_accept), 0);
    uv_unref((uv_handle_t *)&agent->listener);
}

static void stand_in_open(stand_in *agent, uv_loop_t *loop, const char *store)
{
    takt_options options = {.store = store, .on_event = stand_in_event, .data = agent};
    takt_error error;

    memset(agent, 0, sizeof *agent);
    signal(SIGPIPE, SIG_IGN);
    agent->loop = loop;
    snprintf(agent->path, sizeof agent->path, "/tmp/takt-relay-%d.sock", (int)getpid());
    snprintf(agent->url, sizeof agent->url, "agent:%s", agent->path);
    cr_assert_eq(takt_policy_new(&agent->policy, NULL), 0);
    cr_assert_eq(takt_open(&agent->client, loop, agent->policy, &options, &error), 0, "%s",
                 error.text);
    cr_assert_eq(takt_relays_open(&agent->relays, agent->client, "default"), 0);
    stand_in_listen(agent);
}

/* As in a crash: programs get no message. */
static void stand_in_stop_listening(stand_in *agent)
{
    while (agent->connections)
        stand_in_end(agent->connections);
    uv_close((uv_handle_t *)&agent->listener, NULL);
    unlink(agent->path);
}

static void stand_in_closed(void *data)
{
    ((stand_in *)data)->closed++;
}

static void stand_in_close(stand_in *agent)
{
    stand_in_stop_listening(agent);
    takt_relays_close(agent->relays);
    takt_close(agent->client, stand_in_closed, agent);
    uv_run(agent->loop, UV_RUN_DEFAULT);
    cr_assert_eq(agent->closed, 1);
    takt_policy_free(agent->policy);
}

#endif
