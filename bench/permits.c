/*
 * permits.c: several processes share permits that are too few for them: how busy are these, and how
 * many calls does it cost?
 *
 *     permits [STORE [PERMITS [PROCESSES [JOB_MS [WAITERS [SECONDS]]]]]]
 *
 * STORE: file (a fresh one), redis (default, a fresh server) or a URL.  Every process has WAITERS
 * jobs, each of which waits for a permit, works for JOB_MS and begins anew.  The first second is
 * warm-up.  A permit is busy from the callback to the release.
 * What jobs took is told as well: a machine that is held up prolongs them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "bench.h"
#include "server.h"

typedef struct bench_share {
    int64_t grants, store_calls; /* in what counts */
    int64_t busy_ns;
    int64_t jobs_ns; /* what the jobs took that ended in it */
    int64_t jobs;
} bench_share;

typedef struct bench_plan {
    const char *store, *permits;
    int processes, waiters;
    uint64_t job_ms;
    int64_t from_ns, until_ns; /* what counts */
    bench_share *shares;       /* by process; shared */
} bench_plan;

typedef struct job {
    takt_permit permit;
    uv_timer_t work;
    int64_t begin_ns;
} job;

static struct {
    const bench_plan *plan;
    bench_share *share;
    takt_client *client;
    uv_loop_t loop;
    uv_timer_t clock;
    job *jobs;
    int64_t calls_before, grants_before;
} worker;

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void granted(takt_permit *permit, int status);

static void ask(job *each)
{
    takt_request request = TAKT_REQUEST("bench");

    bench_must(takt_acquire(worker.client, &each->permit, &request, granted), "takt_acquire");
}

static void note_busy(const job *each, int64_t end_ns)
{
    const bench_plan *plan = worker.plan;
    int64_t busy_ns = min(end_ns, plan->until_ns) - max(each->begin_ns, plan->from_ns);

    worker.share->busy_ns += busy_ns > 0 ? busy_ns : 0;
}

static void job_done(uv_timer_t *timer)
{
    job *each = timer->data;
    int64_t now_ns = bench_now_ns();

    note_busy(each, now_ns);
    worker.share->jobs_ns += now_ns - each->begin_ns;
    worker.share->jobs++;
    each->begin_ns = 0;
    takt_release(&each->permit);
    ask(each);
}

static void granted(takt_permit *permit, int status)
{
    job *each = (job *)permit;

    if (status != 0)
        return; /* the end */
    each->begin_ns = bench_now_ns();
    uv_update_time(&worker.loop);
    uv_timer_start(&each->work, job_done, worker.plan->job_ms, 0);
}

static void end(uv_timer_t *timer)
{
    takt_stats stats;

    takt_get_stats(worker.client, &stats);
    worker.share->store_calls = stats.store_calls - worker.calls_before;
    worker.share->grants = stats.grants - worker.grants_before;
    for (int i = 0; i < worker.plan->waiters; i++) {
        if (worker.jobs[i].begin_ns > 0)
            note_busy(&worker.jobs[i], worker.plan->until_ns);
        uv_close((uv_handle_t *)&worker.jobs[i].work, NULL);
    }
    takt_close(worker.client, NULL, NULL);
    uv_close((uv_handle_t *)timer, NULL);
}

static uint64_t ms_until(int64_t at_ns)
{
    return (uint64_t)max(at_ns - bench_now_ns(), 0) / 1000000 + 1;
}

static void warmed_up(uv_timer_t *timer)
{
    takt_stats stats;

    takt_get_stats(worker.client, &stats);
    worker.calls_before = stats.store_calls;
    worker.grants_before = stats.grants;
    uv_timer_start(timer, end, ms_until(worker.plan->until_ns), 0);
}

static void run(int index, void *data)
{
    const bench_plan *plan = data;
    takt_options options = {.store = plan->store};
    takt_policy *policy = bench_policy_of_permits(plan->permits);

    worker.plan = plan;
    worker.share = &plan->shares[index];
    worker.jobs = calloc((size_t)plan->waiters, sizeof *worker.jobs);
    uv_loop_init(&worker.loop);
    bench_must(takt_open(&worker.client, &worker.loop, policy, &options, NULL), "takt_open");
    uv_timer_init(&worker.loop, &worker.clock);
    uv_timer_start(&worker.clock, warmed_up, ms_until(plan->from_ns), 0);
    for (int i = 0; i < plan->waiters; i++) {
        uv_timer_init(&worker.loop, &worker.jobs[i].work);
        worker.jobs[i].work.data = &worker.jobs[i];
        ask(&worker.jobs[i]);
    }
    uv_run(&worker.loop, UV_RUN_DEFAULT);
    uv_loop_close(&worker.loop);
    takt_policy_free(policy);
    free(worker.jobs);
}

static void report(const bench_plan *plan)
{
    bench_share all = {0};
    int64_t fewest = INT64_MAX, highest = 0;
    double span_ns = (double)(plan->until_ns - plan->from_ns);

    for (int p = 0; p < plan->processes; p++) {
        const bench_share *share = &plan->shares[p];
        all.grants += share->grants;
        all.store_calls += share->store_calls;
        all.busy_ns += share->busy_ns;
        all.jobs_ns += share->jobs_ns;
        all.jobs += share->jobs;
        fewest = min(fewest, share->grants);
        highest = max(highest, share->grants);
    }
    printf("{\"bench\":\"permits\",\"store\":\"%.5s\",\"permits\":%s,\"processes\":%d,"
           "\"waiters\":%d,\"job_ms\":%" PRIu64 ",\"seconds\":%.0f,\"grants\":%" PRId64
           ",\"grants_least\":%" PRId64 ",\"grants_most\":%" PRId64
           ",\"busy_percent\":%.2f,\"job_took_ms\":%.2f,\"store_calls_per_grant\":%.3f,"
           "\"store_calls_per_second\":%.1f}\n",
           plan->store, plan->permits, plan->processes, plan->waiters, plan->job_ms, span_ns / 1e9,
           all.grants, fewest, highest, (double)all.busy_ns * 100 / span_ns / atof(plan->permits),
           (double)all.jobs_ns / 1e6 / (double)max(all.jobs, 1),
           all.grants > 0 ? (double)all.store_calls / (double)all.grants : 0.0,
           (double)all.store_calls * 1e9 / span_ns);
}

int main(int argc, char **argv)
{
    const char *store = argc > 1 ? argv[1] : "redis";
    bench_plan plan = {.permits = argc > 2 ? argv[2] : "20",
                       .processes = argc > 3 ? atoi(argv[3]) : 16,
                       .job_ms = argc > 4 ? (uint64_t)atoll(argv[4]) : 50,
                       .waiters = argc > 5 ? atoi(argv[5]) : 3};
    int64_t seconds = argc > 6 ? atoll(argv[6]) : 10;

    plan.store = strcmp(store, "redis") == 0  ? bench_server()
                 : strcmp(store, "file") == 0 ? bench_store()
                                              : store;
    plan.shares = bench_shared(sizeof(bench_share) * (uint64_t)plan.processes);
    plan.from_ns = bench_now_ns() + 1000000000;
    plan.until_ns = plan.from_ns + seconds * 1000000000;
    bench_fork(plan.processes, run, &plan);
    report(&plan);
    return 0;
}
