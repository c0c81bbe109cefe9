/*
 * handover.c: how long a permit takes from one process to another over a server: from the release
 * here to the callback there.  Beside it the one-way delay of the same connection: half of what one
 * minimal script takes.
 *
 *     handover [DELAY_MS [TIMES]]
 *
 * DELAY_MS: what lies between the workers and the server, each way; the default is nothing.
 *
 * Two processes share one permit; each has a job at a time, for so long that the other one stands
 * in line by then.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "bench.h"
#include "delay.h"
#include "direct.h"
#include "server.h"

#define SCRIPTS 200

/* What the two processes share. */
typedef struct bench_baton {
    int64_t released_ns;
    int holder; /* who had it last; -1: nobody yet */
    int64_t count, times;
    int64_t took_ns[]; /* each hand-over */
} bench_baton;

typedef struct bench_plan {
    const char *store;
    uint64_t job_ms;
    bench_baton *baton;
} bench_plan;

static struct {
    takt_client *client;
    takt_permit permit;
    uv_timer_t job;
    const bench_plan *plan;
    int index;
} worker;

static void granted(takt_permit *permit, int status);

static void ask(void)
{
    takt_request request = TAKT_REQUEST("bench");

    bench_must(takt_acquire(worker.client, &worker.permit, &request, granted), "takt_acquire");
}

static void job_done(uv_timer_t *timer)
{
    bench_baton *baton = worker.plan->baton;

    baton->holder = worker.index;
    baton->released_ns = bench_now_ns();
    takt_release(&worker.permit);
    if (baton->count < baton->times) {
        ask();
        return;
    }
    uv_close((uv_handle_t *)timer, NULL);
    takt_close(worker.client, NULL, NULL);
}

static void granted(takt_permit *permit, int status)
{
    bench_baton *baton = worker.plan->baton;

    (void)permit;
    bench_must(status, "an acquire");
    if (baton->holder >= 0 && baton->holder != worker.index && baton->count < baton->times)
        baton->took_ns[baton->count++] = bench_now_ns() - baton->released_ns;
    uv_timer_start(&worker.job, job_done, worker.plan->job_ms, 0);
}

static void run(int index, void *data)
{
    const bench_plan *plan = data;
    takt_options options = {.store = plan->store};
    takt_policy *policy = bench_policy_of_permits("1");
    uv_loop_t loop;

    worker.plan = plan;
    worker.index = index;
    uv_loop_init(&loop);
    uv_timer_init(&loop, &worker.job);
    bench_must(takt_open(&worker.client, &loop, policy, &options, NULL), "takt_open");
    ask();
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    takt_policy_free(policy);
}

/* ---- the connection's delay ------------------------------------------------------------------ */

static struct {
    takt_redis_command command;
    int64_t took_ns[SCRIPTS], begin_ns;
    int count;
} script;

static void ask_script(void)
{
    script.begin_ns = bench_now_ns();
    bench_direct_ask(&script.command);
}

static void answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    (void)command;
    bench_must(code < 0 || reply->type != TAKT_REPLY_INTEGER ? TAKT_E_STORE : 0, "the script");
    script.took_ns[script.count++] = bench_now_ns() - script.begin_ns;
    if (script.count < SCRIPTS)
        ask_script();
}

/* In milliseconds. */
static double one_way(const char *socket)
{
    uv_loop_t loop;

    uv_loop_init(&loop);
    bench_direct_open(&loop, socket);
    script.count = 0;
    script.command.answered = answered;
    ask_script();
    while (script.count < SCRIPTS)
        uv_run(&loop, UV_RUN_ONCE);
    bench_direct_close();
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return (double)bench_quantile(script.took_ns, SCRIPTS, 0.5) / 2e6;
}

int main(int argc, char **argv)
{
    int delay_ms = argc > 1 ? atoi(argv[1]) : 0;
    int64_t times = argc > 2 ? atoll(argv[2]) : delay_ms > 0 ? 100 : 1000;
    bench_plan plan = {.store = bench_server(), .job_ms = (uint64_t)(4 * delay_ms + 2)};
    bench_baton *baton = bench_shared(sizeof *baton + (uint64_t)times * sizeof(int64_t));
    double one_way_ms, p50_ms, p99_ms;

    if (delay_ms > 0)
        plan.store = bench_delay(bench_server_socket(), delay_ms);
    one_way_ms = one_way(plan.store + sizeof "unix:" - 1);
    *baton = (bench_baton){.holder = -1, .times = times};
    plan.baton = baton;
    bench_fork(2, run, &plan);
    p50_ms = (double)bench_quantile(baton->took_ns, baton->count, 0.5) / 1e6;
    p99_ms = (double)bench_quantile(baton->took_ns, baton->count, 0.99) / 1e6;
    printf("{\"bench\":\"handover\",\"delay_ms\":%d,\"times\":%" PRId64
           ",\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"one_way_p50_ms\":%.3f,\"one_ways_p50\":%.2f}\n",
           delay_ms, baton->count, p50_ms, p99_ms, one_way_ms, p50_ms / one_way_ms);
    return 0;
}
