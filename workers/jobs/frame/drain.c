/*
 * drain.c: the end before the work is done: what waits is given back, so that others can have it at
 * once; what runs may end, or is given up.
 */
#include <stdlib.h>

#include "run.h"

static void give_back_all(takt_job_list *list)
{
    while (list->first) {
        takt_job *job = list->first;
        takt_job_list_remove(list, job);
        run_give_back(job, TAKT_REPORT_WAITING);
    }
}

static void give_back_away(takt_worker *worker, takt_lane *lane)
{
    takt_job_ref ref;

    while (takt_lanes_take_away(&worker->waiting, lane, &ref)) {
        takt_job_source_give_back(worker->source, ref);
        takt_report_given_back(worker->report, lane->figures, TAKT_REPORT_PUT_AWAY, NULL);
    }
}

static void give_back_lane(takt_worker *worker, takt_lane *lane)
{
    takt_lanes_join(lane);
    while (lane->line.count > 0) {
        takt_job *job = lane->line.first;
        takt_lanes_step_out(&worker->waiting, job);
        run_give_back(job, TAKT_REPORT_WAITING);
    }
    give_back_away(worker, lane);
    takt_lanes_leave(&worker->waiting, lane);
}

/* They have their seats, and have not started; of some it was said that they begin. */
static void give_back_starting(takt_worker *worker)
{
    while (worker->starting.first) {
        takt_job *job = worker->starting.first;
        takt_job_list_remove(&worker->starting, job);
        worker->seats--;
        takt_lanes_hold(&worker->waiting, job);
        if (job->begun && !job->lost)
            takt_job_source_tried(worker->source, job->ref, job->attempts);
        run_give_back(job, TAKT_REPORT_WAITING);
    }
}

void run_drain(takt_worker *worker)
{
    for (takt_job *job = worker->asking.first; job; job = job->next)
        job->lane->asking--;
    give_back_all(&worker->asking);
    give_back_all(&worker->ready);
    give_back_starting(worker);
    while (worker->waiting.busy)
        give_back_lane(worker, worker->waiting.busy);
    while (worker->later_count > 0) {
        takt_job *job = worker->later[0];
        later_remove(worker, job);
        run_give_back(job, TAKT_REPORT_WAITING);
    }
    run_drop_fetches(worker);
}

void run_abandon(takt_worker *worker)
{
    while (worker->running.first) {
        takt_job *job = worker->running.first;
        takt_job_list_remove(&worker->running, job);
        worker->seats--;
        worker->left_some = true;
        json_decref(job->fields);
        job->fields = NULL;
        if (!job->lost)
            takt_job_source_tried(worker->source, job->ref, job->attempts);
        takt_lanes_hold(&worker->waiting, job);
        run_give_back(job, TAKT_REPORT_RUNNING);
    }
}
