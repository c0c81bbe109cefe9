/*
 * reconnect.c: how a fleet comes back to a server that was away: connections in the busiest second
 * from its return on, and when half of them and all of them are there.  Every client has two, the
 * second one for hints.
 *
 *     reconnect [CLIENTS [OUTAGE_MS]]
 *
 * All clients are in this process, each with one waiter.  The server is killed, and started again
 * after OUTAGE_MS.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <uv.h>

#include "bench.h"
#include "server.h"

#define SAMPLE_MS   50
#define SAMPLES_MAX 2400
#define FILES_EACH  4 /* descriptors of a client, and one to spare */
#define SECOND_NS   INT64_C(1000000000)

typedef struct bench_returner {
    takt_client *client;
    takt_permit permit;
} bench_returner;

static struct {
    uv_loop_t loop;
    bench_returner *clients;
    int64_t count;
    int64_t returned_ns; /* when the server is there again */
} fleet;

/* How many connections the server has taken, from its return on. */
static struct {
    int64_t at_ns, received;
} samples[SAMPLES_MAX];
static int sample_count;

static void granted(takt_permit *permit, int status)
{
    (void)permit;
    if (status != TAKT_E_CANCELED)
        bench_must(status, "an acquire");
}

static void open_fleet(const takt_policy *policy)
{
    takt_options options = {.store = bench_server()};
    takt_request request = TAKT_REQUEST("bench");

    for (int64_t i = 0; i < fleet.count; i++) {
        bench_returner *one = &fleet.clients[i];
        bench_must(takt_open(&one->client, &fleet.loop, policy, &options, NULL), "takt_open");
        bench_must(takt_acquire(one->client, &one->permit, &request, granted), "takt_acquire");
    }
}

static void on_timer(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

static void run_for(uint64_t ms)
{
    bool over = false;
    uv_timer_t timer = {.data = &over};

    uv_timer_init(&fleet.loop, &timer);
    uv_update_time(&fleet.loop);
    uv_timer_start(&timer, on_timer, ms, 0);
    while (!over)
        uv_run(&fleet.loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&fleet.loop, UV_RUN_NOWAIT);
}

/* Runs the loop until all connections are there.  Each look at the server is a connection too,
 * which does not count. */
static void await_all(void)
{
    for (sample_count = 0; sample_count < SAMPLES_MAX;) {
        run_for(SAMPLE_MS);
        samples[sample_count].at_ns = bench_now_ns() - fleet.returned_ns;
        samples[sample_count].received =
            bench_server_info("total_connections_received") - 2 * sample_count - 1;
        sample_count++;
        if (bench_server_info("connected_clients") > 2 * fleet.count)
            return;
    }
    fprintf(stderr, "not all clients are back\n");
    exit(1);
}

/* When half of the connections had been made. */
static int64_t half_ns(void)
{
    int at = 0;

    while (at < sample_count - 1 && samples[at].received < fleet.count)
        at++;
    return samples[at].at_ns;
}

static int64_t busiest_second(void)
{
    int64_t most = samples[0].received;

    for (int i = 0, from = 0; i < sample_count; i++) {
        while (samples[i].at_ns - samples[from].at_ns > SECOND_NS)
            from++;
        if (samples[i].received - samples[from].received > most)
            most = samples[i].received - samples[from].received;
    }
    return most;
}

static void allow_files(int64_t count)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    if ((int64_t)limit.rlim_cur >= count * FILES_EACH)
        return;
    fprintf(stderr, "%" PRId64 " clients need %" PRId64 " descriptors (ulimit -n)\n", count,
            count * FILES_EACH);
    exit(1);
}

int main(int argc, char **argv)
{
    int64_t outage_ms = argc > 2 ? atoll(argv[2]) : 10000;
    takt_policy *policy = bench_policy("1/h", "1");

    fleet.count = argc > 1 ? atoll(argv[1]) : 2000;
    fleet.clients = calloc((size_t)fleet.count, sizeof *fleet.clients);
    if (fleet.count <= 0 || fleet.clients == NULL) {
        fprintf(stderr, "reconnect [CLIENTS [OUTAGE_MS]]\n");
        return 1;
    }
    allow_files(fleet.count);
    uv_loop_init(&fleet.loop);
    open_fleet(policy);
    await_all();
    bench_server_kill(SIGKILL);
    run_for((uint64_t)outage_ms);
    (void)bench_server();
    fleet.returned_ns = bench_now_ns();
    await_all();
    printf("{\"bench\":\"reconnect\",\"clients\":%" PRId64 ",\"outage_ms\":%" PRId64
           ",\"busiest_second\":%" PRId64 ",\"half_ms\":%.0f,\"all_ms\":%.0f}\n",
           fleet.count, outage_ms, busiest_second(), (double)half_ns() / 1e6,
           (double)samples[sample_count - 1].at_ns / 1e6);
    for (int64_t i = 0; i < fleet.count; i++)
        takt_close(fleet.clients[i].client, NULL, NULL);
    uv_run(&fleet.loop, UV_RUN_DEFAULT);
    uv_loop_close(&fleet.loop);
    takt_policy_free(policy);
    free(fleet.clients);
    return 0;
}
