/*
 * rare.c: what the server's time for a request is where requests come seldom: one minimal script
 * after the other, and then as many of them in a second as a paced fleet makes claims.  What lies
 * between the two is no work of the script: the server wakes up, and finds nothing in the caches.
 * It is the least that a paced grant can cost the server of this machine.
 *
 *     rare [PER_SECOND [SECONDS]]
 *
 * PER_SECOND: 17, the claims of 4 workers that share 200/s.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <uv.h>

#include "bench.h"
#include "direct.h"
#include "server.h"

#define GRANTS_PER_SECOND 200
#define AT_ONCE           20000

static void pause_ns(int64_t ns)
{
    struct timespec time = {ns / 1000000000, ns % 1000000000};

    while (nanosleep(&time, &time) < 0)
        continue;
}

/* The server's time in microseconds for `count` scripts, each after a pause. */
static double scripts_us(int64_t count, int64_t gap_ns)
{
    int64_t before_ns = bench_server_cpu_ns();

    for (int64_t i = 0; i < count; i++) {
        if (gap_ns > 0)
            pause_ns(gap_ns);
        bench_direct_ask_many(1, 1);
    }
    return (double)(bench_server_cpu_ns() - before_ns) / 1000;
}

static double idle_us(int seconds)
{
    int64_t before_ns = bench_server_cpu_ns();

    pause_ns(seconds * INT64_C(1000000000));
    return (double)(bench_server_cpu_ns() - before_ns) / 1000;
}

int main(int argc, char **argv)
{
    int per_second = argc > 1 ? atoi(argv[1]) : 17, seconds = argc > 2 ? atoi(argv[2]) : 10;
    double warm_us, idle_a_second_us, rare_a_second_us;
    uv_loop_t loop;

    bench_server();
    uv_loop_init(&loop);
    bench_direct_open(&loop, bench_server_socket());
    warm_us = scripts_us(AT_ONCE, 0) / AT_ONCE;
    idle_a_second_us = idle_us(seconds) / seconds;
    rare_a_second_us = scripts_us(per_second * seconds, 1000000000 / per_second) / seconds;
    printf("{\"bench\":\"rare\",\"per_second\":%d,\"warm_script_us\":%.1f,\"rare_script_us\":%.1f"
           ",\"idle_us_per_second\":%.0f,\"idle_us_per_grant\":%.1f"
           ",\"minimal_scripts_us_per_grant\":%.1f}\n",
           per_second, warm_us, (rare_a_second_us - idle_a_second_us) / per_second,
           idle_a_second_us, idle_a_second_us / GRANTS_PER_SECOND,
           rare_a_second_us / GRANTS_PER_SECOND);
    bench_direct_close();
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return 0;
}
