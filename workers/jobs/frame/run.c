/*
 * run.c: what goes on in a turn of the loop: who asks for a permit, who gets a seat, whose text is
 * fetched, how much is read.  Many changes, one pass: callbacks only put jobs into lists.
 *
 * A seat is one of --parallel.  Permits are asked for as long as there are seats, so that slots are
 * not taken that cannot be used; a slot that finds no seat after all for a second is given back,
 * since work that starts long after its slot may meet that of the next slots.
 */
#include "run.h"

#include <stdlib.h>

#include "jobs/text/instant.h"

#define FETCH_MAX  64 /* texts that are fetched at a time */
#define READ_AHEAD 256
#define AT_ONCE_US 5000 /* who gets its permit within that time did not have to wait */
#define LANES_MAX  ((size_t)32 * 1024 * 1024) /* bytes of lanes before no more is read */

static unsigned free_seats(const takt_worker *worker)
{
    unsigned taken = worker->seats + worker->ready.count;

    return taken < worker->options.parallel && !takt_results_is_full(worker->results)
               ? worker->options.parallel - taken
               : 0;
}

takt_request run_request(const takt_job *job)
{
    takt_request request = TAKT_REQUEST(job->lane->limit);

    request.key = job->lane->key;
    request.cost = job->cost;
    request.priority = job->priority;
    return request;
}

/* It got no permit, for a reason that may pass: it asks again after a while. */
static void ask_later(takt_job *job, int code)
{
    takt_worker *worker = job->worker;

    run_retry_after(job, takt_retry_wait(&worker->options.retry, 1, 0, &worker->random));
    takt_report_say(worker->report, "refused", takt_strerror(code));
}

static void refuse(takt_job *job, int code)
{
    takt_request request = run_request(job);
    takt_error error = {0};

    switch (code) {
    case TAKT_E_DEADLINE:
        run_dead(job, "its deadline has passed while it waited for its slot");
        break;
    case TAKT_E_INVALID:
    case TAKT_E_NO_LIMIT:
    case TAKT_E_COST:
        takt_check_request(takt_get_policy(job->worker->client), &request, &error);
        run_dead(job, error.text[0] ? error.text : takt_strerror(code));
        break;
    default:
        ask_later(job, code);
    }
}

static void leave_seat(takt_job *job)
{
    if (!job->seated)
        return;
    job->seated = job->lane->seated = false;
    job->worker->seats--;
}

static void on_permit(takt_permit *permit, int status)
{
    takt_job *job = permit->data;
    takt_worker *worker = job->worker;

    takt_job_list_remove(&worker->asking, job);
    job->lane->asking--;
    worker->dirty = true;
    job->granted_at_us = takt_worker_now(worker);
    job->lane->slow = job->granted_at_us - job->asked_at_us >= AT_ONCE_US;
    if (status == 0 && job->seated) {
        job->seated = job->lane->seated = false; /* from now on it has one like all that run */
        takt_lanes_let_go(&worker->waiting, job);
        takt_job_list_append(&worker->starting, job);
    } else if (status == 0) {
        takt_job_list_append(&worker->ready, job);
    } else {
        leave_seat(job);
        refuse(job, status);
    }
}

/* Asks for a job's permit; it is in no list. */
static void ask(takt_job *job)
{
    takt_worker *worker = job->worker;
    takt_request request = run_request(job);

    if (job->deadline_us) {
        request.max_wait_us = job->deadline_us - takt_instant_now();
        if (request.max_wait_us <= 0) {
            leave_seat(job);
            run_dead(job, "its deadline has passed");
            return;
        }
    }
    job->permit.data = job;
    job->asked_at_us = takt_worker_now(worker);
    int failed = takt_acquire(worker->client, &job->permit, &request, on_permit);
    if (failed) {
        leave_seat(job);
        refuse(job, failed);
        return;
    }
    takt_job_list_append(&worker->asking, job);
    job->lane->asking++;
}

/* Its slot is not used, and it waits for another one. */
static void give_up_slot(takt_job *job)
{
    takt_request request = run_request(job);

    takt_settle(&job->permit, &request, 0);
    takt_release(&job->permit);
    job->owed = true;
    takt_lanes_line_up(&job->worker->waiting, job, true);
}

static bool is_stale(const takt_job *job)
{
    return takt_worker_now(job->worker) - job->granted_at_us >= RUN_STALE_US;
}

static void give_up_stale(takt_worker *worker)
{
    while (worker->ready.count > 0 && is_stale(worker->ready.first)) {
        takt_job *job = worker->ready.first;
        takt_job_list_remove(&worker->ready, job);
        give_up_slot(job);
    }
}

/*
 * Whether a job runs by itself, because it may end its worker: it was begun before it came here,
 * never ended, and this attempt (or the next one, where it has not begun) is its last.  If the
 * worker dies once more it is known which job did it, and what merely ran beside it is done.
 */
static bool runs_alone(const takt_job *job, unsigned next)
{
    return job->came_back && job->attempts + next >= job->worker->options.retry.attempts;
}

/* Whether such a job runs, or is about to: nobody else takes a seat meanwhile. */
static bool is_one_alone(const takt_worker *worker)
{
    const takt_job *starts = worker->starting.first;

    if (worker->running.count > 0 && runs_alone(worker->running.first, 0))
        return true;
    while (starts && !runs_alone(starts, 1))
        starts = starts->next;
    return starts != NULL;
}

/* The ones that are ready take the seats that are free. */
static void seat(takt_worker *worker)
{
    bool is_alone = is_one_alone(worker);

    while (worker->ready.count > 0 && worker->seats < worker->options.parallel && !is_alone &&
           !takt_results_is_full(worker->results)) {
        takt_job *job = worker->ready.first;
        takt_job_list_remove(&worker->ready, job);
        if (!takt_is_held(&job->permit)) {
            give_up_slot(job);
            continue;
        }
        worker->seats++;
        takt_lanes_let_go(&worker->waiting, job);
        takt_job_list_append(&worker->starting, job);
        is_alone = runs_alone(job, 1);
    }
}

/* Who has lost a slot for want of a seat takes the seat first: one of each lane, so that none takes
 * up all seats by waiting. */
static void reserve_seat(takt_job *job)
{
    if (!job->owed || job->lane->seated)
        return;
    job->seated = job->lane->seated = true;
    job->worker->seats++;
}

/* Who may start now is noted as begun: all up to one that runs alone; or that one, when all others
 * have ended and that is written down. */
static void note_begun(takt_worker *worker)
{
    unsigned before = worker->running.count;
    bool is_alone = before > 0 && runs_alone(worker->running.first, 0);

    for (takt_job *job = worker->starting.first; job && !is_alone; job = job->next) {
        is_alone = runs_alone(job, 1);
        if (is_alone && (before > 0 || !takt_results_is_idle(worker->results)))
            return;
        if (!job->begun)
            takt_job_source_begun(worker->source, job->ref, job->attempts + 1);
        job->begun = true;
        before++;
    }
}

static void start(takt_worker *worker)
{
    note_begun(worker);
    if (!takt_job_source_flush(worker->source))
        return;
    for (takt_job *job = worker->starting.first, *next; job; job = next) {
        next = job->next;
        if (!job->begun || !takt_job_source_is_noted(worker->source, job->ref))
            continue;
        takt_job_list_remove(&worker->starting, job);
        run_start(job);
    }
}

static void fetch(takt_worker *worker, takt_lane *lane)
{
    takt_job_ref ref;

    while (run_fetching(worker) < FETCH_MAX && lane->away_count > 0 &&
           takt_lanes_has_room(&worker->waiting, lane, takt_lanes_size(0)) &&
           takt_lanes_take_away(&worker->waiting, lane, &ref))
        run_fetch(worker, lane, ref);
}

static void serve(takt_worker *worker, takt_lane *lane)
{
    takt_lanes_join(lane); /* it may lose its last job meanwhile */
    fetch(worker, lane);
    while (lane->line.count > 0 && lane->asking < free_seats(worker)) {
        takt_job *job = lane->line.first;
        takt_lanes_step_out(&worker->waiting, job);
        reserve_seat(job);
        ask(job);
    }
    takt_lanes_leave(&worker->waiting, lane);
}

/* Each lane in turn; the next round begins with another one. */
static void serve_all(takt_worker *worker)
{
    takt_lanes *waiting = &worker->waiting;

    for (unsigned count = waiting->busy_count; count > 0 && waiting->busy; count--) {
        takt_lane *lane = waiting->busy;
        waiting->busy = lane->next;
        serve(worker, lane);
    }
}

int64_t run_asked_until(const takt_worker *worker)
{
    const takt_job *last = worker->asking.last;

    return last && !last->lane->slow && last->asked_at_us + AT_ONCE_US > takt_worker_now(worker)
               ? last->asked_at_us + AT_ONCE_US
               : INT64_MAX;
}

/* Reads on while there are seats that nobody wants, and room to put away what has to wait.  Those
 * who have just asked and have not had to wait so far may be about to take the seats: what was read
 * now would be put away, and fetched again. */
static void read_on(takt_worker *worker)
{
    uint64_t away = worker->waiting.away_count, most = worker->options.put_away;
    bool is_room = away < most && worker->waiting.lanes_size < LANES_MAX &&
                   run_asked_until(worker) == INT64_MAX;
    unsigned count = is_room && free_seats(worker) > 0 ? READ_AHEAD : 0;

    if (count > 0 && count > most - away)
        count = (unsigned)(most - away);
    takt_job_source_want(worker->source, count);
}

static void come_back(takt_worker *worker)
{
    takt_job *job;

    while ((job = later_take(worker, takt_worker_now(worker))) != NULL) {
        job->since_us = takt_worker_now(worker);
        takt_lanes_line_up(&worker->waiting, job, false);
    }
}

void run_pass(takt_worker *worker)
{
    if (!worker->draining) {
        come_back(worker);
        give_up_stale(worker);
        seat(worker);
    }
    start(worker);
    if (!worker->draining) {
        serve_all(worker);
        read_on(worker);
        later_arm(worker);
    }
    takt_job_source_flush(worker->source);
}

bool run_is_over(const takt_worker *worker)
{
    const takt_lanes *waiting = &worker->waiting;

    return (worker->ended || worker->draining) && waiting->busy_count == 0 &&
           run_fetching(worker) == 0 && worker->asking.count == 0 && worker->ready.count == 0 &&
           worker->starting.count == 0 && worker->running.count == 0 && worker->later_count == 0 &&
           takt_results_is_idle(worker->results);
}
