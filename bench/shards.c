/*
 * shards.c: one worker with limits on all nodes of a cluster: when each start came, and how late.
 *
 *     shards URL RATE KEYS SECONDS
 *
 * Each key has a limit of that rate and two waiters at all times. Prints a line for each start: the
 * key's number, the instant (realtime clock, us), and how long after its slot it came (us). The
 * servers are on this machine, so their clock is this one. shard_down.py makes figures of the
 * lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <uv.h>

#include "bench.h"

#define WAITERS 2 /* of each key */

typedef struct bench_start {
    int key;
    int64_t at_us, late_us;
} bench_start;

static struct {
    takt_client *client;
    uv_loop_t loop;
    uv_timer_t timer;
    bench_start *starts;
    int64_t count, most;
} worker;

static int64_t realtime_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void acquire(takt_permit *permit);

static void granted(takt_permit *permit, int status)
{
    int64_t now_us = realtime_us();

    if (status != 0)
        return; /* the time is up */
    if (worker.count < worker.most)
        worker.starts[worker.count++] =
            (bench_start){(int)(intptr_t)permit->data, now_us, now_us - permit->slot_at_us};
    takt_release(permit);
    acquire(permit);
}

static void acquire(takt_permit *permit)
{
    char key[16];
    takt_request request = TAKT_REQUEST("bench");

    snprintf(key, sizeof key, "%d", (int)(intptr_t)permit->data);
    request.key = key;
    bench_must(takt_acquire(worker.client, permit, &request, granted), "takt_acquire");
}

static void time_is_up(uv_timer_t *timer)
{
    takt_close(worker.client, NULL, NULL);
    uv_close((uv_handle_t *)timer, NULL);
}

int main(int argc, char **argv)
{
    int keys = argc == 5 ? atoi(argv[3]) : 0, seconds = argc == 5 ? atoi(argv[4]) : 0;
    takt_permit *permits = calloc((size_t)keys * WAITERS, sizeof *permits);
    takt_options options = {.store = argc == 5 ? argv[1] : NULL};
    takt_policy *policy;

    if (keys <= 0 || seconds <= 0 || !permits) {
        fprintf(stderr, "shards URL RATE KEYS SECONDS\n");
        return 1;
    }
    worker.most = INT64_C(1000) * keys * seconds;
    worker.starts = calloc((size_t)worker.most, sizeof *worker.starts);
    policy = bench_policy(argv[2], "1");
    uv_loop_init(&worker.loop);
    bench_must(takt_open(&worker.client, &worker.loop, policy, &options, NULL), "takt_open");
    uv_timer_init(&worker.loop, &worker.timer);
    uv_timer_start(&worker.timer, time_is_up, (uint64_t)seconds * 1000, 0);
    for (int i = 0; i < keys * WAITERS; i++) {
        permits[i].data = (void *)(intptr_t)(i / WAITERS);
        acquire(&permits[i]);
    }
    uv_run(&worker.loop, UV_RUN_DEFAULT);
    for (int64_t i = 0; i < worker.count; i++)
        printf("%d %" PRId64 " %" PRId64 "\n", worker.starts[i].key, worker.starts[i].at_us,
               worker.starts[i].late_us);
    uv_loop_close(&worker.loop);
    takt_policy_free(policy);
    free(worker.starts);
    free(permits);
    return 0;
}
