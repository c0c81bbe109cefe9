/*
 * proxy.c: see proxy.h.
 *
 * A link is one connection: two streams, and two lanes, one for each way.  A lane keeps what came
 * in until it is due and there is room for it on the other side.
 */
#include "faults/proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/list.h"
#include "base/random.h"

#define HANDLES 4 /* of a link */

struct chunk {
    takt_link link;
    int64_t due_us;
    size_t size, done;
    char bytes[];
};

union stream {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

struct lane {
    struct link *link;
    union stream *to;
    uv_timer_t timer;
    takt_link chunks;
};

struct link {
    takt_link link; /* among all */
    union stream client, server;
    uv_connect_t connecting;
    struct lane request, answer;
    int64_t cut_after; /* bytes of answers; -1: never */
    bool connected, closing;
    int handles;
};

static struct {
    uv_loop_t loop;
    uv_tcp_t listener;
    uv_pipe_t control;
    struct proxy_shared *shared;
    takt_link links;
    uint64_t random;
    int cuts_all;
} own;

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    abort();
}

static int64_t now_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000) + time.tv_nsec / 1000;
}

/* ---- the end of a link ----------------------------------------------------------------------- */

static void empty(struct lane *lane)
{
    while (!takt_list_empty(&lane->chunks)) {
        struct chunk *chunk = TAKT_HOLDER(lane->chunks.next, struct chunk, link);
        takt_list_remove(&chunk->link);
        free(chunk);
    }
}

static void on_closed(uv_handle_t *handle)
{
    struct link *link = handle->data;

    if (--link->handles > 0)
        return;
    empty(&link->request);
    empty(&link->answer);
    free(link);
}

static void hang_up(struct link *link, bool reset)
{
    if (link->closing)
        return;
    link->closing = true;
    takt_list_remove(&link->link);
    if (!reset || uv_tcp_close_reset(&link->client.tcp, on_closed) < 0)
        uv_close(&link->client.handle, on_closed);
    uv_close(&link->server.handle, on_closed);
    uv_close((uv_handle_t *)&link->request.timer, on_closed);
    uv_close((uv_handle_t *)&link->answer.timer, on_closed);
}

/* ---- handing on ------------------------------------------------------------------------------ */

static void hand_on(struct lane *lane);

static void on_timer(uv_timer_t *timer)
{
    hand_on(TAKT_HOLDER(timer, struct lane, timer));
}

/* How much of a chunk is passed on now; false: cut the connection after it. */
static bool portion(const struct lane *lane, const struct chunk *chunk, size_t *size)
{
    struct link *link = lane->link;
    int slice = own.shared->settings.slice;

    *size = chunk->size - chunk->done;
    if (slice > 0 && *size > (size_t)slice)
        *size = (size_t)(1 + takt_random_below(&own.random, slice));
    if (lane != &link->answer || link->cut_after < 0 || (int64_t)*size < link->cut_after)
        return true;
    *size = (size_t)link->cut_after;
    return false;
}

/* One portion.  Returns in how many milliseconds the next one follows; -1: when more comes. */
static int64_t hand_one(struct lane *lane)
{
    struct chunk *chunk = TAKT_HOLDER(lane->chunks.next, struct chunk, link);
    struct link *link = lane->link;
    int64_t left_us = takt_list_empty(&lane->chunks) ? 0 : chunk->due_us - now_us();
    size_t size;
    bool goes_on;
    uv_buf_t buffer;
    int sent;

    if (takt_list_empty(&lane->chunks) || own.shared->settings.frozen || !link->connected)
        return -1;
    if (left_us > 0)
        return (left_us + 999) / 1000;
    goes_on = portion(lane, chunk, &size);
    buffer = uv_buf_init(chunk->bytes + chunk->done, (unsigned)size);
    sent = size > 0 ? uv_try_write(&lane->to->stream, &buffer, 1) : 0;
    if (sent < 0 && sent != UV_EAGAIN) {
        hang_up(link, false);
        return -1;
    }
    if (!goes_on) {
        atomic_fetch_add(&own.shared->cuts, 1);
        hang_up(link, takt_random_below(&own.random, 2) == 0);
        return -1;
    }
    chunk->done += sent > 0 ? (size_t)sent : 0;
    if (lane == &link->answer && link->cut_after > 0)
        link->cut_after -= sent > 0 ? sent : 0;
    if (chunk->done == chunk->size) {
        takt_list_remove(&chunk->link);
        free(chunk);
    }
    return sent < 0 || own.shared->settings.slice > 0 ? 1 : 0;
}

static void hand_on(struct lane *lane)
{
    int64_t next_ms = 0;

    while (next_ms == 0 && !lane->link->closing)
        next_ms = hand_one(lane);
    if (next_ms > 0 && !lane->link->closing)
        uv_timer_start(&lane->timer, on_timer, (uint64_t)next_ms, 0);
}

static void on_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    static char bytes[65536];

    (void)handle;
    (void)wanted;
    *buffer = uv_buf_init(bytes, sizeof bytes);
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct link *link = stream->data;
    struct lane *lane = stream == &link->client.stream ? &link->request : &link->answer;
    struct chunk *chunk;

    if (size < 0) {
        hang_up(link, false);
        return;
    }
    chunk = malloc(sizeof *chunk + (size_t)size);
    must(chunk != NULL, "malloc");
    chunk->due_us = now_us() + own.shared->settings.delay_us;
    chunk->size = (size_t)size;
    chunk->done = 0;
    memcpy(chunk->bytes, buffer->base, (size_t)size);
    takt_list_append(&lane->chunks, &chunk->link);
    if (!uv_is_active((uv_handle_t *)&lane->timer))
        hand_on(lane);
}

/* ---- the beginning --------------------------------------------------------------------------- */

static void on_connected(uv_connect_t *request, int status)
{
    struct link *link = request->data;

    if (link->closing)
        return;
    if (status < 0 || uv_read_start(&link->server.stream, on_alloc, on_read) < 0) {
        hang_up(link, false);
        return;
    }
    link->connected = true;
    hand_on(&link->request);
}

static void lane_begin(struct link *link, struct lane *lane, union stream *to)
{
    lane->link = link;
    lane->to = to;
    takt_list_init(&lane->chunks);
    uv_timer_init(&own.loop, &lane->timer);
    lane->timer.data = link;
}

static void connect_on(struct link *link)
{
    const char *target = own.shared->settings.target;
    struct sockaddr_in address;

    link->connecting.data = link;
    if (target[0] == '/') {
        uv_pipe_init(&own.loop, &link->server.pipe, 0);
        link->server.handle.data = link;
        uv_pipe_connect(&link->connecting, &link->server.pipe, target, on_connected);
        return;
    }
    uv_tcp_init(&own.loop, &link->server.tcp);
    link->server.handle.data = link;
    uv_tcp_nodelay(&link->server.tcp, 1);
    uv_ip4_addr("127.0.0.1", atoi(target), &address);
    if (uv_tcp_connect(&link->connecting, &link->server.tcp, (const struct sockaddr *)&address,
                       on_connected) < 0)
        hang_up(link, false);
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct proxy_shared *shared = own.shared;
    int number = atomic_load(&shared->accepted);
    struct link *link = calloc(1, sizeof *link);

    must(status == 0 && link != NULL, "connection");
    uv_tcp_init(&own.loop, &link->client.tcp);
    link->client.handle.data = link;
    must(uv_accept(stream, &link->client.stream) == 0, "accept");
    uv_tcp_nodelay(&link->client.tcp, 1);
    if (number < PROXY_NOTES_MAX)
        shared->accepted_at_us[number] = now_us();
    atomic_store(&shared->accepted, number + 1);
    link->handles = HANDLES;
    link->cut_after = shared->settings.cut_within > 0
                          ? takt_random_below(&own.random, shared->settings.cut_within)
                          : -1;
    takt_list_append(&own.links, &link->link);
    lane_begin(link, &link->request, &link->server);
    lane_begin(link, &link->answer, &link->client);
    connect_on(link);
    if (!link->closing)
        must(uv_read_start(&link->client.stream, on_alloc, on_read) == 0, "read");
}

/* The settings were changed. */
static void look(void)
{
    bool cut = own.cuts_all != own.shared->settings.cuts_all;

    own.cuts_all = own.shared->settings.cuts_all;
    for (takt_link *at = own.links.next, *next; at != &own.links; at = next) {
        struct link *link = TAKT_HOLDER(at, struct link, link);
        next = at->next;
        if (cut) {
            hang_up(link, true);
            continue;
        }
        hand_on(&link->request);
        if (!link->closing)
            hand_on(&link->answer);
    }
}

static void on_control(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    (void)stream;
    (void)buffer;
    if (size < 0)
        _exit(0); /* our parent has ended */
    look();
}

static void run(int listener, int control)
{
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    takt_list_init(&own.links);
    own.random = (uint64_t)now_us();
    own.cuts_all = own.shared->settings.cuts_all;
    must(uv_loop_init(&own.loop) == 0, "loop");
    uv_tcp_init(&own.loop, &own.listener);
    must(uv_tcp_open(&own.listener, listener) == 0, "listener");
    must(uv_listen((uv_stream_t *)&own.listener, 2048, on_connection) == 0, "listen");
    uv_pipe_init(&own.loop, &own.control, 0);
    must(uv_pipe_open(&own.control, control) == 0, "control");
    uv_read_start((uv_stream_t *)&own.control, on_alloc, on_control);
    uv_run(&own.loop, UV_RUN_DEFAULT);
    _exit(0);
}

void proxy_start(struct proxy *proxy, const char *target)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), control[2];

    must(listener >= 0 && bind(listener, (struct sockaddr *)&address, size) == 0, "bind");
    must(getsockname(listener, (struct sockaddr *)&address, &size) == 0, "getsockname");
    must(listen(listener, 2048) == 0, "listen"); /* connections made before the process runs wait */
    must(pipe2(control, O_CLOEXEC) == 0, "pipe");
    proxy->port = ntohs(address.sin_port);
    snprintf(proxy->url, sizeof proxy->url, "redis://127.0.0.1:%d", proxy->port);
    proxy->shared = mmap(NULL, sizeof *proxy->shared, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(proxy->shared != MAP_FAILED, "mmap");
    snprintf(proxy->shared->settings.target, sizeof proxy->shared->settings.target, "%s", target);
    fflush(NULL);
    proxy->process = fork();
    must(proxy->process >= 0, "fork");
    if (proxy->process == 0) {
        own.shared = proxy->shared;
        close(control[1]);
        run(listener, control[0]);
    }
    close(listener);
    close(control[0]);
    proxy->control = control[1];
}

void proxy_change(struct proxy *proxy)
{
    must(write(proxy->control, "c", 1) == 1, "the proxy has ended");
}

void proxy_cut_all(struct proxy *proxy)
{
    proxy->shared->settings.cuts_all++;
    proxy_change(proxy);
}

void proxy_stop(struct proxy *proxy)
{
    if (proxy->process == 0)
        return;
    close(proxy->control);
    kill(proxy->process, SIGKILL);
    waitpid(proxy->process, NULL, 0);
    munmap(proxy->shared, sizeof *proxy->shared);
    proxy->process = 0;
}
