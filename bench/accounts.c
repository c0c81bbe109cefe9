/*
 * accounts.c: what a server does for a limit of many accounts inside one of all.
 *
 *     accounts [WORKERS [ACCOUNTS [SHARED [SECONDS [RATE [alone]]]]]]
 *
 * Each account has RATE a second (5) inside 100/s, and four waiters at all times on each of SHARED
 * workers.  Levels are compared with two workloads.  With SHARED 0 as many waiters as with 1 ask
 * for the limit of all alone.  With `alone` the accounts have no limit of all.
 * After two seconds to settle it counts for SECONDS: starts, calls of scripts, and the processor
 * time of the server.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "bench.h"
#include "server.h"

#define WAITERS   4
#define SETTLE_MS 2000
#define POLICY                                                                                     \
    "limits:\n"                                                                                    \
    "  - {name: account, rules: [{rate: %d/s}]%s}\n"                                               \
    "  - {name: all, rules: [{rate: 100/s}]}\n"

static struct {
    int workers, accounts, shared, seconds, rate;
    bool alone;
} plan = {8, 100, 1, 20, 5, false};

/* What the children tell. */
static struct told {
    int64_t starts;
} * told; /* of each worker */

static struct {
    takt_client *client;
    struct told *told;
    uv_loop_t loop;
    uv_timer_t timer;
    bool counts;
} worker;

static void acquire(takt_permit *permit);

static void granted(takt_permit *permit, int status)
{
    if (status != 0)
        return; /* the time is up */
    worker.told->starts += worker.counts;
    takt_release(permit);
    acquire(permit);
}

static void acquire(takt_permit *permit)
{
    takt_request request = TAKT_REQUEST(plan.shared > 0 ? "account" : "all");
    char key[24];

    snprintf(key, sizeof key, "account-%d", (int)(intptr_t)permit->data);
    if (plan.shared > 0)
        request.key = key;
    bench_must(takt_acquire(worker.client, permit, &request, granted), "takt_acquire");
}

static void time_is_up(uv_timer_t *timer)
{
    worker.counts = false;
    takt_close(worker.client, NULL, NULL);
    uv_close((uv_handle_t *)timer, NULL);
}

static void begin_to_count(uv_timer_t *timer)
{
    worker.counts = true;
    uv_timer_start(timer, time_is_up, (uint64_t)plan.seconds * 1000, 0);
}

static void work(int index, void *data)
{
    takt_permit *permits = calloc((size_t)plan.accounts * WAITERS, sizeof *permits);
    takt_options options = {.store = bench_server()};
    takt_policy *policy = data;

    worker.told = &told[index];
    uv_loop_init(&worker.loop);
    bench_must(permits ? 0 : TAKT_E_NOMEM, "permits");
    bench_must(takt_open(&worker.client, &worker.loop, policy, &options, NULL), "takt_open");
    uv_timer_init(&worker.loop, &worker.timer);
    uv_timer_start(&worker.timer, begin_to_count, SETTLE_MS, 0);
    for (int i = 0; i < plan.accounts * WAITERS; i++) {
        int account = i / WAITERS, first = account % plan.workers;
        permits[i].data = (void *)(intptr_t)account;
        if ((index - first + plan.workers) % plan.workers < (plan.shared > 0 ? plan.shared : 1))
            acquire(&permits[i]);
    }
    uv_run(&worker.loop, UV_RUN_DEFAULT);
    uv_loop_close(&worker.loop);
    free(permits);
}

/* Scripts that the server has run. */
static int64_t scripts(void)
{
    const char *told_of = bench_server_say("INFO commandstats"), *calls;
    int64_t count = 0;

    for (; (calls = strstr(told_of, "cmdstat_evalsha:calls=")); told_of = calls + 1)
        count += atoll(calls + strlen("cmdstat_evalsha:calls="));
    return count;
}

static void count_at_server(int index, void *data)
{
    int64_t calls, cpu_ns, starts = 0;

    if (index < plan.workers) {
        work(index, data);
        return;
    }
    usleep(SETTLE_MS * 1000);
    calls = scripts();
    cpu_ns = bench_server_cpu_ns();
    usleep((useconds_t)plan.seconds * 1000000);
    calls = scripts() - calls;
    cpu_ns = bench_server_cpu_ns() - cpu_ns;
    sleep(1);
    for (int i = 0; i < plan.workers; i++)
        starts += told[i].starts;
    printf("{\"bench\":\"accounts\",\"workers\":%d,\"accounts\":%d,\"workers_of_each\":%d,"
           "\"rate_of_each\":%d,\"alone\":%s,\"starts_per_s\":%.1f,\"calls_per_start\":%.2f,"
           "\"server_cores\":%.3f}\n",
           plan.workers, plan.accounts, plan.shared, plan.rate, plan.alone ? "true" : "false",
           (double)starts / plan.seconds, (double)calls / (double)starts,
           (double)cpu_ns / 1e9 / plan.seconds);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    takt_policy *policy;
    char text[256];

    plan.workers = argc > 1 ? atoi(argv[1]) : plan.workers;
    plan.accounts = argc > 2 ? atoi(argv[2]) : plan.accounts;
    plan.shared = argc > 3 ? atoi(argv[3]) : plan.shared;
    plan.seconds = argc > 4 ? atoi(argv[4]) : plan.seconds;
    plan.rate = argc > 5 ? atoi(argv[5]) : plan.rate;
    plan.alone = argc > 6 && strcmp(argv[6], "alone") == 0;
    if (plan.workers <= 0 || plan.accounts <= 0 || plan.shared < 0 || plan.seconds <= 0 ||
        plan.rate <= 0 || argc > 6 + plan.alone)
        return fputs("usage: accounts [WORKERS [ACCOUNTS [SHARED [SECONDS [RATE [alone]]]]]]\n",
                     stderr),
               64;
    snprintf(text, sizeof text, POLICY, plan.rate, plan.alone ? "" : ", within: all");
    told = bench_shared((uint64_t)plan.workers * sizeof *told);
    bench_must(takt_policy_parse(&policy, "accounts", text, strlen(text), NULL),
               "takt_policy_parse");
    bench_server();
    bench_fork(plan.workers + 1, count_at_server, policy);
    takt_policy_free(policy);
    return 0;
}
