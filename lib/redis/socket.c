/*
 * socket.c: see socket.h.
 */
#include "redis/socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/list.h"

#define READ_SIZE   16384
#define READS_MAX   4     /* reads in a row: a server that never stops must not block the loop */
#define UNSENT_KEPT 65536 /* of memory for what the system did not take; scripts need more */
#define IDLE_S      15
#define PROBE_S     5
#define PROBE_COUNT 3

struct takt_redis_socket {
    uv_idle_t anchor; /* never runs; gone() follows its closing */
    uv_poll_t poll;
    uv_getaddrinfo_t lookup;
    const takt_redis_url *url;
    const takt_redis_socket_events *events;
    void *data;
    unsigned attempt;
    int fd; /* -1: none */
    struct addrinfo *addresses;
    struct addrinfo *next;              /* the address to try after this one */
    unsigned left;                      /* addresses not tried yet */
    bool anchored, looking_up, polling; /* handles of ours that libuv still uses */
    bool opened, closing;
    int broken; /* errno of a failed write, reported from the loop */
    char *unsent;
    size_t unsent_size, unsent_capacity;
    char buffer[READ_SIZE];
};

static void on_poll(uv_poll_t *poll, int status, int events);
static void try_next(takt_redis_socket *socket, int failure);

static int code_of(int number)
{
    return number == EACCES || number == EPERM ? TAKT_E_STORE_ACCESS : TAKT_E_STORE;
}

static void end(takt_redis_socket *socket, const char *what, int number)
{
    char text[128];

    snprintf(text, sizeof text, "%s: %s", what, strerror(number));
    socket->events->ended(socket->data, code_of(number), text);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void free_if_gone(takt_redis_socket *socket)
{
    const takt_redis_socket_events *events = socket->events;
    void *data = socket->data;

    if (socket->anchored || socket->looking_up || socket->polling)
        return;
    if (socket->addresses != NULL)
        freeaddrinfo(socket->addresses);
    free(socket->unsent);
    free(socket);
    events->gone(data);
}

static void on_anchor_closed(uv_handle_t *handle)
{
    takt_redis_socket *socket = TAKT_HOLDER(handle, takt_redis_socket, anchor);

    socket->anchored = false;
    free_if_gone(socket);
}

/* Either the whole socket closes, or only the attempt at one of several addresses. */
static void on_poll_closed(uv_handle_t *handle)
{
    takt_redis_socket *socket = TAKT_HOLDER(handle, takt_redis_socket, poll);

    socket->polling = false;
    if (socket->closing)
        free_if_gone(socket);
    else
        try_next(socket, socket->broken);
}

static void leave(takt_redis_socket *socket)
{
    if (socket->fd < 0)
        return;
    uv_poll_stop(&socket->poll);
    uv_close((uv_handle_t *)&socket->poll, on_poll_closed);
    close(socket->fd);
    socket->fd = -1;
}

void takt_redis_socket_close(takt_redis_socket *socket, bool reset)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    socket->closing = true;
    if (socket->looking_up) /* a lookup that has begun cannot be stopped; gone() waits for it */
        uv_cancel((uv_req_t *)&socket->lookup);
    if (reset && socket->fd >= 0)
        setsockopt(socket->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    leave(socket);
    uv_close((uv_handle_t *)&socket->anchor, on_anchor_closed);
}

/* ---- connecting ------------------------------------------------------------------------------ */

static void watch(takt_redis_socket *socket)
{
    bool write = !socket->opened || socket->unsent_size > 0 || socket->broken != 0;

    uv_poll_start(&socket->poll, UV_READABLE | (write ? UV_WRITABLE : 0), on_poll);
}

static void keep_alive(int fd)
{
    int yes = 1, idle_s = IDLE_S, probe_s = PROBE_S, count = PROBE_COUNT;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe_s, sizeof probe_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

/* Begins to connect to one address: 0 or an errno. */
static int begin(takt_redis_socket *own, const struct sockaddr *address, socklen_t size)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int number;

    if (fd < 0)
        return errno;
    if (address->sa_family != AF_UNIX)
        keep_alive(fd);
    if (connect(fd, address, size) < 0 && errno != EINPROGRESS) {
        number = errno;
        goto close_fd;
    }
    number = -uv_poll_init(own->anchor.loop, &own->poll, fd);
    if (number != 0)
        goto close_fd;
    uv_unref((uv_handle_t *)&own->poll);
    own->fd = fd;
    own->polling = true;
    own->broken = 0;
    watch(own);
    return 0;

close_fd:
    close(fd);
    return number;
}

/* Tries the addresses in turn, starting with the attempt's own; `failure` is the result of the last
 * one. */
static void try_next(takt_redis_socket *socket, int failure)
{
    while (socket->left > 0) {
        const struct addrinfo *address = socket->next;
        socket->left--;
        socket->next = address->ai_next ? address->ai_next : socket->addresses;
        failure = begin(socket, address->ai_addr, address->ai_addrlen);
        if (failure == 0)
            return;
    }
    end(socket, "cannot connect", failure);
}

static void set_addresses(takt_redis_socket *socket, struct addrinfo *addresses)
{
    unsigned count = 1;

    for (struct addrinfo *at = addresses->ai_next; at != NULL; at = at->ai_next)
        count++;
    socket->addresses = socket->next = addresses;
    for (unsigned i = 0; i < socket->attempt % count; i++)
        socket->next = socket->next->ai_next;
    socket->left = count;
}

static void on_lookup(uv_getaddrinfo_t *lookup, int status, struct addrinfo *addresses)
{
    takt_redis_socket *socket = TAKT_HOLDER(lookup, takt_redis_socket, lookup);
    char text[128];

    socket->looking_up = false;
    if (status == 0 && addresses != NULL)
        set_addresses(socket, addresses);
    if (socket->closing) {
        free_if_gone(socket);
    } else if (status != 0 || addresses == NULL) {
        snprintf(text, sizeof text, "cannot find the host's address: %s",
                 status != 0 ? uv_strerror(status) : "it has none");
        socket->events->ended(socket->data, TAKT_E_STORE, text);
    } else {
        try_next(socket, 0);
    }
}

/* A numeric address needs no lookup, which costs a thread. */
static int begin_tcp(takt_redis_socket *socket)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *addresses = NULL;
    char port[8];
    int status;

    snprintf(port, sizeof port, "%d", socket->url->port);
    if (getaddrinfo(socket->url->host, port, &hints, &addresses) == 0) {
        set_addresses(socket, addresses);
        socket->left = 0;
        return begin(socket, addresses->ai_addr, addresses->ai_addrlen);
    }
    hints.ai_flags = AI_ADDRCONFIG;
    status = uv_getaddrinfo(socket->anchor.loop, &socket->lookup, on_lookup, socket->url->host,
                            port, &hints);
    socket->looking_up = status == 0;
    return -status;
}

static int begin_unix(takt_redis_socket *socket)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memcpy(address.sun_path, socket->url->path, strlen(socket->url->path) + 1);
    return begin(socket, (const struct sockaddr *)&address, sizeof address);
}

static void on_never_opened(uv_handle_t *handle)
{
    takt_redis_socket *socket = TAKT_HOLDER(handle, takt_redis_socket, anchor);

    if (socket->addresses != NULL)
        freeaddrinfo(socket->addresses);
    free(socket);
}

int takt_redis_socket_open(takt_redis_socket **socket, uv_loop_t *loop, const takt_redis_url *url,
                           unsigned attempt, const takt_redis_socket_events *events, void *data,
                           takt_error *error)
{
    takt_redis_socket *opened = malloc(sizeof *opened);
    int number;

    if (opened == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a connection");
    memset(opened, 0, offsetof(takt_redis_socket, buffer));
    opened->url = url;
    opened->events = events;
    opened->data = data;
    opened->attempt = attempt;
    opened->fd = -1;
    uv_idle_init(loop, &opened->anchor);
    opened->anchored = true;
    number = url->transport == TAKT_REDIS_UNIX ? begin_unix(opened) : begin_tcp(opened);
    if (number != 0) {
        uv_close((uv_handle_t *)&opened->anchor, on_never_opened);
        return takt_fail(error, code_of(number), "cannot connect: %s", strerror(number));
    }
    *socket = opened;
    return 0;
}

/* ---- open ------------------------------------------------------------------------------------ */

static void on_connected(takt_redis_socket *socket)
{
    int number = 0;
    socklen_t size = sizeof number;

    if (getsockopt(socket->fd, SOL_SOCKET, SO_ERROR, &number, &size) < 0)
        number = errno;
    if (number != 0 && socket->left > 0) {
        socket->broken = number;
        leave(socket);
        return;
    }
    if (number != 0) {
        uv_poll_stop(&socket->poll);
        end(socket, "cannot connect", number);
        return;
    }
    socket->opened = true;
    watch(socket);
    socket->events->opened(socket->data);
}

/* The connection has ended, with an errno, or with 0 when the server closed it. */
static void ended(takt_redis_socket *socket, int number)
{
    uv_poll_stop(&socket->poll);
    if (number != 0)
        end(socket, "the connection broke", number);
    else
        socket->events->ended(socket->data, TAKT_E_STORE, "it closed the connection");
}

static void take_in(takt_redis_socket *socket)
{
    for (int i = 0; i < READS_MAX && !socket->closing; i++) {
        ssize_t size = recv(socket->fd, socket->buffer, sizeof socket->buffer, 0);
        if (size < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (size <= 0) {
            ended(socket, size == 0 ? 0 : errno);
            return;
        }
        socket->events->received(socket->data, socket->buffer, (size_t)size);
        if ((size_t)size < sizeof socket->buffer)
            return;
    }
}

/* libuv has seen an error and stops polling: reads the bytes that arrived before the error. */
static void take_in_last(takt_redis_socket *socket)
{
    while (!socket->closing) {
        ssize_t size = recv(socket->fd, socket->buffer, sizeof socket->buffer, 0);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0) {
            ended(socket, size == 0 ? 0 : errno == EAGAIN ? ECONNRESET : errno);
            return;
        }
        socket->events->received(socket->data, socket->buffer, (size_t)size);
    }
}

void takt_redis_socket_drain(takt_redis_socket *socket)
{
    if (socket->opened && !socket->closing && uv_is_active((uv_handle_t *)&socket->poll))
        take_in(socket);
}

/* Sends; returns the number of bytes that the system took. on_poll reports a broken connection
 * later. */
static size_t send_some(takt_redis_socket *socket, const char *bytes, size_t size)
{
    ssize_t sent = send(socket->fd, bytes, size, MSG_NOSIGNAL);

    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        socket->broken = errno;
    return sent < 0 ? 0 : (size_t)sent;
}

static bool keep(takt_redis_socket *socket, const char *bytes, size_t size)
{
    if (socket->unsent_capacity - socket->unsent_size < size) {
        size_t capacity = 2 * (socket->unsent_size + size);
        char *unsent = realloc(socket->unsent, capacity);
        if (unsent == NULL)
            return false;
        socket->unsent = unsent;
        socket->unsent_capacity = capacity;
    }
    memcpy(socket->unsent + socket->unsent_size, bytes, size);
    socket->unsent_size += size;
    return true;
}

bool takt_redis_socket_write(takt_redis_socket *socket, const char *bytes, size_t size)
{
    size_t sent = 0;

    if (!socket->opened || socket->closing || socket->broken != 0)
        return true; /* its end was reported or will be */
    if (socket->unsent_size == 0)
        sent = send_some(socket, bytes, size);
    if (sent < size && socket->broken == 0 && !keep(socket, bytes + sent, size - sent))
        return false;
    if (sent < size && uv_is_active((uv_handle_t *)&socket->poll))
        watch(socket);
    return true;
}

static void send_rest(takt_redis_socket *socket)
{
    size_t sent = send_some(socket, socket->unsent, socket->unsent_size);

    socket->unsent_size -= sent;
    memmove(socket->unsent, socket->unsent + sent, socket->unsent_size);
    if (socket->unsent_size > 0)
        return;
    if (socket->unsent_capacity > UNSENT_KEPT) {
        free(socket->unsent);
        socket->unsent = NULL;
        socket->unsent_capacity = 0;
    }
    watch(socket);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    takt_redis_socket *socket = TAKT_HOLDER(poll, takt_redis_socket, poll);

    if (!socket->opened) {
        on_connected(socket);
        return;
    }
    if (status < 0) {
        take_in_last(socket);
        return;
    }
    /* bytes that arrived before the connection broke are read first */
    if ((events & UV_READABLE) || socket->broken != 0)
        take_in(socket);
    if (socket->closing || !uv_is_active((uv_handle_t *)poll))
        return;
    if (socket->broken == 0 && socket->unsent_size > 0 && (events & UV_WRITABLE))
        send_rest(socket);
    if (socket->broken != 0) {
        uv_poll_stop(poll);
        end(socket, "the connection broke", socket->broken);
    }
}
