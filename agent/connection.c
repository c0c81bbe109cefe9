/*
 * connection.c: bytes in and out. A connection has memory for a part of a command, or for answers
 * that are not sent yet, only while there are any: thousands of idle connections cost little.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent.h"
#include "reply.h"

#define READ_SIZE  65536
#define READ_MAX   ((size_t)2 * READ_SIZE) /* in one turn of the loop, so that others have theirs */
#define BEHIND_MAX ((size_t)1024 * 1024)   /* bytes of commands behind one that waits */
#define OUT_MAX    ((size_t)4 * 1024 * 1024) /* bytes that a slow reader leaves to us */
#define OUT_KEPT   4096                      /* a larger buffer is freed when it is empty */
#define GROUPS_MAX 256

/* The largest command: its array and 512 words. */
static const takt_resp_max of_commands = {
    .depth = 1, .nodes = 513, .bytes = 65536, .code = TAKT_E_INVALID};

/* ---- its end --------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    takt_agent_connection *connection = handle->data;

    free(connection->out.bytes);
    free(connection->written);
    takt_resp_free(connection->input.resp);
    free(connection);
}

void takt_agent_connection_end(takt_agent_connection *connection)
{
    takt_agent *agent = connection->agent;

    if (connection->closing)
        return;
    connection->closing = true;
    takt_list_remove(&connection->link);
    takt_list_remove(&connection->to_do);
    agent->connections.count--;
    agent->callbacks.left(connection);
    uv_close((uv_handle_t *)&connection->socket, on_closed);
}

/* ---- out ------------------------------------------------------------------------------------- */

static void on_written(uv_write_t *request, int failed)
{
    takt_agent_connection *connection = request->data;

    free(connection->written);
    connection->written = NULL;
    if (failed)
        takt_agent_connection_end(connection);
    else
        takt_agent_go_on(connection);
}

/* Hands over what the system did not take at once. */
static void write_later(takt_agent_connection *connection, size_t from)
{
    takt_resp_out *out = &connection->out;
    uv_buf_t rest = uv_buf_init(out->bytes + from, (unsigned)(out->size - from));

    connection->written = out->bytes;
    *out = (takt_resp_out){0};
    connection->writing.data = connection;
    if (uv_write(&connection->writing, &connection->socket.stream, &rest, 1, on_written) != 0)
        takt_agent_connection_end(connection);
}

static void write_out(takt_agent_connection *connection)
{
    takt_resp_out *out = &connection->out;
    uv_buf_t all = uv_buf_init(out->bytes, (unsigned)out->size);
    int sent;

    if (out->size == 0 || connection->written) {
        if (out->size > OUT_MAX) {
            connection->agent->figures.slow++;
            takt_agent_connection_end(connection);
        }
        return;
    }
    sent = uv_try_write(&connection->socket.stream, &all, 1);
    if (sent < 0 && sent != UV_EAGAIN) {
        takt_agent_connection_end(connection);
    } else if (sent < 0 || (size_t)sent < out->size) {
        write_later(connection, sent < 0 ? 0 : (size_t)sent);
    } else {
        out->size = 0;
        if (out->capacity > OUT_KEPT || !connection->input.resp) {
            free(out->bytes);
            *out = (takt_resp_out){0};
        }
    }
}

/* ---- in -------------------------------------------------------------------------------------- */

static void refuse_stream(takt_agent_connection *connection, const char *why)
{
    takt_agent_reply_error(connection, "ERR", "Protocol error: %s", why);
    connection->ends = true;
}

static bool is_command(const takt_reply *command)
{
    if (command->type != TAKT_REPLY_ARRAY)
        return false;
    for (int i = 1; i <= command->count; i++)
        if (command[i].type != TAKT_REPLY_STRING)
            return false;
    return true;
}

/* The next connection that receives part of a command uses this memory. */
static void leave_resp(takt_agent_connection *connection)
{
    takt_agent *agent = connection->agent;

    if (!connection->input.resp || !takt_resp_is_between(connection->input.resp))
        return;
    if (!agent->connections.spare_resp)
        agent->connections.spare_resp = connection->input.resp;
    else
        takt_resp_free(connection->input.resp);
    connection->input.resp = NULL;
}

/* Whether the command need not wait for the answer to those before it. */
static bool joins(const takt_agent_connection *connection, const takt_reply *command)
{
    return is_command(command) && command->count > 0 &&
           connection->agent->callbacks.joins(connection, command + 1, command->count);
}

static bool may_go_on(const takt_agent_connection *connection)
{
    bool waits = connection->waits >= TAKT_AGENT_WAITS_MAX || connection->call ||
                 (connection->waits > 0 && connection->next) ||
                 takt_relay_is_busy(connection->relay);

    return !connection->closing && !connection->ends && connection->input.resp && !waits;
}

/* Does the commands that are here, up to one that waits for the answer to another one. */
static void do_commands(takt_agent_connection *connection)
{
    const takt_reply *command;
    const char *why;
    int code;

    while (may_go_on(connection)) {
        connection->input.behind = 0;
        command = connection->next;
        code = command ? 1 : takt_resp_next(connection->input.resp, &command, &why);
        connection->next = NULL;
        if (code == 0)
            code = connection->input.refused;
        if (code == 0)
            leave_resp(connection);
        if (code == 0 || (code < 0 && connection->waits > 0))
            return; /* an error comes after the answers */
        if (code < 0)
            refuse_stream(connection, code == TAKT_E_NOMEM ? "no memory"
                                      : code == TAKT_E_INVALID
                                          ? "a command has at most 512 words and 65536 bytes"
                                          : "a command is an array of strings");
        else if (connection->waits > 0 && !joins(connection, command))
            connection->next = command;
        else if (!is_command(command))
            refuse_stream(connection, "a command is an array of strings");
        else if (command->count > 0)
            connection->agent->callbacks.command(connection, command + 1, command->count);
    }
}

static takt_resp *take_resp(takt_agent *agent)
{
    takt_resp *resp = agent->connections.spare_resp;

    agent->connections.spare_resp = NULL;
    return resp ? resp : takt_resp_new(&of_commands);
}

static void take(takt_agent_connection *connection, const char *bytes, size_t size)
{
    const char *why;

    if (!connection->input.resp)
        connection->input.resp = take_resp(connection->agent);
    if (!connection->input.resp) {
        takt_agent_connection_end(connection);
        return;
    }
    connection->input.behind += size;
    if (connection->input.refused == 0)
        connection->input.refused = takt_resp_feed(connection->input.resp, bytes, size, &why);
    do_commands(connection);
    if (connection->input.behind > BEHIND_MAX && !connection->closing) {
        takt_agent_reply_error(connection, "ERR",
                               "too many commands behind one that waits; use TAG");
        connection->ends = true;
    }
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    takt_agent_connection *connection = handle->data;

    (void)suggested;
    *buffer = uv_buf_init(connection->agent->connections.buffer, READ_SIZE);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    takt_agent_connection *connection = stream->data;

    if (count < 0) {
        takt_agent_connection_end(connection);
        return;
    }
    if (count == 0 || connection->ends)
        return;
    connection->input.read_now += (size_t)count;
    takt_agent_go_on(connection);
    take(connection, buffer->base, (size_t)count);
    if (!connection->closing && connection->input.reads &&
        (connection->input.read_now > READ_MAX || takt_relay_is_busy(connection->relay))) {
        connection->input.reads = false;
        uv_read_stop(stream);
    }
}

/* Whether it may read in this turn: not while its own answers lie unread, or too many are to come.
 */
static void read_on(takt_agent_connection *connection)
{
    bool reads = !connection->ends && !takt_relay_is_busy(connection->relay) &&
                 (!connection->written || connection->out.size < OUT_MAX / 4);

    connection->input.read_now = 0;
    if (reads && !connection->input.reads)
        uv_read_start(&connection->socket.stream, on_room, on_read);
    connection->input.reads = reads || connection->input.reads;
}

/* ---- each turn ------------------------------------------------------------------------------- */

void takt_agent_connections_turn(takt_agent *agent)
{
    takt_link now;

    takt_list_init(&now);
    takt_list_move(&now, &agent->connections.to_do);
    while (!takt_list_empty(&now)) {
        takt_agent_connection *connection = TAKT_HOLDER(now.next, takt_agent_connection, to_do);
        takt_list_remove(&connection->to_do);
        if (connection->broken)
            takt_agent_connection_end(connection);
        else if (!connection->call)
            do_commands(connection);
        if (!connection->closing)
            write_out(connection);
        if (!connection->closing)
            read_on(connection);
        if (!connection->closing && connection->ends && !connection->written &&
            connection->out.size == 0)
            takt_agent_connection_end(connection);
    }
}

/* ---- accepting ------------------------------------------------------------------------------- */

static bool has_group(int fd, gid_t group)
{
    gid_t groups[GROUPS_MAX];
    socklen_t size = sizeof(groups);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0)
        return false;
    for (size_t i = 0; i < size / sizeof(groups[0]); i++)
        if (groups[i] == group)
            return true;
    return false;
}

/* Whether the mode of the socket's file permits the process at the other end, even if another
 * process handed it the connection. */
static bool may_connect(int fd, int listener)
{
    struct sockaddr_un address = {0};
    socklen_t address_size = sizeof(address), peer_size;
    struct ucred peer;
    struct stat about;

    peer_size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0)
        return false;
    if (peer.uid == 0 || peer.uid == geteuid())
        return true;
    if (getsockname(listener, (struct sockaddr *)&address, &address_size) != 0 ||
        address.sun_path[0] != '/' || stat(address.sun_path, &about) != 0)
        return false;
    return (about.st_mode & S_IWOTH) != 0 ||
           (peer.uid == about.st_uid && (about.st_mode & S_IWUSR) != 0) ||
           ((about.st_mode & S_IWGRP) != 0 &&
            (peer.gid == about.st_gid || has_group(fd, about.st_gid)));
}

static bool is_let_in(takt_agent_connection *connection, uv_stream_t *listener)
{
    int fd, listening;

    return uv_fileno((uv_handle_t *)&connection->socket, &fd) == 0 &&
           uv_fileno((uv_handle_t *)listener, &listening) == 0 && may_connect(fd, listening);
}

static takt_agent_connection *new_connection(takt_agent *agent, bool is_unix)
{
    takt_agent_connection *made = calloc(1, sizeof(*made));

    if (!made)
        return NULL;
    if ((is_unix ? uv_pipe_init(&agent->loop, &made->socket.pipe, 0)
                 : uv_tcp_init(&agent->loop, &made->socket.tcp)) != 0) {
        free(made);
        return NULL;
    }
    made->agent = agent;
    made->socket.stream.data = made;
    made->number = ++agent->connections.last_number;
    made->protocol = 2;
    takt_list_init(&made->to_do);
    takt_list_init(&made->waiters);
    takt_list_init(&made->permits);
    takt_list_init(&made->settled_later);
    takt_list_append(&agent->connections.all, &made->link);
    agent->connections.count++;
    agent->figures.connections++;
    return made;
}

bool takt_agent_connection_accept(takt_agent *agent, uv_stream_t *listener, bool is_unix)
{
    takt_agent_connection *connection = new_connection(agent, is_unix);

    if (!connection)
        return false;
    if (uv_accept(listener, &connection->socket.stream) != 0 ||
        (is_unix && !is_let_in(connection, listener))) {
        takt_agent_connection_end(connection);
        return true;
    }
    if (!is_unix)
        uv_tcp_nodelay(&connection->socket.tcp, 1);
    connection->is_known = is_unix || !agent->options.password;
    read_on(connection);
    return true;
}
