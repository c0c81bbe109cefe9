/*
 * worker.h: a worker from the inside, the lower parts first: what a job is read as (kind.c), how
 * one leaves that does not run (job_end.c), how one starts and ends (job.c), which texts are asked
 * for (fetches.c), who has a seat (seats.c), what goes on in a turn of the loop (pass.c), the end
 * before the work is done (drain.c), what comes from the source (intake.c), and opening, running
 * and closing (open.c, worker.c).
 */
#ifndef TAKT_WORKERS_FRAME_WORKER_H
#define TAKT_WORKERS_FRAME_WORKER_H

#include <takt/worker.h>
#include <uv.h>

#include "job_list.h"
#include "jobs/report/report.h"
#include "kit/signals.h"
#include "kit/wait_notice.h"
#include "lanes.h"
#include "later.h"
#include "results.h"
#include "retry.h"

/* What the command line says.  The strings are its own. */
typedef struct takt_worker_options {
    const char *policy, *store;
    const char *input, *state, *dead;   /* a file of jobs */
    const char *stream, *redis, *group; /* or a stream */
    int64_t take_over_us;
    bool until_empty;
    const char *limit; /* of jobs that name none; NULL */
    takt_retry_rule retry;
    unsigned parallel;
    unsigned waiting;  /* jobs of a lane in memory */
    uint64_t put_away; /* jobs in all that are put away */
    const char *results;
    int64_t drain_us;
    takt_report_options report;
} takt_worker_options;

/* ---- fetches.c: texts of jobs that were put away --------------------------------------------- */

typedef struct takt_fetched takt_fetched;

typedef struct takt_fetches {
    takt_fetched *first;
    unsigned count;
} takt_fetches;

void takt_fetches_begin(takt_worker *worker, takt_lane *lane, takt_job_ref ref);

/* It has come, or never will.  False: it was not asked for. */
bool takt_fetches_end(takt_worker *worker, takt_job_ref ref);

void takt_fetches_drop(takt_worker *worker); /* none is waited for any more */

/* ---- seats.c --------------------------------------------------------------------------------- */

typedef struct takt_seats {
    takt_job_list ready;             /* have their slots */
    takt_job_list starting, running; /* have seats */
    unsigned taken;                  /* also by those that acquire with a seat */
} takt_seats;

unsigned takt_seats_free(const takt_worker *worker);
void takt_seats_take(takt_worker *worker);  /* those that are ready take the seats that are free */
void takt_seats_start(takt_worker *worker); /* those that have seats start */
void takt_seats_give_up_stale(takt_worker *worker);
int64_t takt_seats_stale_at_us(const takt_seats *seats); /* INT64_MAX: no slot is kept */

/* Who has lost a slot for want of a seat takes the seat before it asks: one of each lane, so that
 * none takes up all seats by waiting. */
void takt_seats_reserve(takt_job *job);
void takt_seats_leave(takt_job *job);

/* ---- the worker ------------------------------------------------------------------------------ */

/* The client may be going by any of them. */
typedef struct takt_worker_policies {
    takt_policy **all; /* the newest last */
    unsigned count;
} takt_worker_policies;

typedef struct takt_worker_handles {
    uv_prepare_t pass;
    uv_timer_t due, drain, notice;
    takt_signals signals;
} takt_worker_handles;

typedef struct takt_worker_end {
    int signal; /* the one that ends it; 0 */
    int status;
    bool had_terminal; /* when it began */
    bool draining;     /* it was told to stop */
    bool drained;      /* what waited was given back */
    bool closing;
    bool kind_is_open, source_is_open, left_some;
    uint64_t dead_count;
} takt_worker_end;

struct takt_worker {
    const takt_job_kind *kind;
    takt_worker_options options;
    uv_loop_t loop;
    takt_client *client;
    takt_worker_policies policies;
    takt_report *report;
    takt_job_source *source;
    void (*source_closed)(takt_worker *worker);
    takt_results *results;
    takt_lanes lanes;
    takt_job_list acquiring;
    takt_seats seats;
    takt_later later;
    takt_fetches fetches;
    takt_wait_notice notice; /* on a terminal: what is waited for */
    uint64_t starts;         /* of attempts */
    unsigned parsed;         /* jobs that were not begun and are parsed */
    uint64_t random;
    takt_worker_handles handles;
    const char *rehearsal; /* the option by which nothing is really done; NULL: it is */
    bool dirty;            /* something has happened since the last pass */
    bool ended;            /* the source has no more */
    takt_worker_end end;
};

/* The loop's clock. */
static inline int64_t takt_worker_now(const takt_worker *worker)
{
    return (int64_t)uv_now(&worker->loop) * 1000;
}

/* ---- options.c, policy.c, open.c, say.c ------------------------------------------------------ */

/* Ends the program where the line is wrong. */
void takt_worker_options_parse(takt_worker *worker, int argc, char **argv);

/* 0, or the exit status after a message. */
int takt_worker_policy_open(takt_worker *worker);
void takt_worker_policy_reread(takt_worker *worker);
void takt_worker_policy_free(takt_worker *worker);

/* 0, or the exit status after a message; what was opened is to be closed. */
int takt_worker_open(takt_worker *worker);

/* Where the messages of takt_worker_say go; NULL: to standard error. */
void takt_worker_say_to(takt_report *report);

/* ---- kind.c ---------------------------------------------------------------------------------- */

/* Parses and checks a text: 0 with *fields and *head, or why it can never be done. */
int takt_job_kind_read(const takt_job_kind *kind, const char *limit, const char *text, size_t size,
                       json_t **fields, takt_job_head *head, takt_error *error);

/* ---- job_end.c: jobs that are in no list ----------------------------------------------------- */

void takt_job_end_dead(takt_job *job, const char *why);  /* it never started */
void takt_job_end_later(takt_job *job, int64_t wait_us); /* it is tried again */
void takt_job_end_give_back(takt_job *job, takt_report_state from);
void takt_job_end_drop_fields(takt_job *job); /* its text is all that is kept */
void takt_job_end_forget(takt_job *job);      /* nothing is left of it */

/* What is no job, or cannot be one any more, is put with the dead letters. */
void takt_job_end_bury(takt_worker *worker, takt_report_limit *figures, takt_report_state from,
                       takt_job_ref ref, const char *text, size_t size, const char *id,
                       const char *why);

/* ---- job.c ----------------------------------------------------------------------------------- */

takt_request takt_job_request(const takt_job *job);
void takt_job_start(takt_job *job); /* it has its seat */

/* ---- pass.c ---------------------------------------------------------------------------------- */

void takt_pass_run(takt_worker *worker);           /* whatever can go on goes on */
bool takt_pass_is_over(const takt_worker *worker); /* nothing is here, and nothing will come */

/* ---- drain.c --------------------------------------------------------------------------------- */

/* Stop reading, let finish what runs, from the next pass on; the status is that of the end, -1: the
 * usual one. */
void takt_drain_begin(takt_worker *worker, int status);
void takt_drain_waiting(takt_worker *worker); /* gives back all that does not run */
void takt_drain_running(takt_worker *worker); /* gives up what runs */

/* ---- intake.c -------------------------------------------------------------------------------- */

extern const takt_job_source_events takt_intake_source_events;
extern const takt_results_events takt_intake_results_events;

#endif
