/*
 * drain.c: stops a worker before its work is done: waiting jobs are given back at once, so that
 * other workers can take them; running jobs may end, or are given up.
 */
#include <stdlib.h>

#include "worker.h"

void takt_drain_begin(takt_worker *worker, int status)
{
    if (status >= 0 && worker->end.status == 0)
        worker->end.status = status;
    worker->dirty = true;
    if (!worker->end.closing)
        worker->end.draining = true;
}

static void give_back_all(takt_job_list *list)
{
    while (list->first) {
        takt_job *job = list->first;
        takt_job_list_remove(list, job);
        takt_job_end_give_back(job, TAKT_REPORT_WAITING);
    }
}

static void give_back_away(takt_worker *worker, takt_lane *lane)
{
    takt_job_ref ref;

    while (takt_lanes_take_away(&worker->lanes, lane, &ref)) {
        takt_job_source_give_back(worker->source, ref);
        takt_report_given_back(worker->report, lane->figures, TAKT_REPORT_PUT_AWAY, NULL);
    }
}

static void give_back_lane(takt_worker *worker, takt_lane *lane)
{
    takt_lanes_join(lane);
    while (lane->line.count > 0) {
        takt_job *job = lane->line.first;
        takt_lanes_step_out(&worker->lanes, job);
        takt_job_end_give_back(job, TAKT_REPORT_WAITING);
    }
    give_back_away(worker, lane);
    takt_lanes_leave(&worker->lanes, lane);
}

/* Gives back jobs that have a seat and have not started. The source may have noted that they
 * begin. */
static void give_back_starting(takt_worker *worker)
{
    while (worker->seats.starting.first) {
        takt_job *job = worker->seats.starting.first;
        takt_job_list_remove(&worker->seats.starting, job);
        worker->seats.taken--;
        takt_lanes_hold(&worker->lanes, job);
        if (job->begun && !job->lost)
            takt_job_source_tried(worker->source, job->ref, job->attempts);
        takt_job_end_give_back(job, TAKT_REPORT_WAITING);
    }
}

void takt_drain_waiting(takt_worker *worker)
{
    takt_job_source_want(worker->source, 0);
    takt_report_set_phase(worker->report, TAKT_REPORT_DRAINING);
    for (takt_job *job = worker->acquiring.first; job; job = job->next)
        job->lane->acquiring--;
    give_back_all(&worker->acquiring);
    give_back_all(&worker->seats.ready);
    give_back_starting(worker);
    while (worker->lanes.busy)
        give_back_lane(worker, worker->lanes.busy);
    while (worker->later.jobs.first) {
        takt_job *job = worker->later.jobs.first;
        takt_later_remove(&worker->later, job);
        takt_job_end_give_back(job, TAKT_REPORT_WAITING);
    }
    takt_fetches_drop(worker);
}

void takt_drain_running(takt_worker *worker)
{
    while (worker->seats.running.first) {
        takt_job *job = worker->seats.running.first;
        takt_job_list_remove(&worker->seats.running, job);
        worker->seats.taken--;
        worker->end.left_some = true;
        json_decref(job->fields);
        job->fields = NULL;
        if (!job->lost)
            takt_job_source_tried(worker->source, job->ref, job->attempts);
        takt_lanes_hold(&worker->lanes, job);
        takt_job_end_give_back(job, TAKT_REPORT_RUNNING);
    }
}
