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
    takt_resp_free(connection->resp);
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
    agent->connection_count--;
    agent->left(connection);
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
        if (out->capacity > OUT_KEPT || !connection->resp) {
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

/* The memory for a part of a command is for whoever needs it next. */
static void leave_resp(takt_agent_connection *connection)
{
    takt_agent *agent = connection->agent;

    if (!connection->resp || !takt_resp_is_between(connection->resp))
        return;
    if (!agent->spare_resp)
        agent->spare_resp = connection->resp;
    else
        takt_resp_free(connection->resp);
    connection->resp = NULL;
}

/* Does the commands that are here, up to one that waits. */
static void do_commands(takt_agent_connection *connection)
{
    const takt_reply *command;
    const char *why;
    int code;

    while (!connection->closing && !connection->ends && connection->resp && !connection->waiter &&
           !connection->call) {
        connection->behind = 0;
        code = takt_resp_next(connection->resp, &command, &why);
        if (code == 0)
            code = connection->refused;
        if (code == 0) {
            leave_resp(connection);
            return;
        }
        if (code < 0)
            refuse_stream(connection, code == TAKT_E_NOMEM ? "no memory"
                                      : code == TAKT_E_INVALID
                                          ? "a command has at most 512 words and 65536 bytes"
                                          : "a command is an array of strings");
        else if (!is_command(command))
            refuse_stream(connection, "a command is an array of strings");
        else if (command->count > 0)
            connection->agent->command(connection, command + 1, command->count);
    }
}

static takt_resp *take_resp(takt_agent *agent)
{
    takt_resp *resp = agent->spare_resp;

    agent->spare_resp = NULL;
    return resp ? resp : takt_resp_new(&of_commands);
}

static void take(takt_agent_connection *connection, const char *bytes, size_t size)
{
    const char *why;

    if (!connection->resp)
        connection->resp = take_resp(connection->agent);
    if (!connection->resp) {
        takt_agent_connection_end(connection);
        return;
    }
    connection->behind += size;
    if (connection->refused == 0)
        connection->refused = takt_resp_feed(connection->resp, bytes, size, &why);
    do_commands(connection);
    if (connection->behind > BEHIND_MAX && !connection->closing) {
        takt_agent_reply_error(connection, "ERR",
                               "too many commands behind one that waits; use TAG");
        connection->ends = true;
    }
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    takt_agent_connection *connection = handle->data;

    (void)suggested;
    *buffer = uv_buf_init(connection->agent->buffer, READ_SIZE);
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
    connection->read_now += (size_t)count;
    takt_agent_go_on(connection);
    if (connection->read_now > READ_MAX && connection->reads) {
        connection->reads = false;
        uv_read_stop(stream);
    }
    take(connection, buffer->base, (size_t)count);
}

/* Whether it may read in this turn: not while its own answers lie unread. */
static void read_on(takt_agent_connection *connection)
{
    bool reads = !connection->ends && (!connection->written || connection->out.size < OUT_MAX / 4);

    connection->read_now = 0;
    if (reads && !connection->reads)
        uv_read_start(&connection->socket.stream, on_room, on_read);
    connection->reads = reads || connection->reads;
}

/* ---- each turn ------------------------------------------------------------------------------- */

void takt_agent_connections_turn(takt_agent *agent)
{
    takt_link now;

    takt_list_init(&now);
    takt_list_move(&now, &agent->to_do);
    while (!takt_list_empty(&now)) {
        takt_agent_connection *connection = TAKT_HOLDER(now.next, takt_agent_connection, to_do);
        takt_list_remove(&connection->to_do);
        if (connection->broken)
            takt_agent_connection_end(connection);
        else if (!connection->waiter && !connection->call)
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

/* ---- who comes ------------------------------------------------------------------------------- */

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

/* Whether the process at the other end may use the socket by its file's mode, whoever handed it the
 * connection. */
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
    made->number = ++agent->last_number;
    made->protocol = 2;
    takt_list_init(&made->to_do);
    takt_list_init(&made->waiters);
    takt_list_init(&made->permits);
    takt_list_init(&made->settled_later);
    takt_list_append(&agent->connections, &made->link);
    agent->connection_count++;
    agent->figures.connections++;
    return made;
}

void takt_agent_connection_accept(takt_agent *agent, uv_stream_t *listener, bool is_unix)
{
    takt_agent_connection *connection = new_connection(agent, is_unix);

    if (!connection)
        return;
    if (uv_accept(listener, &connection->socket.stream) != 0 ||
        (is_unix && !is_let_in(connection, listener))) {
        takt_agent_connection_end(connection);
        return;
    }
    if (!is_unix)
        uv_tcp_nodelay(&connection->socket.tcp, 1);
    connection->is_known = is_unix || !agent->options.password;
    read_on(connection);
}
