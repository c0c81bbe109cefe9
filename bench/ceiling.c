/*
 * ceiling.c: acquires per second where nobody has to wait: what the machinery itself costs.
 *
 *     ceiling [STORE [PROCESSES [OUTSTANDING [SECONDS]]]]      STORE: memory: (default), file (a
 * fresh one), or a URL
 *
 * Each process keeps OUTSTANDING acquires of one limit under way: every callback releases and asks
 * again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "bench.h"

typedef struct bench_plan {
    const char *store;
    int outstanding;
    int64_t seconds;
    int64_t *acquired;    /* by process; shared */
    int64_t *allocations; /* by process, after the first second's warm-up; shared */
} bench_plan;

static struct {
    takt_client *client;
    uv_loop_t loop;
    uv_timer_t timer;
    int64_t acquired, warm_acquired, warm_allocations;
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
    takt_policy *policy = bench_policy("1000000000/s", "1000000000");
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
    plan->allocations[index] = worker.warm_allocations;
    uv_loop_close(&worker.loop);
    takt_policy_free(policy);
    free(permits);
}

int main(int argc, char **argv)
{
    const char *store = argc > 1 ? argv[1] : "memory:";
    int processes = argc > 2 ? atoi(argv[2]) : 1;
    bench_plan plan = {.store = strcmp(store, "file") == 0 ? bench_store() : store,
                       .outstanding = argc > 3 ? atoi(argv[3]) : 1000,
                       .seconds = argc > 4 ? atoi(argv[4]) : 3};
    int64_t acquired = 0, allocations = 0, cpu_ns;

    plan.acquired = bench_shared(2 * sizeof(int64_t) * (size_t)processes);
    plan.allocations = plan.acquired + processes;
    bench_fork(processes, run, &plan);
    for (int i = 0; i < processes; i++) {
        acquired += plan.acquired[i];
        allocations += plan.allocations[i];
    }
    cpu_ns = bench_cpu_ns(1);
    printf("{\"bench\":\"ceiling\",\"store\":\"%s\",\"processes\":%d,\"outstanding\":%d,"
           "\"seconds\":%" PRId64 ",\"acquires_per_second\":%" PRId64
           ",\"allocations_per_1000_acquires\":%.3f,\"permit_bytes\":%zu,"
           "\"cpu_seconds\":%.2f}\n",
           strncmp(plan.store, "file", 4) == 0 ? "file" : plan.store, processes, plan.outstanding,
           plan.seconds, acquired / plan.seconds,
           acquired ? (double)allocations * 1000 / (double)acquired : 0.0, sizeof(takt_permit),
           (double)cpu_ns / 1e9);
    return 0;
}
