/*
 * takt.c: takt as its users have it, through the public headers: each workload of bench/side in one
 * process.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <takt/takt.h>
#include <uv.h>

#include "../bench.h"
#include "plan.h"

typedef struct side_job {
    takt_permit permit;
    uv_timer_t timer; /* of a job that takes a while */
    char key[32];
    int64_t begin_ns; /* the acquire */
    int64_t start_us; /* the job */
} side_job;

static uv_loop_t loop;
static uv_timer_t until;
static takt_client *client;
static side_job *jobs;
static int64_t asked;
static bool ceiling; /* the workload: nobody waits */

static void granted(takt_permit *permit, int status);

static void ask(side_job *job)
{
    takt_request request = TAKT_REQUEST("bench");

    job->permit.data = job;
    if (!ceiling)
        job->begin_ns = bench_now_ns();
    if (job->key[0])
        request.key = job->key;
    bench_must(takt_acquire(client, &job->permit, &request, granted), "takt_acquire");
}

static void end_all(void)
{
    takt_close(client, NULL, NULL);
    for (int64_t i = 0; side.job_ms > 0 && i < side.outstanding; i++)
        uv_timer_stop(&jobs[i].timer);
    uv_close((uv_handle_t *)&until, NULL);
}

static void job_done(uv_timer_t *timer)
{
    side_job *job = timer->data;

    side_worked(job->start_us);
    takt_release(&job->permit);
    ask(job);
}

/* The next of `count` that are asked for one after the other; false: there were all. */
static bool go_on(side_job *job)
{
    if (asked == side.count)
        return false;
    if (strcmp(side.workload, "memory") == 0)
        snprintf(job->key, sizeof job->key, "key-%lld", (long long)asked);
    if (side.keys > 0) /* not in the order in which they were made */
        snprintf(job->key, sizeof job->key, "key-%lld", (long long)(asked * 7919 % side.keys));
    asked++;
    ask(job);
    return true;
}

static void granted(takt_permit *permit, int status)
{
    static int64_t left;
    side_job *job = permit->data;

    if (status == TAKT_E_CANCELED)
        return;
    bench_must(status, "an acquire");
    if (ceiling)
        side_count();
    else
        side_granted(permit->slot_at_us);
    if (side.job_ms > 0) {
        job->start_us = side_now_us();
        uv_update_time(&loop);
        uv_timer_start(&job->timer, job_done, (uint64_t)side.job_ms, 0);
        return;
    }
    takt_release(permit);
    if (side.end_us > 0) {
        ask(job);
        return;
    }
    side_took(bench_now_ns() - job->begin_ns);
    if (!go_on(job) && ++left == side.outstanding)
        end_all();
}

static void time_is_up(uv_timer_t *timer)
{
    (void)timer;
    end_all();
}

static takt_policy *policy_of_rules(const char *rate, const char *burst)
{
    takt_rule_text rules[TAKT_RULES_MAX];
    takt_limit_text limit = {.name = "bench", .rules = rules, .rule_count = (unsigned)side.rules};
    takt_policy *policy;

    for (int i = 0; i < TAKT_RULES_MAX; i++)
        rules[i] = (takt_rule_text){.rate = rate, .burst = burst};
    bench_must(takt_policy_new(&policy, NULL), "takt_policy_new");
    bench_must(takt_policy_add(policy, &limit, NULL), "takt_policy_add");
    return policy;
}

static takt_policy *policy_of_workload(void)
{
    char text[32];

    if (strcmp(side.workload, "permits") == 0) {
        snprintf(text, sizeof text, "%lld", (long long)side.permits);
        return bench_policy_of_permits(text);
    }
    if (side.rate > 0) {
        snprintf(text, sizeof text, "%lld/s", (long long)side.rate);
        return policy_of_rules(text, "1");
    }
    if (strcmp(side.workload, "memory") == 0)
        return policy_of_rules("100/h", "100");
    if (side.keys > 0) /* they are still there when the last one is made */
        return policy_of_rules("10/h", "1000000");
    return policy_of_rules(ceiling ? "1000000000/s" : "1000000/s", "1000000");
}

int main(int argc, char **argv)
{
    char store[128];
    takt_options options = {.store = store, .store_timeout_us = 10000000};
    takt_policy *policy;

    side_read_plan(argc, argv);
    snprintf(store, sizeof store, strcmp(side.socket, "memory:") == 0 ? "memory:" : "unix:%s",
             side.socket);
    ceiling = strcmp(side.workload, "ceiling") == 0;
    policy = policy_of_workload();
    uv_loop_init(&loop);
    bench_must(takt_open(&client, &loop, policy, &options, NULL), "takt_open");
    uv_timer_init(&loop, &until);
    side_wait_for_all();
    if (side.end_us > 0)
        uv_timer_start(&until, time_is_up, (uint64_t)(side.end_us - side_now_us()) / 1000 + 1, 0);
    jobs = calloc((size_t)side.outstanding, sizeof *jobs);
    for (int64_t i = 0; i < side.outstanding; i++) {
        uv_timer_init(&loop, &jobs[i].timer);
        jobs[i].timer.data = &jobs[i];
        if (side.end_us > 0)
            ask(&jobs[i]);
        else
            go_on(&jobs[i]);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    side_tell();
    return 0;
}
