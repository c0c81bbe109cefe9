/*
 * status_server.c: connections are few and short. A client that is slow to ask or to read is
 * dropped; if there are too many connections, idle ones go first. One connection serves one
 * request.
 */
#include "kit/status_server.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kit/status_http.h"
#include "kit/unix_socket.h"

#define CONNECTIONS_MAX 16
#define TIMEOUT_MS      5000 /* for one connection, from accept to close */
#define BACKLOG         16
#define HEAD_SIZE       512
#define LISTENERS       2
#define UNIX            "unix:"

typedef union socket_handle {
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
} socket_handle;

struct connection {
    struct connection *next; /* the connection accepted before this one */
    takt_status_server *status;
    socket_handle socket;
    uv_timer_t timer;
    int handles; /* open handles */
    uv_write_t write;
    bool answered;
    char head[HEAD_SIZE];
    char *body;
    size_t size;
    /* one byte more shows that the request is too large */
    char text[TAKT_STATUS_HTTP_REQUEST_MAX + 1];
};

struct takt_status_server {
    uv_loop_t *loop;
    bool is_pipe;
    socket_handle listeners[LISTENERS];
    int listener_count; /* open listeners */
    struct connection *connections;
    int connection_count; /* without those being closed */
    takt_status_site site;
    bool open_to_all; /* not on the loopback: a Host may be any name */
    bool closing;
};

static void free_when_empty(takt_status_server *status)
{
    if (status->closing && status->listener_count == 0 && !status->connections)
        free(status);
}

/* ---- one connection -------------------------------------------------------------------------- */

static void on_connection_closed(uv_handle_t *handle)
{
    struct connection *connection = handle->data;
    takt_status_server *status = connection->status;

    if (--connection->handles > 0)
        return;
    struct connection **at = &status->connections;
    while (*at != connection)
        at = &(*at)->next;
    *at = connection->next;
    free(connection->body);
    free(connection);
    free_when_empty(status);
}

static void drop(struct connection *connection)
{
    uv_handle_t *handles[] = {(uv_handle_t *)&connection->socket,
                              (uv_handle_t *)&connection->timer};

    if (!uv_is_closing(handles[0]))
        connection->status->connection_count--;
    for (int i = 0; i < 2; i++)
        if (!uv_is_closing(handles[i]))
            uv_close(handles[i], on_connection_closed);
}

static void on_timeout(uv_timer_t *timer)
{
    drop(timer->data);
}

static void on_shut(uv_shutdown_t *request, int failed)
{
    struct connection *connection = request->data;

    free(request);
    if (failed)
        drop(connection);
}

/* Everything is written. Waits for the client to close, since closing with unread bytes would send
 * a reset that may overtake the answer. */
static void on_written(uv_write_t *request, int failed)
{
    struct connection *connection = request->data;
    uv_shutdown_t *shut =
        failed || uv_is_closing((uv_handle_t *)&connection->socket) ? NULL : malloc(sizeof(*shut));

    if (shut)
        shut->data = connection;
    if (!shut || uv_shutdown(shut, &connection->socket.stream, on_shut) != 0) {
        free(shut);
        drop(connection);
    }
}

static void answer(struct connection *connection, int code, const takt_status_request *request)
{
    const takt_status_site *site = &connection->status->site;
    const char *type;
    size_t size = 0;

    connection->answered = true;
    connection->body = site->page(site->data, request->path, &code, &size, &type);
    if (!connection->body) {
        code = 500;
        size = 0;
    }
    size_t head_size =
        takt_status_http_write_head(connection->head, sizeof(connection->head), code, type, size);
    uv_buf_t buffers[] = {uv_buf_init(connection->head, (unsigned)head_size),
                          uv_buf_init(connection->body, (unsigned)size)};
    connection->write.data = connection;
    if (uv_write(&connection->write, &connection->socket.stream, buffers,
                 size == 0 || request->head_only ? 1 : 2, on_written) != 0)
        drop(connection);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct connection *connection = handle->data;
    (void)suggested;

    /* After the answer, further bytes are ignored. */
    if (connection->answered)
        connection->size = 0;
    *buffer = uv_buf_init(connection->text + connection->size,
                          (unsigned)(sizeof(connection->text) - connection->size));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct connection *connection = stream->data;
    takt_status_request request = {0};
    (void)buffer;

    if (count < 0) {
        drop(connection);
        return;
    }
    if (connection->answered)
        return;
    connection->size += (size_t)count;
    int code = takt_status_http_read(connection->text, connection->size, &request);
    if (code == 0 && connection->size == sizeof(connection->text))
        code = 431;
    /* a web page may make its name resolve to this host (DNS rebinding) */
    if (code == 200 && !connection->status->is_pipe && !connection->status->open_to_all &&
        request.names_other_host)
        code = 421;
    if (code != 0)
        answer(connection, code, &request);
}

/* ---- new connections ------------------------------------------------------------------------- */

static int init_socket(uv_loop_t *loop, bool is_pipe, socket_handle *socket)
{
    return is_pipe ? uv_pipe_init(loop, &socket->pipe, 0) : uv_tcp_init(loop, &socket->tcp);
}

/* Makes room for a new connection: drops the oldest one without a request, or else the oldest. A
 * probe sends its request at once. */
static void drop_oldest(takt_status_server *status)
{
    struct connection *oldest = NULL, *idle = NULL;

    for (struct connection *at = status->connections->next; at; at = at->next)
        if (!uv_is_closing((uv_handle_t *)&at->socket)) {
            oldest = at;
            idle = at->answered ? idle : at;
        }
    drop(idle ? idle : oldest);
}

static void begin(takt_status_server *status, uv_stream_t *listener, struct connection *connection)
{
    connection->status = status;
    connection->handles = 2;
    connection->next = status->connections;
    status->connections = connection;
    status->connection_count++;
    connection->socket.stream.data = connection->timer.data = connection;
    uv_unref((uv_handle_t *)&connection->socket);
    uv_unref((uv_handle_t *)&connection->timer);
    if (status->connection_count > CONNECTIONS_MAX)
        drop_oldest(status);
    if (uv_accept(listener, &connection->socket.stream) != 0 ||
        uv_timer_start(&connection->timer, on_timeout, TIMEOUT_MS, 0) != 0 ||
        uv_read_start(&connection->socket.stream, on_room, on_read) != 0)
        drop(connection);
}

static void on_connection(uv_stream_t *listener, int failed)
{
    takt_status_server *status = listener->data;
    struct connection *made = failed ? NULL : calloc(1, sizeof(*made));

    if (!made)
        return;
    if (init_socket(status->loop, status->is_pipe, &made->socket) != 0) {
        free(made);
        return;
    }
    uv_timer_init(status->loop, &made->timer); /* cannot fail */
    begin(status, listener, made);
}

/* ---- opening and closing --------------------------------------------------------------------- */

static int refuse(takt_error *error, int code, const takt_status_site *site, const char *why)
{
    *error = (takt_error){.code = code};
    snprintf(error->text, sizeof(error->text), "cannot serve %s at %.200s: %s", site->what,
             site->address, why);
    return code;
}

static int remove_stale_socket(const takt_status_site *site, const char *path, takt_error *error)
{
    const char *why;
    int code = takt_unix_socket_clear(path, &why);

    return code ? refuse(error, code, site, why) : 0;
}

static void on_listener_closed(uv_handle_t *handle)
{
    takt_status_server *status = handle->data;

    status->listener_count--;
    free_when_empty(status);
}

/* If listening fails, the new handle is closed. */
static int listen_at(takt_status_server *status, const char *path, const struct sockaddr *address)
{
    socket_handle *listener = &status->listeners[status->listener_count];
    int failed = init_socket(status->loop, status->is_pipe, listener);

    if (failed)
        return failed;
    listener->stream.data = status;
    status->listener_count++;
    if (path)
        failed = uv_pipe_bind(&listener->pipe, path);
    else
        failed = uv_tcp_bind(&listener->tcp, address,
                             address->sa_family == AF_INET6 ? UV_TCP_IPV6ONLY : 0);
    if (!failed)
        failed = uv_listen(&listener->stream, BACKLOG, on_connection);
    uv_unref((uv_handle_t *)listener);
    return failed;
}

static bool is_port(const char *text, const char *end, long port)
{
    return *text >= '0' && *text <= '9' && *end == '\0' && port >= 1 && port <= 65535;
}

/* A host without IPv6 still has the IPv4 loopback. */
static bool is_without_ipv6(int failed)
{
    return failed == UV_EADDRNOTAVAIL || failed == UV_EAFNOSUPPORT;
}

static int listen_on_port(takt_status_server *status, takt_error *error)
{
    const takt_status_site *site = &status->site;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    char *end;
    long port = strtol(site->address, &end, 10);

    if (!is_port(site->address, end, port))
        return refuse(error, TAKT_E_INVALID, site,
                      site->abroad
                          ? "write unix:PATH, a port from 1 to 65535 (on the loopback only), or "
                            "an IP address and a port, like 0.0.0.0:9465 or [::]:9465"
                          : "write unix:PATH or a port from 1 to 65535 (on the loopback only)");
    uv_ip4_addr("127.0.0.1", (int)port, &four);
    uv_ip6_addr("::1", (int)port, &six);
    int failed = listen_at(status, NULL, (struct sockaddr *)&four);
    if (!failed)
        failed = listen_at(status, NULL, (struct sockaddr *)&six);
    return failed && !is_without_ipv6(failed)
               ? refuse(error, TAKT_E_SYSTEM, site, uv_strerror(failed))
               : 0;
}

/* Reads "1.2.3.4:9465" or "[::1]:9465". */
static bool read_address(const char *text, struct sockaddr_storage *address)
{
    const char *colon = strrchr(text, ':');
    char host[64], *end;
    bool is_six = *text == '[';
    size_t size = colon ? (size_t)(colon - text) : 0;
    long port = colon ? strtol(colon + 1, &end, 10) : 0;

    if (!colon || !is_port(colon + 1, end, port) || size >= sizeof(host) ||
        (is_six && (size < 2 || colon[-1] != ']')))
        return false;
    memcpy(host, text, size);
    host[is_six ? size - 1 : size] = '\0';
    return is_six ? uv_ip6_addr(host + 1, (int)port, (struct sockaddr_in6 *)address) == 0
                  : uv_ip4_addr(host, (int)port, (struct sockaddr_in *)address) == 0;
}

static int listen_at_address(takt_status_server *status, const struct sockaddr_storage *address,
                             takt_error *error)
{
    int failed = listen_at(status, NULL, (const struct sockaddr *)address);

    status->open_to_all = true;
    return failed ? refuse(error, TAKT_E_SYSTEM, &status->site, uv_strerror(failed)) : 0;
}

static int listen_at_path(takt_status_server *status, const char *path, takt_error *error)
{
    int code = remove_stale_socket(&status->site, path, error);

    if (code != 0)
        return code;
    int failed = listen_at(status, path, NULL);
    return failed ? refuse(error, TAKT_E_SYSTEM, &status->site, uv_strerror(failed)) : 0;
}

static int start(takt_status_server *status, takt_error *error)
{
    const char *address = status->site.address;
    struct sockaddr_storage abroad;

    if (status->is_pipe)
        return listen_at_path(status, address + strlen(UNIX), error);
    if (status->site.abroad && read_address(address, &abroad))
        return listen_at_address(status, &abroad, error);
    return listen_on_port(status, error);
}

int takt_status_server_open(takt_status_server **server, uv_loop_t *loop,
                            const takt_status_site *site, takt_error *error)
{
    takt_status_server *made = calloc(1, sizeof(*made));

    if (!made)
        return refuse(error, TAKT_E_NOMEM, site, takt_strerror(TAKT_E_NOMEM));
    made->loop = loop;
    made->site = *site;
    made->is_pipe = strncmp(site->address, UNIX, strlen(UNIX)) == 0;
    int code = start(made, error);
    if (code != 0) {
        takt_status_server_close(made);
        return code;
    }
    *server = made;
    return 0;
}

void takt_status_server_close(takt_status_server *status)
{
    if (!status)
        return;
    status->closing = true;
    for (int i = 0; i < status->listener_count; i++) {
        uv_ref((uv_handle_t *)&status->listeners[i]);
        uv_close((uv_handle_t *)&status->listeners[i], on_listener_closed);
    }
    for (struct connection *at = status->connections; at; at = at->next)
        drop(at);
    free_when_empty(status);
}
