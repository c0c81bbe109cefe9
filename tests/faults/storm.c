/*
 * storm.c: see storm.h.
 *
 * The workers are clients of one process, and the proxy notes when each connects. The test counts
 * the connections in a tenth of a second by the proxy's clock. A delayed machine makes them look
 * closer than they were. So the bound is far above the right number, a fifth of them (anywhere in
 * half a second), and they are cut again until the machine was not delayed.
 */
#include "faults/storm.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#define CLIENTS     500
#define TOGETHER    100000 /* us */
#define PERCENT_MAX 60     /* of 100 connections */
#define OUTAGE_MS   1500
#define TRIES       10

struct one {
    takt_client *client;
    takt_permit permit;
    int round; /* in which it was served last */
};

static struct shared {
    sem_t all_served;
    atomic_int round, served;
} * shared;

static struct one ones[CLIENTS];

static void on_granted(takt_permit *permit, int status)
{
    struct one *one = permit->data;
    takt_request request = TAKT_REQUEST("busy");
    int round = atomic_load(&shared->round);

    if (status != 0)
        _exit(1);
    if (one->round != round && atomic_fetch_add(&shared->served, 1) + 1 == CLIENTS)
        sem_post(&shared->all_served);
    one->round = round;
    takt_release(permit);
    (void)takt_acquire(one->client, permit, &request, on_granted);
}

_Noreturn static void run_clients(const char *url)
{
    takt_options options = {.store = url, .store_timeout_us = NO_TIMEOUT_US};
    takt_request request = TAKT_REQUEST("busy");
    takt_policy *policy = limits_policy();
    uv_loop_t loop;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    uv_loop_init(&loop);
    for (int i = 0; i < CLIENTS; i++) {
        ones[i].permit.data = &ones[i];
        if (takt_open(&ones[i].client, &loop, policy, &options, NULL) < 0 ||
            takt_acquire(ones[i].client, &ones[i].permit, &request, on_granted) < 0)
            _exit(2);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    _exit(3);
}

/* Returns when each client was served once more. */
static void await_all(const struct fleet *fleet)
{
    struct timespec until;

    do {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        if (waitpid(fleet->workers[0], NULL, WNOHANG) != 0)
            fleet_fail("the process of the clients has ended");
    } while (sem_timedwait(&shared->all_served, &until) < 0);
}

static void next_round(const struct fleet *fleet)
{
    atomic_store(&shared->served, 0);
    atomic_fetch_add(&shared->round, 1);
    await_all(fleet);
}

/* The most that came within one tenth of a second, of the connections from that one on. */
static int max_together(const struct proxy_shared *notes, int from)
{
    int until = atomic_load(&notes->accepted), max = 0;

    if (until > PROXY_NOTES_MAX)
        fleet_fail("%d attempts to connect", until);
    for (int i = from, first = from; i < until; i++) {
        while (notes->accepted_at_us[i] - notes->accepted_at_us[first] >= TOGETHER)
            first++;
        max = i - first + 1 > max ? i - first + 1 : max;
    }
    return max;
}

/* Each connection is made again. */
static void cut_all(struct fleet *fleet, int connections)
{
    struct proxy_shared *notes = fleet->proxy.shared;
    int before = atomic_load(&notes->accepted);

    proxy_cut_all(&fleet->proxy);
    while (atomic_load(&notes->accepted) < before + connections)
        next_round(fleet);
}

/* The proxy closes new connections meanwhile. */
static void server_away(struct fleet *fleet, int connections)
{
    (void)connections;
    server_kill(&fleet->server, SIGKILL);
    fleet_pause(fleet, OUTAGE_MS);
    server_restart(&fleet->server, NULL);
    next_round(fleet);
}

static int together_after(struct fleet *fleet, int connections, const char *name,
                          void (*fault)(struct fleet *fleet, int connections))
{
    int max = 0;

    for (int i = 0; i < TRIES; i++) {
        int before = atomic_load(&fleet->proxy.shared->accepted);
        fault(fleet, connections);
        max = max_together(fleet->proxy.shared, before);
        if (max <= connections * PERCENT_MAX / 100)
            return max;
    }
    fleet_fail("%s, %d of %d connections were made in the same tenth of a second", name, max,
               connections);
}

void storm(struct fleet *fleet, const char *name)
{
    struct proxy_shared *notes;
    int connections, cut, away;

    server_start(&fleet->server, NULL);
    proxy_start(&fleet->proxy, fleet->server.socket);
    notes = fleet->proxy.shared;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(&shared->all_served, 1, 0);
    shared->round = 1;
    fleet->count = 1;
    fflush(NULL);
    fleet->workers[0] = fork();
    if (fleet->workers[0] == 0)
        run_clients(fleet->proxy.url);
    await_all(fleet);
    next_round(fleet);

    connections = atomic_load(&notes->accepted); /* two of each where hints are heard */
    cut = together_after(fleet, connections, "cut", cut_all);
    away = together_after(fleet, connections, "while the server was away", server_away);
    printf("# {\"fault\":\"%s\",\"clients\":%d,\"connections\":%d,\"most_in_100_ms\":%d,"
           "\"most_in_100_ms_of_an_outage\":%d,\"attempts\":%d}\n",
           name, CLIENTS, connections, cut, away, atomic_load(&notes->accepted));
    fleet_end(fleet);
}
