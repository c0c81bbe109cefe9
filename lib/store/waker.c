/*
 * waker.c: see waker.h.
 */
#include "store/waker.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MESSAGE_SIZE (TAKT_NAME_SIZE_MAX + 1 + TAKT_KEY_SIZE_MAX + 1)
#define BATCH        64 /* messages of one turn */

/* The name of a worker's socket, which begins with NUL; returns the address's size. */
static socklen_t name_socket(struct sockaddr_un *address, uint64_t worker)
{
    int size;

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    size = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "takt/%" PRIx64, worker);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
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
        key = memchr(message, '\0', (size_t)size);
        if (key)
            waker->on_wake(waker->data, message, key + 1);
    }
}

static void listen_as(takt_waker *waker, uint64_t worker)
{
    struct sockaddr_un address;
    socklen_t size = name_socket(&address, worker);

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

static void send_to(const takt_waker *waker, uint64_t worker, const takt_store_call *call)
{
    struct sockaddr_un address;
    socklen_t size = name_socket(&address, worker);
    size_t limit_size = strlen(call->limit->name) + 1, key_size = strlen(call->key);
    char message[MESSAGE_SIZE];

    memcpy(message, call->limit->name, limit_size);
    memcpy(message + limit_size, call->key, key_size);
    (void)sendto(waker->socket, message, limit_size + key_size, MSG_DONTWAIT | MSG_NOSIGNAL,
                 (struct sockaddr *)&address, size);
}

void takt_waker_init(takt_waker *waker, uv_loop_t *loop, const takt_store_options *options)
{
    *waker = (takt_waker){
        .loop = loop, .socket = -1, .on_wake = options->on_wake, .data = options->data};
}

/* Whether awards of such a limit wake others: for permits, or since waiters were dropped. */
static bool wakes(const takt_limit *limit)
{
    return limit->concurrency > 0 || limit->when_full != TAKT_WHEN_FULL_REFUSE;
}

void takt_waker_answered(takt_waker *waker, const takt_store_call *call)
{
    if (!waker->on_wake || !call->claim || !wakes(call->limit) ||
        (call->status != 0 && call->status != TAKT_E_NO_SLOT))
        return;
    if (waker->socket < 0)
        listen_as(waker, call->claim->worker);
    for (int i = 0; waker->socket >= 0 && i < call->award->wake_count; i++)
        send_to(waker, call->award->wakes[i], call);
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
