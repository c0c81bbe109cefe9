/*
 * latency.c: how long one uncontended acquire takes over a socket, and beside it one minimal GCRA
 * script, sent by takt's own connection.  In turn, so that a noisy machine disturbs both alike.
 *
 *     latency [TIMES]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "bench.h"
#include "direct.h"
#include "server.h"

#define WARM_UP 1000

static struct {
    takt_client *client;
    takt_permit permit;
    takt_redis_command command;
    int64_t *acquires, *scripts; /* how long each took */
    int64_t begin_ns;
    int count, left;
} bench;

static void granted(takt_permit *permit, int status);

static void next(void)
{
    takt_request request = TAKT_REQUEST("bench");

    if (bench.left-- == 0) {
        takt_close(bench.client, NULL, NULL);
        return;
    }
    bench.begin_ns = bench_now_ns();
    bench_must(takt_acquire(bench.client, &bench.permit, &request, granted), "takt_acquire");
}

static void answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    (void)command;
    bench_must(code < 0 || reply->type != TAKT_REPLY_INTEGER ? TAKT_E_STORE : 0, "the script");
    if (bench.left < bench.count)
        bench.scripts[bench.left] = bench_now_ns() - bench.begin_ns;
    next();
}

static void granted(takt_permit *permit, int status)
{
    if (status == 0 && bench.left < bench.count)
        bench.acquires[bench.left] = bench_now_ns() - bench.begin_ns;
    bench_must(status, "an acquire");
    takt_release(permit);
    bench.begin_ns = bench_now_ns();
    bench_direct_ask(&bench.command);
}

int main(int argc, char **argv)
{
    takt_options options = {.store = bench_server()};
    takt_policy *policy = bench_policy("1000000/s", "1000000");
    uv_loop_t loop;
    double acquire_us, script_us;

    bench.count = argc > 1 ? atoi(argv[1]) : 50000;
    bench.left = bench.count + WARM_UP;
    bench.acquires = calloc((size_t)bench.count, sizeof *bench.acquires);
    bench.scripts = calloc((size_t)bench.count, sizeof *bench.scripts);
    bench.command.answered = answered;
    uv_loop_init(&loop);
    bench_direct_open(&loop, bench_server_socket());
    bench_must(takt_open(&bench.client, &loop, policy, &options, NULL), "takt_open");
    next();
    while (bench.left >= 0)
        uv_run(&loop, UV_RUN_ONCE);
    bench_direct_close();
    uv_run(&loop, UV_RUN_DEFAULT);
    acquire_us = (double)bench_quantile(bench.acquires, bench.count, 0.5) / 1000;
    script_us = (double)bench_quantile(bench.scripts, bench.count, 0.5) / 1000;
    printf("{\"bench\":\"latency\",\"times\":%d,\"acquire_p50_us\":%.1f,\"acquire_p99_us\":%.1f,"
           "\"minimal_script_p50_us\":%.1f,\"minimal_script_p99_us\":%.1f,\"ratio_p50\":%.3f}\n",
           bench.count, acquire_us,
           (double)bench_quantile(bench.acquires, bench.count, 0.99) / 1000, script_us,
           (double)bench_quantile(bench.scripts, bench.count, 0.99) / 1000, acquire_us / script_us);
    uv_loop_close(&loop);
    takt_policy_free(policy);
    free(bench.acquires);
    free(bench.scripts);
    return 0;
}
