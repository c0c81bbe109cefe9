/*
 * drain.c: the end before the work is done: what waits is given back, so that others can have it at
 * once; what runs may end, or is given up.
 */
#include <stdlib.h>

#include "run.h"

static void give_back_all(job_list *list)
{
    while (list->first) {
        job *job = list->first;
        job_list_remove(list, job);
        run_give_back(job, REPORT_WAITING);
    }
}

static void give_back_away(worker *worker, lane *lane)
{
    source_ref ref;

    while (waiting_take_away(&worker->waiting, lane, &ref)) {
        source_give_back(worker->source, ref);
        report_given_back(worker->report, lane->figures, REPORT_PUT_AWAY, NULL);
    }
}

static void give_back_lane(worker *worker, lane *lane)
{
    waiting_join(lane);
    while (lane->line.count > 0) {
        job *job = lane->line.first;
        waiting_step_out(&worker->waiting, job);
        run_give_back(job, REPORT_WAITING);
    }
    give_back_away(worker, lane);
    waiting_leave(&worker->waiting, lane);
}

/* They have their seats, and have not started; of some it was said that they begin. */
static void give_back_starting(worker *worker)
{
    while (worker->starting.first) {
        job *job = worker->starting.first;
        job_list_remove(&worker->starting, job);
        worker->seats--;
        waiting_hold(&worker->waiting, job);
        if (job->begun && !job->lost)
            source_tried(worker->source, job->ref, job->attempts);
        run_give_back(job, REPORT_WAITING);
    }
}

void run_drain(worker *worker)
{
    for (job *job = worker->asking.first; job; job = job->next)
        job->lane->asking--;
    give_back_all(&worker->asking);
    give_back_all(&worker->ready);
    give_back_starting(worker);
    while (worker->waiting.busy)
        give_back_lane(worker, worker->waiting.busy);
    while (worker->later_count > 0) {
        job *job = worker->later[0];
        later_remove(worker, job);
        run_give_back(job, REPORT_WAITING);
    }
    run_drop_fetches(worker);
}

void run_abandon(worker *worker)
{
    while (worker->running.first) {
        job *job = worker->running.first;
        job_list_remove(&worker->running, job);
        worker->seats--;
        worker->left_some = true;
        json_decref(job->fields);
        job->fields = NULL;
        if (!job->lost)
            source_tried(worker->source, job->ref, job->attempts);
        waiting_hold(&worker->waiting, job);
        run_give_back(job, REPORT_RUNNING);
    }
}
