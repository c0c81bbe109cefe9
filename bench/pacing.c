/*
 * pacing.c: several processes saturate one limit: is the quota kept, is it used up, how even are
 * the starts, and what does it cost?
 *
 *     pacing [STORE [RATE [PROCESSES [SECONDS [DELAY_MS [WAITERS]]]]]]
 *
 * STORE: file (default, a fresh one), redis (a fresh server) or a URL; RATE: 200/s; DELAY_MS: what
 * lies between the workers and the fresh server, each way.
 *
 * Every process keeps WAITERS acquires waiting and notes when each callback came.  The first second
 * is warm-up.  Gaps are between starts in the whole fleet; their deviation is from period / tokens.
 * Beside them one process only sleeps from beat to beat: how even its gaps are is what the machine
 * can do at that time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "bench.h"
#include "delay.h"
#include "server.h"

#define STARTS_MAX 2000000 /* of one process */

typedef struct bench_share {
    int64_t count;
    int64_t store_calls;
    int64_t cpu_ns;
    int64_t starts_us[STARTS_MAX];
    int64_t slots_us[STARTS_MAX];
} bench_share;

typedef struct bench_plan {
    const char *store, *rate;
    double interval_us;
    int64_t from_us, until_us, end_us; /* monotonic; what counts, and the end */
    int processes, waiters, delay_ms;
    bench_share *shares; /* by process, and last the one that sleeps; shared */
    int64_t *server_ns;  /* its processor time in what counts; shared */
} bench_plan;

static struct {
    takt_client *client;
    bench_share *share;
    int64_t end_us;
    uv_loop_t loop;
    uv_timer_t timer;
} worker;

static int64_t now_us(void)
{
    return bench_now_ns() / 1000;
}

static void granted(takt_permit *permit, int status)
{
    takt_request request = TAKT_REQUEST("bench");

    if (status != 0)
        return;
    if (worker.share->count < STARTS_MAX) {
        worker.share->starts_us[worker.share->count] = now_us();
        worker.share->slots_us[worker.share->count++] = permit->slot_at_us;
    }
    takt_release(permit);
    (void)takt_acquire(worker.client, permit, &request, granted);
}

static void time_is_up(uv_timer_t *timer)
{
    takt_stats stats;

    takt_get_stats(worker.client, &stats);
    worker.share->store_calls = stats.store_calls;
    takt_close(worker.client, NULL, NULL);
    uv_close((uv_handle_t *)timer, NULL);
}

static void sleep_until(int64_t at_us)
{
    struct timespec at = {at_us / 1000000, at_us % 1000000 * 1000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
        ;
}

/* The one that only sleeps; it also looks at the server. */
static void watch(const bench_plan *plan)
{
    bench_share *share = &plan->shares[plan->processes];
    int64_t server_ns;

    sleep_until(plan->from_us);
    server_ns = bench_server_cpu_ns();
    for (int64_t at_us = plan->from_us; at_us < plan->until_us;
         at_us = plan->from_us + (int64_t)((double)share->count * plan->interval_us)) {
        sleep_until(at_us);
        share->starts_us[share->count++] = now_us();
    }
    *plan->server_ns = bench_server_cpu_ns() - server_ns;
}

static void work(int index, const bench_plan *plan)
{
    takt_options options = {.store = plan->store};
    takt_policy *policy = bench_policy(plan->rate, "1");
    takt_permit *permits = calloc((size_t)plan->waiters, sizeof *permits);
    takt_request request = TAKT_REQUEST("bench");

    worker.share = &plan->shares[index];
    uv_loop_init(&worker.loop);
    bench_must(takt_open(&worker.client, &worker.loop, policy, &options, NULL), "takt_open");
    uv_timer_init(&worker.loop, &worker.timer);
    uv_timer_start(&worker.timer, time_is_up, (uint64_t)(plan->end_us - now_us()) / 1000 + 1, 0);
    for (int i = 0; i < plan->waiters; i++)
        bench_must(takt_acquire(worker.client, &permits[i], &request, granted), "takt_acquire");
    uv_run(&worker.loop, UV_RUN_DEFAULT);
    worker.share->cpu_ns = bench_cpu_ns(0);
    uv_loop_close(&worker.loop);
    takt_policy_free(policy);
    free(permits);
}

static void run(int index, void *data)
{
    const bench_plan *plan = data;

    if (index == plan->processes)
        watch(plan);
    else
        work(index, plan);
}

/* The instants of the processes from `first` to before `last` in what counts, sorted; returns their
 * number. */
static int64_t gather(const bench_plan *plan, int first, int last, int64_t *instants)
{
    int64_t count = 0;

    for (int p = first; p < last; p++)
        for (int64_t i = 0; i < plan->shares[p].count; i++) {
            int64_t at = plan->shares[p].starts_us[i];
            if (at >= plan->from_us && at < plan->until_us)
                instants[count++] = at;
        }
    if (count < 3) {
        fprintf(stderr, "too few starts to tell anything\n");
        exit(1);
    }
    bench_quantile(instants, count, 0);
    return count;
}

static int64_t gather_slots(const bench_plan *plan, int64_t *instants)
{
    int64_t count = 0;

    for (int p = 0; p < plan->processes; p++)
        for (int64_t i = 0; i < plan->shares[p].count; i++)
            instants[count++] = plan->shares[p].slots_us[i];
    bench_quantile(instants, count, 0);
    return count;
}

static int64_t busiest_second(const int64_t *instants, int64_t count)
{
    int64_t max = 0, first = 0;

    for (int64_t i = 0; i < count; i++) {
        while (instants[i] - instants[first] >= 1000000)
            first++;
        max = i - first + 1 > max ? i - first + 1 : max;
    }
    return max;
}

/* Turns sorted instants into the deviations of their gaps from the emission interval, in
 * nanoseconds. */
static int64_t deviations(const bench_plan *plan, int64_t *instants, int64_t count)
{
    for (int64_t i = 0; i + 1 < count; i++) {
        double deviation = (double)(instants[i + 1] - instants[i]) - plan->interval_us;
        instants[i] = (int64_t)((deviation < 0 ? -deviation : deviation) * 1000);
    }
    return count - 1;
}

static void report_costs(const bench_plan *plan, int64_t grants)
{
    int64_t min = INT64_MAX, max = 0, calls = 0, all = 0, cpu_ns = 0;

    for (int p = 0; p < plan->processes; p++) {
        const bench_share *share = &plan->shares[p];
        int64_t own = 0; /* of the time that counts: who comes first takes a whole lookahead */
        for (int64_t i = 0; i < share->count; i++)
            own += share->starts_us[i] >= plan->from_us && share->starts_us[i] < plan->until_us;
        calls += share->store_calls;
        all += share->count;
        cpu_ns += share->cpu_ns;
        min = own < min ? own : min;
        max = own > max ? own : max;
    }
    printf(",\"grants_least\":%" PRId64 ",\"grants_most\":%" PRId64
           ",\"store_calls_per_grant\":%.4f,\"cpu_us_per_grant\":%.1f",
           min, max, (double)calls / (double)all, (double)cpu_ns / 1000 / (double)all);
    if (*plan->server_ns > 0)
        printf(",\"server_cpu_us_per_grant\":%.2f",
               (double)*plan->server_ns / 1000 / (double)grants);
}

static void report(const bench_plan *plan)
{
    int64_t *instants = malloc((size_t)plan->processes * STARTS_MAX * sizeof *instants);
    int64_t count, grants, slots;
    double bare_ms, seconds;

    count = gather(plan, plan->processes, plan->processes + 1, instants);
    bare_ms = (double)bench_quantile(instants, deviations(plan, instants, count), 0.99) / 1e6;
    slots = busiest_second(instants, gather_slots(plan, instants));
    grants = gather(plan, 0, plan->processes, instants);
    seconds = (double)(instants[grants - 1] - instants[0]) / 1e6;
    printf("{\"bench\":\"pacing\",\"store\":\"%.5s\",\"rate\":\"%s\",\"processes\":%d,"
           "\"waiters\":%d,\"delay_ms\":%d,\"achieved_per_second\":%.3f,"
           "\"busiest_second_starts\":%" PRId64 ",\"busiest_second_slots\":%" PRId64,
           plan->store, plan->rate, plan->processes, plan->waiters, plan->delay_ms,
           (double)(grants - 1) / seconds, busiest_second(instants, grants), slots);
    count = deviations(plan, instants, grants);
    printf(",\"gap_deviation_p50_ms\":%.3f,\"gap_deviation_p99_ms\":%.3f,"
           "\"bare_gap_deviation_p99_ms\":%.3f",
           (double)bench_quantile(instants, count, 0.5) / 1e6,
           (double)bench_quantile(instants, count, 0.99) / 1e6, bare_ms);
    report_costs(plan, grants);
    printf("}\n");
    free(instants);
}

static const char *store_url(const char *name, int delay_ms)
{
    if (strcmp(name, "file") == 0)
        return bench_store();
    if (strcmp(name, "redis") != 0)
        return name;
    return delay_ms > 0 ? (bench_server(), bench_delay(bench_server_socket(), delay_ms))
                        : bench_server();
}

int main(int argc, char **argv)
{
    int seconds = argc > 4 ? atoi(argv[4]) : 10;
    bench_plan plan = {.rate = argc > 2 ? argv[2] : "200/s",
                       .processes = argc > 3 ? atoi(argv[3]) : 4,
                       .delay_ms = argc > 5 ? atoi(argv[5]) : 0,
                       .waiters = argc > 6 ? atoi(argv[6]) : 50};
    int64_t tokens = 1, period_us = 1;

    bench_must(takt_parse_rate(plan.rate, &tokens, &period_us, NULL), plan.rate);
    plan.interval_us = (double)period_us / (double)tokens;
    plan.store = store_url(argc > 1 ? argv[1] : "file", plan.delay_ms);
    plan.shares = bench_shared(sizeof(bench_share) * (uint64_t)(plan.processes + 1));
    plan.server_ns = bench_shared(sizeof(int64_t));
    plan.from_us = now_us() + 1000000;
    plan.until_us = plan.from_us + seconds * INT64_C(1000000);
    plan.end_us = plan.until_us + 500000;
    bench_fork(plan.processes + 1, run, &plan);
    report(&plan);
    return 0;
}
