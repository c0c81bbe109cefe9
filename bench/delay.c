/*
 * delay.c: see delay.h.
 */
#include "delay.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define SOCKETS_MAX 1024
#define CHUNK_MAX   65536

/* Bytes on their way; all take the same time, so they arrive in the order in which they left. */
typedef struct chunk {
    struct chunk *next;
    int64_t due_ns;
    int to;
    size_t size; /* 0: the other side has ended */
    char bytes[];
} chunk;

static struct {
    struct sockaddr_un server;
    int64_t ns;
    chunk *first, **last;
    struct pollfd sockets[SOCKETS_MAX]; /* the listener, then pairs */
    int others[SOCKETS_MAX];            /* what is read from sockets[i] goes there */
    nfds_t count;
} delay;

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    exit(1);
}

static void add(int from, int to)
{
    delay.sockets[delay.count] = (struct pollfd){.fd = from, .events = POLLIN};
    delay.others[delay.count++] = to;
}

static void take_connection(void)
{
    int here = accept(delay.sockets[0].fd, NULL, NULL), there = socket(AF_UNIX, SOCK_STREAM, 0);

    must(delay.count + 2 <= SOCKETS_MAX && here >= 0 && there >= 0, "a delayed connection");
    must(connect(there, (struct sockaddr *)&delay.server, sizeof delay.server) == 0, "connect");
    add(here, there);
    add(there, here);
}

static void take_bytes(nfds_t i)
{
    chunk *taken = malloc(sizeof *taken + CHUNK_MAX);
    ssize_t size;

    must(taken != NULL, "malloc");
    size = read(delay.sockets[i].fd, taken->bytes, CHUNK_MAX);
    if (size <= 0)
        delay.sockets[i].fd = -1; /* which poll passes over */
    *taken = (chunk){NULL, bench_now_ns() + delay.ns, delay.others[i], size > 0 ? (size_t)size : 0};
    *delay.last = taken;
    delay.last = &taken->next;
}

static void pass_on(void)
{
    while (delay.first != NULL && delay.first->due_ns <= bench_now_ns()) {
        chunk *due = delay.first;
        delay.first = due->next;
        if (delay.first == NULL)
            delay.last = &delay.first;
        if (due->size == 0)
            shutdown(due->to, SHUT_WR);
        else
            (void)!write(due->to, due->bytes, due->size); /* who has gone misses nothing */
        free(due);
    }
}

static void run(int listener)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    delay.last = &delay.first;
    add(listener, -1);
    for (;;) {
        int64_t ns = delay.first ? delay.first->due_ns - bench_now_ns() : 1000000000;
        struct timespec wait = {ns > 0 ? ns / 1000000000 : 0, ns > 0 ? ns % 1000000000 : 0};

        must(ppoll(delay.sockets, delay.count, &wait, NULL) >= 0, "ppoll");
        pass_on();
        for (nfds_t i = delay.count; i-- > 1;)
            if (delay.sockets[i].fd >= 0 && delay.sockets[i].revents != 0)
                take_bytes(i);
        if (delay.sockets[0].revents != 0)
            take_connection();
    }
}

const char *bench_delay(const char *path, int64_t delay_ms)
{
    static char url[128];
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    pid_t child;

    snprintf(own.sun_path, sizeof own.sun_path, "%s/delay.sock", bench_directory());
    snprintf(url, sizeof url, "unix:%s", own.sun_path);
    delay.server.sun_family = AF_UNIX;
    must(strlen(path) < sizeof delay.server.sun_path, path);
    memcpy(delay.server.sun_path, path, strlen(path) + 1);
    delay.ns = delay_ms * 1000000;
    must(listener >= 0 && bind(listener, (struct sockaddr *)&own, sizeof own) == 0 &&
             listen(listener, 1024) == 0,
         own.sun_path);
    fflush(NULL);
    child = fork();
    must(child >= 0, "fork");
    if (child == 0)
        run(listener);
    close(listener);
    return url;
}
