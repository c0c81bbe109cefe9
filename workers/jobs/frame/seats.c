/*
 * seats.c: a seat is one of --parallel. A worker asks for permits only while it has seats, so that
 * it takes no slots that it cannot use. A slot that has no seat for one second is given back, since
 * work that starts long after its slot may collide with the work of later slots.
 */
#include "worker.h"

#define STALE_US 1000000 /* how long a slot is kept without a seat */

unsigned takt_seats_free(const takt_worker *worker)
{
    unsigned taken = worker->seats.taken + worker->seats.ready.count;

    return taken < worker->options.parallel && !takt_results_is_full(worker->results)
               ? worker->options.parallel - taken
               : 0;
}

void takt_seats_leave(takt_job *job)
{
    if (!job->seated)
        return;
    job->seated = job->lane->seated = false;
    job->worker->seats.taken--;
}

/* Gives the job's slot back; the job waits for another one. */
static void give_up_slot(takt_job *job)
{
    takt_request request = takt_job_request(job);

    takt_settle(&job->permit, &request, NULL, 0);
    takt_release(&job->permit);
    job->owed = true;
    takt_lanes_line_up(&job->worker->lanes, job, true);
}

static bool is_stale(const takt_job *job)
{
    return takt_worker_now(job->worker) - job->granted_at_us >= STALE_US;
}

void takt_seats_give_up_stale(takt_worker *worker)
{
    while (worker->seats.ready.count > 0 && is_stale(worker->seats.ready.first)) {
        takt_job *job = worker->seats.ready.first;
        takt_job_list_remove(&worker->seats.ready, job);
        give_up_slot(job);
    }
}

/*
 * Whether a job must run alone because it may kill its worker: an earlier worker began it and never
 * ended it, and this attempt (or the next one, if it has not begun) is its last. If the worker dies
 * again, the culprit is known, and no innocent job has lost its last attempt.
 */
static bool runs_alone(const takt_job *job, unsigned next)
{
    return job->redelivered && job->attempts + next >= job->worker->options.retry.attempts;
}

/* Whether a job that runs alone is running or about to. No other job takes a seat meanwhile. */
static bool is_one_alone(const takt_worker *worker)
{
    const takt_job *starts = worker->seats.starting.first;

    if (worker->seats.running.count > 0 && runs_alone(worker->seats.running.first, 0))
        return true;
    while (starts && !runs_alone(starts, 1))
        starts = starts->next;
    return starts != NULL;
}

void takt_seats_take(takt_worker *worker)
{
    bool is_alone = is_one_alone(worker);

    while (worker->seats.ready.count > 0 && worker->seats.taken < worker->options.parallel &&
           !is_alone && !takt_results_is_full(worker->results)) {
        takt_job *job = worker->seats.ready.first;
        takt_job_list_remove(&worker->seats.ready, job);
        if (!worker->rehearsal.plan && !takt_is_held(&job->permit)) {
            give_up_slot(job);
            continue;
        }
        worker->seats.taken++;
        takt_lanes_let_go(&worker->lanes, job);
        takt_job_list_append(&worker->seats.starting, job);
        is_alone = runs_alone(job, 1);
    }
}

void takt_seats_reserve(takt_job *job)
{
    if (!job->owed || job->lane->seated)
        return;
    job->seated = job->lane->seated = true;
    job->worker->seats.taken++;
}

/* Notes the begin of the jobs that may start now: all jobs before the first one that must run
 * alone; or that one, when all others have ended and their ends are written. */
static void note_begun(takt_worker *worker)
{
    unsigned before = worker->seats.running.count;
    bool is_alone = before > 0 && runs_alone(worker->seats.running.first, 0);

    for (takt_job *job = worker->seats.starting.first; job && !is_alone; job = job->next) {
        is_alone = runs_alone(job, 1);
        if (is_alone && (before > 0 || !takt_results_is_idle(worker->results)))
            return;
        if (!job->begun)
            takt_job_source_begun(worker->source, job->ref, job->attempts + 1);
        job->begun = true;
        before++;
    }
}

void takt_seats_start(takt_worker *worker)
{
    note_begun(worker);
    if (!takt_job_source_flush(worker->source))
        return;
    for (takt_job *job = worker->seats.starting.first, *next; job; job = next) {
        next = job->next;
        if (!job->begun || !takt_job_source_is_noted(worker->source, job->ref))
            continue;
        takt_job_list_remove(&worker->seats.starting, job);
        takt_job_start(job);
    }
}

int64_t takt_seats_stale_at_us(const takt_seats *seats)
{
    return seats->ready.first ? seats->ready.first->granted_at_us + STALE_US : INT64_MAX;
}
