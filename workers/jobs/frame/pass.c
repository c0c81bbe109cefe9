/*
 * pass.c: one turn of the loop: which jobs ask for a permit, whose text is fetched, how much is
 * read; seats.c gives out the seats. Callbacks only put jobs into lists, so many changes need one
 * pass.
 */
#include <stdlib.h>

#include "kit/wall_clock.h"
#include "worker.h"

#define FETCH_MAX  64 /* texts being fetched at a time */
#define READ_AHEAD 256
#define AT_ONCE_US 5000 /* a permit within this time counts as given at once */
#define LANES_MAX  ((size_t)32 * 1024 * 1024) /* at more bytes of lanes, reading stops */

/* The job got no permit, for a reason that may pass: it asks again later. */
static void acquire_later(takt_job *job, const char *why)
{
    takt_worker *worker = job->worker;

    takt_job_end_later(job, takt_retry_wait(&worker->options.retry, 1, 0, &worker->random));
    takt_report_say(worker->report, "refused", why);
}

/* While workers differ about a limit's rules, those of another worker may be in force. */
static void refuse_for_good(takt_job *job, int code)
{
    takt_request request = takt_job_request(job);
    takt_error error = {0};

    if (takt_check_request(takt_get_policy(job->worker->client), &request, &error) != 0)
        takt_job_end_dead(job, error.text);
    else if (code == TAKT_E_COST)
        acquire_later(job, "other workers have rules for the limit that never give its cost");
    else
        takt_job_end_dead(job, takt_strerror(code));
}

static void refuse(takt_job *job, int code)
{
    switch (code) {
    case TAKT_E_DEADLINE:
        takt_job_end_dead(job, "its deadline passed while it waited for its slot");
        break;
    case TAKT_E_INVALID:
    case TAKT_E_NO_LIMIT:
    case TAKT_E_COST:
        refuse_for_good(job, code);
        break;
    default:
        acquire_later(job, takt_strerror(code));
    }
}

/* The answer to a request for a permit. */
static void decide(takt_job *job, int status)
{
    takt_worker *worker = job->worker;

    worker->dirty = true;
    job->granted_at_us = takt_worker_now(worker);
    job->lane->slow = job->granted_at_us - job->requested_at_us >= AT_ONCE_US;
    if (status == 0 && job->seated) {
        job->seated = job->lane->seated = false; /* the job itself has the seat from now on */
        takt_lanes_let_go(&worker->lanes, job);
        takt_job_list_append(&worker->seats.starting, job);
    } else if (status == 0) {
        takt_job_list_append(&worker->seats.ready, job);
    } else {
        takt_seats_leave(job);
        refuse(job, status);
    }
}

static void on_permit(takt_permit *permit, int status)
{
    takt_job *job = permit->data;

    takt_job_list_remove(&job->worker->acquiring, job);
    job->lane->acquiring--;
    decide(job, status);
}

/* Asks for a job's permit; the job is in no list. A dry run starts the job at once, without one. */
static void acquire(takt_job *job)
{
    takt_worker *worker = job->worker;
    takt_request request = takt_job_request(job);
    int failed;

    if (job->deadline_us) {
        request.max_wait_us = job->deadline_us - takt_wall_clock_now();
        if (request.max_wait_us <= 0) {
            takt_seats_leave(job);
            takt_job_end_dead(job, "its deadline has passed");
            return;
        }
    }
    job->permit.data = job;
    job->requested_at_us = takt_worker_now(worker);
    if (worker->rehearsal.plan) {
        decide(job, takt_rehearsal_plan(job, &request));
        return;
    }
    failed = takt_acquire(worker->client, &job->permit, &request, on_permit);
    if (failed) {
        takt_seats_leave(job);
        refuse(job, failed);
        return;
    }
    takt_job_list_append(&worker->acquiring, job);
    job->lane->acquiring++;
}

static void fetch(takt_worker *worker, takt_lane *lane)
{
    takt_job_ref ref;

    while (worker->fetches.count < FETCH_MAX && lane->away_count > 0 &&
           takt_lanes_has_room(&worker->lanes, lane, takt_lanes_size(0)) &&
           takt_lanes_take_away(&worker->lanes, lane, &ref))
        takt_fetches_begin(worker, lane, ref);
}

static void serve(takt_worker *worker, takt_lane *lane)
{
    takt_lanes_join(lane); /* the lane may lose its last job in this call */
    fetch(worker, lane);
    while (lane->line.count > 0 && lane->acquiring < takt_seats_free(worker)) {
        takt_job *job = lane->line.first;
        takt_lanes_step_out(&worker->lanes, job);
        takt_seats_reserve(job);
        acquire(job);
    }
    takt_lanes_leave(&worker->lanes, lane);
}

/* Serves each lane once; the next round begins with another lane. */
static void serve_all(takt_worker *worker)
{
    takt_lanes *waiting = &worker->lanes;

    for (unsigned count = waiting->busy_count; count > 0 && waiting->busy; count--) {
        takt_lane *lane = waiting->busy;
        waiting->busy = lane->next;
        serve(worker, lane);
    }
}

/* How long reading waits for the latest requests; INT64_MAX: no wait. */
static int64_t acquiring_until(const takt_worker *worker)
{
    const takt_job *last = worker->acquiring.last;

    return last && !last->lane->slow && last->requested_at_us + AT_ONCE_US > takt_worker_now(worker)
               ? last->requested_at_us + AT_ONCE_US
               : INT64_MAX;
}

/* Reads more jobs if there are free seats without candidates, and room to put jobs away. The latest
 * requests may take the seats at once, as those before them; jobs read now would be put away and
 * fetched again. So reading waits for them. */
static void read_on(takt_worker *worker)
{
    uint64_t away = worker->lanes.away_count, max = worker->options.put_away;
    bool is_room =
        away < max && worker->lanes.lanes_size < LANES_MAX && acquiring_until(worker) == INT64_MAX;
    unsigned count = is_room && takt_seats_free(worker) > 0 ? READ_AHEAD : 0;

    if (count > 0 && count > max - away)
        count = (unsigned)(max - away);
    if (count > 0 && worker->rehearsal.plan) /* one at a time: planned in the order of the source */
        count = worker->lanes.busy_count == 0;
    takt_job_source_want(worker->source, count);
}

static void come_back(takt_worker *worker)
{
    takt_job *job;

    while ((job = takt_later_take(&worker->later, takt_worker_now(worker))) != NULL) {
        job->since_us = takt_worker_now(worker);
        takt_lanes_line_up(&worker->lanes, job, false);
    }
}

static void on_due(uv_timer_t *timer)
{
    takt_worker *worker = timer->data;

    worker->dirty = true; /* the pass finds the jobs that are due */
}

/* Sets the timer that serves retries, slots kept too long, and requests that were not answered at
 * once. */
static void arm(takt_worker *worker)
{
    int64_t due_at_us = takt_later_due_us(&worker->later);
    int64_t stale_at_us = takt_seats_stale_at_us(&worker->seats);

    if (stale_at_us < due_at_us)
        due_at_us = stale_at_us;
    if (acquiring_until(worker) < due_at_us)
        due_at_us = acquiring_until(worker);
    if (due_at_us == INT64_MAX) {
        uv_timer_stop(&worker->handles.due);
        return;
    }
    int64_t wait_us = due_at_us - takt_worker_now(worker);
    uint64_t wait_ms = wait_us > 0 ? (uint64_t)(wait_us + 999) / 1000 : 0;
    uv_timer_start(&worker->handles.due, on_due, wait_ms, 0);
}

void takt_pass_run(takt_worker *worker)
{
    if (!worker->end.draining) {
        come_back(worker);
        takt_seats_give_up_stale(worker);
        takt_seats_take(worker);
    }
    takt_seats_start(worker);
    if (!worker->end.draining) {
        serve_all(worker);
        read_on(worker);
        arm(worker);
    }
    takt_job_source_flush(worker->source);
}

bool takt_pass_is_over(const takt_worker *worker)
{
    const takt_lanes *waiting = &worker->lanes;

    return (worker->ended || worker->end.draining) && waiting->busy_count == 0 &&
           worker->fetches.count == 0 && worker->acquiring.count == 0 &&
           worker->seats.ready.count == 0 && worker->seats.starting.count == 0 &&
           worker->seats.running.count == 0 && worker->later.jobs.count == 0 &&
           takt_results_is_idle(worker->results);
}
