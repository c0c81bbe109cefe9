/*
 * waker.c: see waker.h.
 */
#include "store/waker.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MESSAGE_SIZE (1 + TAKT_NAME_SIZE_MAX + 1 + TAKT_KEY_SIZE_MAX + 1)
#define BATCH        64 /* messages in one turn */
#define LINE_SIZE    512
#define NAME_PREFIX  "takt/"

/* A message's first byte: what happened to the ledger that it names. */
enum { WAKE = 'w', NEWS = 'n' };

/* Writes the name of a worker's socket, which begins with NUL, and returns the address's size. */
static socklen_t name_socket(struct sockaddr_un *address, uint64_t worker)
{
    int size;

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    size = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, NAME_PREFIX "%" PRIx64,
                    worker);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
}

static void hear(const takt_waker *waker, char kind, const char *limit, const char *key)
{
    if (kind == WAKE && waker->on_wake)
        waker->on_wake(waker->data, limit, key);
    if (kind == NEWS && waker->on_hint)
        waker->on_hint(waker->data, limit, key);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    takt_waker *waker = poll->data;
    char message[MESSAGE_SIZE + 1];

    (void)status;
    (void)events;
    for (int i = 0; i < BATCH; i++) {
        ssize_t size = recv(waker->socket, message, MESSAGE_SIZE, MSG_DONTWAIT);
        const char *key;
        if (size < 0)
            return;
        message[size] = '\0';
        key = size > 1 ? memchr(message + 1, '\0', (size_t)size - 1) : NULL;
        if (key && key - message - 1 <= TAKT_NAME_SIZE_MAX &&
            strlen(key + 1) <= TAKT_KEY_SIZE_MAX) /* any program on this host may send messages */
            hear(waker, message[0], message + 1, key + 1);
    }
}

static void listen_as(takt_waker *waker, uint64_t worker)
{
    struct sockaddr_un address;
    socklen_t size = name_socket(&address, worker);

    waker->worker = worker;
    waker->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (waker->socket < 0)
        return;
    if (bind(waker->socket, (struct sockaddr *)&address, size) < 0 ||
        uv_poll_init(waker->loop, &waker->poll, waker->socket) < 0) {
        close(waker->socket);
        waker->socket = -1;
        return;
    }
    waker->poll.data = waker;
    uv_poll_start(&waker->poll, UV_READABLE, on_readable);
    uv_unref((uv_handle_t *)&waker->poll);
}

/* `ledger_no`: about which of the call's ledgers. */
static void send_to(int from, uint64_t worker, char kind, const takt_store_call *call,
                    int ledger_no)
{
    struct sockaddr_un address;
    socklen_t size = name_socket(&address, worker);
    const takt_limit *limit = ledger_no > 0 ? call->inner[ledger_no - 1].limit : call->limit;
    const char *key = ledger_no > 0 ? call->inner[ledger_no - 1].key : call->key;
    size_t limit_size = strlen(limit->name) + 1, key_size = strlen(key);
    char message[MESSAGE_SIZE];

    message[0] = kind;
    memcpy(message + 1, limit->name, limit_size);
    memcpy(message + 1 + limit_size, key, key_size);
    (void)sendto(from, message, 1 + limit_size + key_size, MSG_DONTWAIT | MSG_NOSIGNAL,
                 (struct sockaddr *)&address, size);
}

/* Returns the worker whose socket a line of /proc/net/unix names; 0: not a takt socket. */
static uint64_t worker_in(const char *line)
{
    const char *name = strstr(line, " @" NAME_PREFIX);
    char *end;
    uint64_t worker;

    if (!name)
        return 0;
    worker = strtoull(name + strlen(" @" NAME_PREFIX), &end, 16);
    return *end == '\n' ? worker : 0;
}

/* Sends to all other listeners on this host. */
static void tell_all(const takt_waker *waker, const takt_store_call *call)
{
    FILE *sockets = fopen("/proc/net/unix", "re");
    int from = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    char line[LINE_SIZE];

    while (sockets && from >= 0 && fgets(line, sizeof line, sockets)) {
        uint64_t worker = worker_in(line);
        if (worker != 0 && (waker->socket < 0 || worker != waker->worker))
            send_to(from, worker, NEWS, call, 0);
    }
    if (from >= 0)
        close(from);
    if (sockets)
        fclose(sockets);
}

void takt_waker_init(takt_waker *waker, uv_loop_t *loop, const takt_store_options *options)
{
    *waker = (takt_waker){.loop = loop,
                          .socket = -1,
                          .on_wake = options->on_wake,
                          .on_hint = options->on_hint,
                          .data = options->data};
}

void takt_waker_answered(takt_waker *waker, const takt_store_call *call)
{
    if (call->status != 0 && call->status != TAKT_E_NO_SLOT)
        return;
    if (takt_store_is_news(call))
        tell_all(waker, call);
    if (!call->claim || (!waker->on_wake && !waker->on_hint))
        return;
    if (waker->socket < 0)
        listen_as(waker, call->claim->process ? call->claim->process : call->claim->worker);
    for (int i = 0; waker->socket >= 0 && i < call->award->wake_count; i++)
        send_to(waker->socket, call->award->wakes[i], WAKE, call, call->award->wake_ledgers[i]);
}

static void on_closed(uv_handle_t *handle)
{
    takt_waker *waker = handle->data;

    close(waker->socket);
    waker->closed(waker->closed_data);
}

void takt_waker_close(takt_waker *waker, void (*closed)(void *data), void *data)
{
    waker->closed = closed;
    waker->closed_data = data;
    if (waker->socket < 0)
        closed(data);
    else
        uv_close((uv_handle_t *)&waker->poll, on_closed);
}
