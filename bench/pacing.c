/*
 * pacing.c: several processes saturate one limit: is the quota kept, is it used up, how even are
 * the starts?
 *
 *     pacing [STORE [RATE [PROCESSES [SECONDS [WAITERS]]]]]    STORE: file (default, a fresh one)
 * or a URL; RATE: 200/s
 *
 * Every process keeps WAITERS acquires waiting and notes when each callback came.  The first second
 * is warm-up. Gaps are between starts in the whole fleet; their deviation is from period / tokens.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "bench.h"

#define STARTS_MAX 2000000 /* of one process */

typedef struct bench_share {
    int64_t count;
    int64_t store_calls;
    int64_t starts_us[STARTS_MAX];
    int64_t slots_us[STARTS_MAX];
} bench_share;

typedef struct bench_plan {
    const char *store, *rate;
    int64_t begin_us, end_us; /* monotonic */
    int waiters;
    bench_share *shares; /* by process; shared */
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

static void run(int index, void *data)
{
    const bench_plan *plan = data;
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
    uv_loop_close(&worker.loop);
    takt_policy_free(policy);
    free(permits);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The instants of all processes in [from, until), sorted; returns their number. */
static int64_t gather(const bench_plan *plan, int processes, int slots, int64_t from, int64_t until,
                      int64_t *instants)
{
    int64_t count = 0;

    for (int p = 0; p < processes; p++)
        for (int64_t i = 0; i < plan->shares[p].count; i++) {
            int64_t at = slots ? plan->shares[p].slots_us[i] : plan->shares[p].starts_us[i];
            if (at >= from && at < until)
                instants[count++] = at;
        }
    qsort(instants, (size_t)count, sizeof *instants, by_value);
    return count;
}

static int64_t busiest_second(const int64_t *instants, int64_t count)
{
    int64_t most = 0, first = 0;

    for (int64_t i = 0; i < count; i++) {
        while (instants[i] - instants[first] >= 1000000)
            first++;
        most = i - first + 1 > most ? i - first + 1 : most;
    }
    return most;
}

/* The deviation of the gaps from the emission interval, at a quantile; turns the instants into
 * deviations. */
static double gap_deviation_ms(int64_t *instants, int64_t count, double interval_us,
                               double quantile)
{
    for (int64_t i = 0; i + 1 < count; i++) {
        double deviation = (double)(instants[i + 1] - instants[i]) - interval_us;
        instants[i] = (int64_t)((deviation < 0 ? -deviation : deviation) * 1000);
    }
    qsort(instants, (size_t)count - 1, sizeof *instants, by_value);
    return (double)instants[(int64_t)((double)(count - 1) * quantile)] / 1e6;
}

static void report(const bench_plan *plan, int processes, int64_t from, int64_t until)
{
    int64_t *instants = malloc((size_t)processes * STARTS_MAX * sizeof *instants);
    int64_t tokens = 1, period_us = 1, count, calls = 0, all = 0, least = INT64_MAX, most = 0,
            busy_starts, busy_slots;
    double seconds, p50, p99;

    bench_must(takt_parse_rate(plan->rate, &tokens, &period_us, NULL), plan->rate);
    for (int p = 0; p < processes; p++) {
        const bench_share *share = &plan->shares[p];
        int64_t grants = 0; /* of the time that counts: who comes first takes a whole lookahead */
        for (int64_t i = 0; i < share->count; i++)
            grants += share->starts_us[i] >= from && share->starts_us[i] < until;
        calls += share->store_calls;
        all += share->count;
        least = grants < least ? grants : least;
        most = grants > most ? grants : most;
    }
    count = gather(plan, processes, 1, 0, INT64_MAX, instants);
    busy_slots = busiest_second(instants, count);
    count = gather(plan, processes, 0, from, until, instants);
    if (count < 3) {
        fprintf(stderr, "too few starts to tell anything\n");
        exit(1);
    }
    seconds = (double)(instants[count - 1] - instants[0]) / 1e6;
    busy_starts = busiest_second(instants, count);
    double achieved = (double)(count - 1) / seconds;
    p50 = gap_deviation_ms(instants, count, (double)period_us / (double)tokens, 0.5);
    gather(plan, processes, 0, from, until, instants);
    p99 = gap_deviation_ms(instants, count, (double)period_us / (double)tokens, 0.99);
    printf(
        "{\"bench\":\"pacing\",\"store\":\"%.6s\",\"rate\":\"%s\",\"processes\":%d,\"waiters\":%d,"
        "\"achieved_per_second\":%.3f,\"busiest_second_starts\":%" PRId64
        ",\"busiest_second_slots\":%" PRId64
        ",\"gap_deviation_p50_ms\":%.3f,\"gap_deviation_p99_ms\":%.3f,\"grants_least\":%" PRId64
        ",\"grants_most\":%" PRId64 ",\"store_calls_per_grant\":%.4f,\"cpu_us_per_grant\":%.1f}\n",
        plan->store, plan->rate, processes, plan->waiters, achieved, busy_starts, busy_slots, p50,
        p99, least, most, (double)calls / (double)all,
        (double)bench_cpu_ns(1) / 1000 / (double)all);
    free(instants);
}

int main(int argc, char **argv)
{
    const char *store = argc > 1 ? argv[1] : "file";
    int processes = argc > 3 ? atoi(argv[3]) : 4;
    int seconds = argc > 4 ? atoi(argv[4]) : 10;
    bench_plan plan = {.store = strcmp(store, "file") == 0 ? bench_store() : store,
                       .rate = argc > 2 ? argv[2] : "200/s",
                       .begin_us = now_us(),
                       .waiters = argc > 5 ? atoi(argv[5]) : 50};

    plan.end_us = plan.begin_us + (seconds + 1) * INT64_C(1000000) + 500000;
    plan.shares = bench_shared(sizeof(bench_share) * (uint64_t)processes);
    bench_fork(processes, run, &plan);
    report(&plan, processes, plan.begin_us + 1000000,
           plan.begin_us + (seconds + 1) * INT64_C(1000000));
    return 0;
}
