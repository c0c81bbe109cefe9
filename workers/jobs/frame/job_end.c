/*
 * job_end.c: how a job that does not run leaves the worker, or comes back later.
 */
#include <stdlib.h>

#include "worker.h"

void takt_job_end_bury(takt_worker *worker, takt_report_limit *figures, takt_report_state from,
                       takt_job_ref ref, const char *text, size_t size, const char *id,
                       const char *why)
{
    char where[TAKT_JOB_SOURCE_REF_SIZE];

    takt_job_source_name(worker->source, ref, where);
    worker->end.dead_count++;
    takt_report_dead(worker->report, figures, from, id, where, why);
    takt_job_source_dead(worker->source, ref, text, size, id, why);
}

void takt_job_end_drop_fields(takt_job *job)
{
    job->worker->parsed -= job->parsed;
    job->parsed = false;
    json_decref(job->fields);
    job->fields = NULL;
    job->head = (takt_job_head){0};
}

void takt_job_end_forget(takt_job *job)
{
    takt_worker *worker = job->worker;

    worker->dirty = true;
    takt_job_end_drop_fields(job);
    takt_lanes_leave(&worker->lanes, job->lane);
    free(job);
}

void takt_job_end_dead(takt_job *job, const char *why)
{
    takt_worker *worker = job->worker;
    takt_error error;
    json_t *fields = NULL;
    takt_job_head head = {0};

    takt_lanes_let_go(&worker->lanes, job);
    if (takt_job_kind_read(worker->kind, worker->options.limit, job->text, job->size, &fields,
                           &head, &error) != 0)
        fields = NULL;
    takt_job_end_bury(worker, job->lane->figures, TAKT_REPORT_WAITING, job->ref, job->text,
                      job->size, fields ? head.id : NULL, why);
    json_decref(fields);
    takt_job_end_forget(job);
}

void takt_job_end_later(takt_job *job, int64_t wait_us)
{
    takt_worker *worker = job->worker;

    job->due_at_us = takt_worker_now(worker) + wait_us;
    worker->dirty = true;
    takt_later_put(&worker->later, job);
}

void takt_job_end_give_back(takt_job *job, takt_report_state from)
{
    takt_worker *worker = job->worker;

    takt_release(&job->permit);
    if (job->seated) {
        job->lane->seated = false;
        worker->seats.taken--;
    }
    takt_lanes_let_go(&worker->lanes, job);
    if (job->lost) {
        takt_report_lost(worker->report, job->lane->figures, from, NULL);
    } else {
        takt_job_source_give_back(worker->source, job->ref);
        takt_report_given_back(worker->report, job->lane->figures, from, NULL);
    }
    takt_job_end_forget(job);
}
