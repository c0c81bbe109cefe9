/*
 * transfer.c: see transfer.h.
 *
 * libcurl names the sockets and the timeout that it waits for; the loop watches them and calls
 * libcurl. Finished transfers are collected outside of libcurl's callbacks, so that a `done` may
 * start the next transfer or close everything.
 */
#include "transfer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* One easy handle, from its first takt_transfers_take until takt_transfers_close. */
typedef struct transfer {
    struct transfer *next; /* the list of all handles */
    struct transfer *next_idle;
    takt_transfers *owner;
    CURL *handle;
    curl_socket_t socket;            /* the socket that was watched last for this handle */
    takt_transfer_address_cb allows; /* NULL: all addresses */
    void *allows_data;
    takt_transfer_cb done; /* NULL: no transfer under way */
    void *data;
} transfer;

/* A socket that libcurl waits for. Freed when the loop has closed it. */
typedef struct watch {
    uv_poll_t poll; /* first: libuv's handle is also the watch */
    takt_transfers *owner;
    curl_socket_t socket;
    int events; /* the events that libcurl waits for */
} watch;

/*
 * A connection, busy or kept. libcurl 7.88 closes a socket that did not connect in time without
 * a word, and the system gives its number to the next file: the inode tells whose it is.
 */
typedef struct connection {
    struct connection *next;
    curl_socket_t socket; /* each number once */
    ino_t inode;
} connection;

struct takt_transfers {
    uv_loop_t *loop;
    uv_timer_t timer;
    CURLM *multi; /* NULL: closed */
    transfer *all, *idle;
    connection *connections;
    watch *spare; /* for when memory runs out: libcurl needs a watch to continue */
};

static int fail(takt_error *error, int code, const char *text)
{
    if (error) {
        error->code = code;
        snprintf(error->text, sizeof error->text, "%s", text);
    }
    return code;
}

/* Calls `done` of finished transfers. A `done` may close everything. */
static void tell_done(takt_transfers *all)
{
    CURLMsg *message;
    int left;

    while (all->multi && (message = curl_multi_info_read(all->multi, &left)) != NULL) {
        CURL *handle = message->easy_handle;
        CURLcode result = message->data.result; /* the message is invalid after the next call */
        transfer *one = NULL;
        takt_transfer_cb done;

        curl_easy_getinfo(handle, CURLINFO_PRIVATE, &one);
        done = one->done;
        one->done = NULL;
        curl_multi_remove_handle(all->multi, handle);
        done(handle, result, one->data);
    }
}

static void ready(uv_poll_t *poll, int status, int events)
{
    watch *of = (watch *)poll;
    takt_transfers *all = of->owner; /* the next call may free the watch */
    int running, what = 0;

    if (status <
        0) { /* libuv polls no more, but libcurl may have only a part of what came before */
        what = CURL_CSELECT_ERR;
        uv_poll_start(poll, of->events, ready);
    }
    if (events & UV_READABLE)
        what |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        what |= CURL_CSELECT_OUT;
    curl_multi_socket_action(all->multi, of->socket, what, &running);
    tell_done(all);
}

static void free_watch(uv_handle_t *handle)
{
    free(handle);
}

static watch *new_watch(takt_transfers *all, curl_socket_t socket)
{
    watch *made = malloc(sizeof *made);

    if (!made) {
        made = all->spare;
        all->spare = NULL;
    }
    if (!made)
        return NULL;
    if (uv_poll_init_socket(all->loop, &made->poll, socket) != 0) {
        free(made);
        return NULL;
    }
    made->owner = all;
    made->socket = socket;
    curl_multi_assign(all->multi, socket, made);
    return made;
}

/* libcurl begins or ends to wait for a socket. */
static int watch_socket(CURL *handle, curl_socket_t socket, int what, void *data, void *known)
{
    watch *of = known;
    transfer *one = NULL;

    if (what == CURL_POLL_REMOVE) {
        if (of)
            /* libcurl closes the socket next: libuv has forgotten it by then */
            uv_close((uv_handle_t *)&of->poll, free_watch);
        return 0;
    }
    if (!of)
        of = new_watch(data, socket);
    if (!of)
        return -1; /* all transfers fail */
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &one);
    if (one)
        one->socket = socket;
    of->events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    uv_poll_start(&of->poll, of->events, ready);
    return 0;
}

static void expired(uv_timer_t *timer)
{
    takt_transfers *all = timer->data;
    int running;

    curl_multi_socket_action(all->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    tell_done(all);
}

/* libcurl wants a call after this time; after an early call it sets the timer again. */
static int set_timer(CURLM *multi, long timeout_ms, void *data)
{
    takt_transfers *all = data;

    (void)multi;
    if (timeout_ms < 0)
        uv_timer_stop(&all->timer);
    else
        uv_timer_start(&all->timer, expired, (uint64_t)timeout_ms, 0);
    return 0;
}

/* Notes the connection in place of the one that had its number before. */
static bool note_connection(takt_transfers *all, curl_socket_t socket)
{
    connection *one = all->connections;
    struct stat what;

    if (fstat(socket, &what) != 0)
        return false;
    while (one && one->socket != socket)
        one = one->next;
    if (!one) {
        one = malloc(sizeof *one);
        if (!one)
            return false;
        one->socket = socket;
        one->next = all->connections;
        all->connections = one;
    }
    one->inode = what.st_ino;
    return true;
}

static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
    const transfer *one = data;
    int made;

    (void)purpose;
    if (one->allows && !one->allows(&address->addr, one->allows_data))
        return CURL_SOCKET_BAD;
    made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (made >= 0 && !note_connection(one->owner, made)) {
        close(made);
        return CURL_SOCKET_BAD;
    }
    return made < 0 ? CURL_SOCKET_BAD : made;
}

/* Ends the connections that are open, and forgets all. */
static void end_connections(takt_transfers *all)
{
    connection *one;

    while ((one = all->connections) != NULL) {
        struct stat what;

        if (fstat(one->socket, &what) == 0 && S_ISSOCK(what.st_mode) && what.st_ino == one->inode)
            shutdown(one->socket, SHUT_RDWR);
        all->connections = one->next;
        free(one);
    }
}

static void set_defaults(transfer *one)
{
    curl_easy_setopt(one->handle, CURLOPT_PRIVATE, one);
    curl_easy_setopt(one->handle, CURLOPT_NOSIGNAL, 1L);
    /* without it, closing a handle blocks until its name lookup ends */
    curl_easy_setopt(one->handle, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(one->handle, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(one->handle, CURLOPT_OPENSOCKETDATA, one);
}

static transfer *new_transfer(takt_transfers *all)
{
    transfer *made = calloc(1, sizeof *made);

    if (!made)
        return NULL;
    made->handle = curl_easy_init();
    if (!made->handle) {
        free(made);
        return NULL;
    }
    made->owner = all;
    made->next = all->all;
    all->all = made;
    set_defaults(made);
    return made;
}

CURL *takt_transfers_take(takt_transfers *all)
{
    transfer *one = all->idle;

    if (!all->spare && (all->spare = malloc(sizeof *all->spare)) == NULL)
        return NULL;
    if (one)
        all->idle = one->next_idle;
    else
        one = new_transfer(all);
    return one ? one->handle : NULL;
}

void takt_transfers_put(takt_transfers *all, CURL *handle)
{
    transfer *one = NULL;

    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &one);
    curl_easy_reset(handle); /* now, so that nothing of the caller stays in the handle */
    set_defaults(one);
    one->allows = NULL;
    one->next_idle = all->idle;
    all->idle = one;
}

void takt_transfers_ask(CURL *handle, takt_transfer_address_cb allows, void *data)
{
    transfer *one = NULL;

    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &one);
    one->allows = allows;
    one->allows_data = data;
}

bool takt_transfers_start(takt_transfers *all, CURL *handle, takt_transfer_cb done, void *data)
{
    transfer *one = NULL;

    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &one);
    one->socket = CURL_SOCKET_BAD;
    if (curl_multi_add_handle(all->multi, handle) != CURLM_OK)
        return false;
    one->done = done;
    one->data = data;
    return true;
}

void takt_transfers_stop_reading(CURL *handle)
{
    transfer *one = NULL;

    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &one);
    if (one->socket != CURL_SOCKET_BAD)
        shutdown(one->socket, SHUT_RD);
}

int takt_transfers_open(takt_transfers **opened, uv_loop_t *loop, long connections_max,
                        takt_error *error)
{
    takt_transfers *made = calloc(1, sizeof *made);

    if (!made)
        return fail(error, TAKT_E_NOMEM, "no memory for transfers");
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(made);
        return fail(error, TAKT_E_SYSTEM, "libcurl cannot be initialised");
    }
    made->multi = curl_multi_init();
    if (!made->multi) {
        curl_global_cleanup();
        free(made);
        return fail(error, TAKT_E_NOMEM, "no memory for transfers");
    }
    signal(SIGPIPE, SIG_IGN); /* OpenSSL writes to connections that the peer has closed */
    made->loop = loop;
    uv_timer_init(loop, &made->timer);
    made->timer.data = made;
    curl_multi_setopt(made->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(made->multi, CURLMOPT_SOCKETDATA, made);
    curl_multi_setopt(made->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(made->multi, CURLMOPT_TIMERDATA, made);
    curl_multi_setopt(made->multi, CURLMOPT_MAXCONNECTS, connections_max);
    *opened = made;
    return 0;
}

static void free_transfers(uv_handle_t *timer)
{
    takt_transfers *all = timer->data;

    free(all->spare);
    free(all);
}

void takt_transfers_close(takt_transfers *all)
{
    CURLM *multi = all->multi;

    all->multi = NULL;
    for (transfer *one = all->all; one; one = one->next)
        if (one->done)
            curl_multi_remove_handle(multi, one->handle);
    /* libcurl would send some peers a goodbye and block until they answer. */
    end_connections(all);
    for (transfer *one = all->all, *next; one; one = next) {
        next = one->next;
        curl_easy_cleanup(one->handle);
        free(one);
    }
    curl_multi_cleanup(multi);
    curl_global_cleanup();
    uv_close((uv_handle_t *)&all->timer, free_transfers);
}
