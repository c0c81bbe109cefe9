/*
 * ceiling.c: acquires per second where nobody has to wait: what the machinery itself costs.
 *
 *     ceiling [STORE [PROCESSES [OUTSTANDING [SECONDS [PERMITS]]]]]
 *
 * STORE: memory: (default), file (a fresh one), redis (a fresh server) or a URL.  PERMITS: the
 * limit has so many of them, and no rate.
 *
 * Each process keeps OUTSTANDING acquires of one limit under way: every callback releases and asks
 * again.  With a server of our own its processor time is told too, and that of one minimal GCRA
 * script, measured before and after.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "bench.h"
#include "direct.h"
#include "server.h"

#define DIRECT 50000 /* scripts to be compared with */

typedef struct bench_plan {
    const char *store;
    const char *permits; /* NULL: a rate */
    int outstanding;
    int64_t seconds;
    int64_t *acquired;    /* by process, in the seconds that count; shared */
    int64_t *all;         /* from begin to end; shared */
    int64_t *allocations; /* by process, after the first second's warm-up; shared */
} bench_plan;

static struct {
    takt_client *client;
    uv_loop_t loop;
    uv_timer_t timer;
    int64_t acquired, all, warm_acquired, warm_allocations;
    int seconds_left;
} worker;

static void granted(takt_permit *permit, int status)
{
    takt_request request = TAKT_REQUEST("bench");

    if (status != 0)
        return;
    worker.acquired++;
    takt_release(permit);
    (void)takt_acquire(worker.client, permit, &request, granted);
}

static void closed(void *data)
{
    (void)data;
    uv_close((uv_handle_t *)&worker.timer, NULL);
}

static void second_passed(uv_timer_t *timer)
{
    (void)timer;
    if (worker.warm_acquired == 0) {
        worker.warm_acquired = worker.acquired;
        worker.warm_allocations = bench_allocations();
    } else if (--worker.seconds_left == 0) {
        uv_timer_stop(&worker.timer);
        worker.all = worker.acquired;
        worker.acquired -= worker.warm_acquired;
        worker.warm_allocations = bench_allocations() - worker.warm_allocations;
        worker.warm_acquired = worker.acquired; /* what comes after is not counted */
        takt_close(worker.client, closed, NULL);
    }
}

static void run(int index, void *data)
{
    const bench_plan *plan = data;
    takt_options options = {.store = plan->store};
    takt_policy *policy = plan->permits ? bench_policy_of_permits(plan->permits)
                                        : bench_policy("1000000000/s", "1000000000");
    takt_permit *permits = calloc((size_t)plan->outstanding, sizeof *permits);
    takt_request request = TAKT_REQUEST("bench");

    uv_loop_init(&worker.loop);
    bench_must(takt_open(&worker.client, &worker.loop, policy, &options, NULL), "takt_open");
    uv_timer_init(&worker.loop, &worker.timer);
    worker.seconds_left = (int)plan->seconds;
    uv_timer_start(&worker.timer, second_passed, 1000, 1000);
    for (int i = 0; i < plan->outstanding; i++)
        bench_must(takt_acquire(worker.client, &permits[i], &request, granted), "takt_acquire");
    uv_run(&worker.loop, UV_RUN_DEFAULT);
    plan->acquired[index] = worker.warm_acquired;
    plan->all[index] = worker.all;
    plan->allocations[index] = worker.warm_allocations;
    uv_loop_close(&worker.loop);
    takt_policy_free(policy);
    free(permits);
}

/* The server's processor time for one minimal script. */
static double direct_us(void)
{
    uv_loop_t loop;
    int64_t cpu_ns;

    uv_loop_init(&loop);
    bench_direct_open(&loop, bench_server_socket());
    bench_direct_ask_many(1000, 100);
    cpu_ns = bench_server_cpu_ns();
    bench_direct_ask_many(DIRECT, 100);
    cpu_ns = bench_server_cpu_ns() - cpu_ns;
    bench_direct_close();
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return (double)cpu_ns / 1000 / DIRECT;
}

static int64_t sum(const int64_t *values, int count)
{
    int64_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static void report(const bench_plan *plan, const char *store, int processes)
{
    int64_t acquired = sum(plan->acquired, processes);

    printf("{\"bench\":\"ceiling\",\"store\":\"%s\",\"permits\":%s,\"processes\":%d,"
           "\"outstanding\":%d,"
           "\"seconds\":%" PRId64 ",\"acquires_per_second\":%" PRId64
           ",\"allocations_per_1000_acquires\":%.3f,\"permit_bytes\":%zu,"
           "\"cpu_seconds\":%.2f",
           store, plan->permits ? plan->permits : "0", processes, plan->outstanding, plan->seconds,
           acquired / plan->seconds,
           acquired ? (double)sum(plan->allocations, processes) * 1000 / (double)acquired : 0.0,
           sizeof(takt_permit), (double)bench_cpu_ns(1) / 1e9);
}

/* A run on a server of our own, and what that has spent on it. */
static void run_on_server(bench_plan *plan, int processes)
{
    double direct = direct_us(), own;
    int64_t cpu_ns = bench_server_cpu_ns();

    bench_fork(processes, run, plan);
    own = (double)(bench_server_cpu_ns() - cpu_ns) / 1000 / (double)sum(plan->all, processes);
    direct = (direct + direct_us()) / 2;
    report(plan, "redis", processes);
    printf(",\"server_cpu_us_per_acquire\":%.4f,\"server_cpu_us_per_minimal_script\":%.2f,"
           "\"scripts_per_acquire\":\"1/%.0f\"}\n",
           own, direct, direct / own);
}

int main(int argc, char **argv)
{
    const char *store = argc > 1 ? argv[1] : "memory:";
    int processes = argc > 2 ? atoi(argv[2]) : 1;
    bool redis = strcmp(store, "redis") == 0, file = strcmp(store, "file") == 0;
    bench_plan plan = {.store = redis  ? bench_server()
                                : file ? bench_store()
                                       : store,
                       .outstanding = argc > 3 ? atoi(argv[3]) : 1000,
                       .seconds = argc > 4 ? atoi(argv[4]) : 3,
                       .permits = argc > 5 ? argv[5] : NULL};

    plan.acquired = bench_shared(3 * sizeof(int64_t) * (size_t)processes);
    plan.all = plan.acquired + processes;
    plan.allocations = plan.all + processes;
    if (redis) {
        run_on_server(&plan, processes);
        return 0;
    }
    bench_fork(processes, run, &plan);
    report(&plan, store, processes);
    printf("}\n");
    return 0;
}
