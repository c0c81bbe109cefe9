/*
 * job.c: the start of a job and the ways in which it ends: the functions that kinds of workers call
 * (takt/worker.h).
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kit/text.h"
#include "worker.h"

void takt_job_request_take(const takt_worker *worker, takt_request *request, int32_t cost,
                           const takt_amount *amounts)
{
    const char *unit = worker->kind->cost_unit;

    memcpy(request->amounts, amounts, sizeof(request->amounts));
    if (!amounts[0].unit && unit &&
        takt_policy_counts(takt_get_policy(worker->client), request->limit, unit))
        request->amounts[0] = (takt_amount){unit, cost};
    else
        request->cost = cost;
}

takt_request takt_job_request(const takt_job *job)
{
    takt_request request = TAKT_REQUEST(job->lane->limit);

    request.key = job->lane->key;
    takt_job_request_take(job->worker, &request, job->cost, job->amounts);
    request.priority = job->priority;
    request.tenant = job->lane->tenant;
    return request;
}

void takt_job_start(takt_job *job)
{
    takt_worker *worker = job->worker;
    takt_error error = {0};
    int64_t now_us = takt_worker_now(worker);

    takt_job_list_append(&worker->seats.running, job);
    worker->starts++;
    job->attempts++;
    job->owed = false;
    job->started_us = now_us;
    int failed = 0;
    if (!job->parsed)
        failed = takt_job_kind_read(worker->kind, worker->options.limit, job->text, job->size,
                                    &job->fields, &job->head, &error);
    worker->parsed -= job->parsed;
    job->parsed = false;
    takt_report_started(worker->report, job->lane->figures, failed ? NULL : job->head.id,
                        now_us - job->since_us, now_us - job->granted_at_us);
    if (failed) {
        job->fields = NULL;
        job->head = (takt_job_head){0};
        takt_job_dead(job, error.text);
        return;
    }
    worker->kind->start(worker->kind->self, job);
}

/* The job stops running: frees its permit and its seat. */
static void leave(takt_job *job)
{
    takt_worker *worker = job->worker;

    takt_release(&job->permit);
    takt_job_list_remove(&worker->seats.running, job);
    worker->seats.taken--;
    worker->dirty = true;
}

const takt_job_head *takt_job_head_of(const takt_job *job)
{
    return &job->head;
}

const json_t *takt_job_fields(const takt_job *job)
{
    return job->fields;
}

unsigned takt_job_attempt(const takt_job *job)
{
    return job->attempts;
}

int takt_job_is_held(const takt_job *job)
{
    return !job->lost && takt_is_held(&job->permit);
}

int64_t takt_job_fence(const takt_job *job)
{
    return job->permit.fence;
}

takt_client *takt_job_client(const takt_job *job)
{
    return job->worker->client;
}

void takt_job_done(takt_job *job, json_t *result)
{
    takt_worker *worker = job->worker;

    leave(job);
    takt_rehearsal_note(job, result);
    takt_report_done(worker->report, job->lane->figures, job->head.id, job->attempts,
                     takt_worker_now(worker) - job->started_us);
    if (result && !takt_results_put(worker->results, result, job->head.id, job->ref))
        takt_report_say(worker->report, "trouble",
                        "no memory for a result: its job will run again");
    else if (!result && !job->lost)
        takt_job_source_done(worker->source, job->ref);
    json_decref(result);
    takt_job_end_forget(job);
}

void takt_job_dead(takt_job *job, const char *why)
{
    takt_worker *worker = job->worker;

    leave(job);
    if (job->lost)
        takt_report_lost(worker->report, job->lane->figures, TAKT_REPORT_RUNNING, job->head.id);
    else
        takt_job_end_bury(worker, job->lane->figures, TAKT_REPORT_RUNNING, job->ref, job->text,
                          job->size, job->head.id, why);
    takt_job_end_forget(job);
}

/* Whether the job may be tried again; else the job is dead. */
static bool may_try_again(takt_job *job, const char *why)
{
    char text[TAKT_JOB_WHY_SIZE];
    unsigned max = job->worker->options.retry.attempts;

    if (job->attempts < max)
        return true;
    snprintf(text, sizeof(text), "%s (attempt %u of %u)", why, job->attempts, max);
    takt_job_dead(job, text);
    return false;
}

/* The job stops running and waits for its next attempt; `attempt` is the one that failed. */
static void try_again(takt_job *job, int64_t wait_us, unsigned attempt, const char *why)
{
    takt_worker *worker = job->worker;

    leave(job);
    takt_lanes_hold(&worker->lanes, job);
    takt_report_retried(worker->report, job->lane->figures, job->head.id, attempt, wait_us, why);
    if (!job->lost)
        takt_job_source_tried(worker->source, job->ref, job->attempts);
    takt_job_end_drop_fields(job);
    job->settled = job->begun = false;
    if (worker->end.draining || job->lost)
        takt_job_end_give_back(job, TAKT_REPORT_WAITING);
    else
        takt_job_end_later(job, wait_us);
}

void takt_job_retry(takt_job *job, int64_t after_us, const char *why)
{
    takt_worker *worker = job->worker;

    if (!may_try_again(job, why))
        return;
    int64_t wait_us =
        takt_retry_wait(&worker->options.retry, job->attempts, after_us, &worker->random);
    try_again(job, wait_us, job->attempts, why);
}

void takt_job_postpone(takt_job *job, int64_t after_us, const char *why)
{
    takt_worker *worker = job->worker;
    int64_t wait_us = takt_retry_wait(&worker->options.retry, 1, after_us, &worker->random);

    job->attempts--;
    try_again(job, wait_us, job->attempts + 1, why);
}

int takt_job_settle(takt_job *job, const takt_amount *used, int count)
{
    takt_request request = takt_job_request(job);

    if (job->settled)
        return 0;
    job->settled = true;
    return takt_settle(&job->permit, &request, used, count);
}

/* Shortens a reason to what takt accepts: one line of limited size. */
static void fit_reason(const char *why, char reason[TAKT_REASON_SIZE_MAX + 1])
{
    size_t size = strnlen(why, TAKT_REASON_SIZE_MAX);

    if (why[size])
        size = takt_utf8_whole(why, size);
    memcpy(reason, why, size);
    reason[size] = '\0';
    if (takt_check_reason(reason, NULL) != 0)
        reason[0] = '\0';
}

typedef int steer(takt_client *client, takt_call *call, const char *limit, const char *key,
                  int64_t for_us, const char *reason, takt_call_cb callback);

static void tell(takt_job *job, steer *function, int64_t for_us, const char *why)
{
    char reason[TAKT_REASON_SIZE_MAX + 1] = "";

    if (why)
        fit_reason(why, reason);
    int failed = function(job->worker->client, NULL, job->lane->limit, job->lane->key, for_us,
                          reason[0] ? reason : NULL, NULL);
    if (failed)
        takt_report_say(job->worker->report, "trouble", takt_strerror(failed));
}

void takt_job_penalize(takt_job *job, int64_t for_us, const char *why)
{
    tell(job, takt_penalize, for_us, why);
}

void takt_job_block(takt_job *job, int64_t for_us, const char *why)
{
    tell(job, takt_block, for_us, why);
}
