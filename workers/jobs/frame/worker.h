/*
 * worker.h: a worker from the inside. The lower files first: kind.c reads a job, job_end.c ends
 * jobs that do not run, job.c starts and ends jobs, fetches.c asks for texts, seats.c gives out
 * seats, pass.c does one turn of the loop, drain.c stops early, intake.c takes jobs from the
 * source, open.c opens the worker, worker.c runs and closes it.
 */
#ifndef TAKT_WORKERS_FRAME_WORKER_H
#define TAKT_WORKERS_FRAME_WORKER_H

#include <takt/plan.h>
#include <takt/worker.h>
#include <uv.h>

#include "job_list.h"
#include "jobs/report/report.h"
#include "kit/policy_file.h"
#include "kit/signals.h"
#include "kit/wait_notice.h"
#include "lanes.h"
#include "later.h"
#include "results.h"
#include "retry.h"
#include "unit_names.h"

/* The command line. The strings belong to it. */
typedef struct takt_worker_options {
    const char *policy, *store;
    const char *input, *state, *dead;   /* a file of jobs */
    const char *stream, *redis, *group; /* or a stream */
    int64_t take_over_us;
    bool until_empty;
    const char *limit; /* for jobs that name none; NULL: none */
    takt_retry_rule retry;
    unsigned parallel;
    unsigned waiting;  /* jobs of a lane kept in memory */
    uint64_t put_away; /* jobs put away, in all lanes */
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

/* The text has arrived or never will; *figures are those of its limit. False: the worker did not
 * ask for it. */
bool takt_fetches_end(takt_worker *worker, takt_job_ref ref, takt_report_limit **figures);

void takt_fetches_drop(takt_worker *worker); /* gives back the jobs whose texts were asked for */

/* ---- seats.c --------------------------------------------------------------------------------- */

typedef struct takt_seats {
    takt_job_list ready;             /* jobs that have their slots */
    takt_job_list starting, running; /* jobs that have seats */
    unsigned taken;                  /* includes seats of jobs that ask for permits */
} takt_seats;

unsigned takt_seats_free(const takt_worker *worker);
void takt_seats_take(takt_worker *worker);  /* gives free seats to ready jobs */
void takt_seats_start(takt_worker *worker); /* starts jobs that have seats */
void takt_seats_give_up_stale(takt_worker *worker);
int64_t takt_seats_stale_at_us(const takt_seats *seats); /* INT64_MAX: no slot is kept */

/* A job that lost a slot for want of a seat takes its seat before it asks again: one job of each
 * lane, so that waiting jobs of one lane do not take all seats. */
void takt_seats_reserve(takt_job *job);
void takt_seats_leave(takt_job *job);

/* ---- rehearsal.c ----------------------------------------------------------------------------- */

typedef struct takt_rehearsal {
    const char *option; /* of a dry run; NULL: a normal run */
    takt_plan *plan;
    json_t *limits; /* by name: how many jobs were planned, the first start, the last one */
} takt_rehearsal;

/* 0, or the exit status after a message. */
int takt_rehearsal_open(takt_worker *worker);

/* Plans a job instead of asking for its permit: 0, or a code of takt_acquire or its callback. */
int takt_rehearsal_plan(takt_job *job, const takt_request *request);

/* In a dry run: adds to a job's result when the job would start. */
void takt_rehearsal_note(const takt_job *job, json_t *result);

/* In a dry run: says of each limit when its jobs would start, and frees the plan. */
void takt_rehearsal_close(takt_worker *worker);

/* ---- the worker ------------------------------------------------------------------------------ */

typedef struct takt_worker_handles {
    uv_prepare_t pass;
    uv_timer_t due, drain, notice;
    takt_signals signals;
} takt_worker_handles;

typedef struct takt_worker_end {
    int signal; /* the signal that ended the worker; 0: none */
    int status;
    bool draining; /* the worker was told to stop */
    bool drained;  /* waiting jobs were given back */
    bool closing;
    bool kind_is_open, source_is_open, left_some;
    uint64_t dead_count;
} takt_worker_end;

struct takt_worker {
    const takt_job_kind *kind;
    takt_worker_options options;
    uv_loop_t loop;
    takt_client *client;
    takt_policy *policy;
    takt_former_policies former;
    takt_report *report;
    takt_job_source *source;
    void (*source_closed)(takt_worker *worker);
    takt_results *results;
    takt_lanes lanes;
    takt_job_list acquiring;
    takt_unit_name *unit_names;
    json_t *misspelt; /* names of fields that were told (misspelt.h) */
    takt_seats seats;
    takt_later later;
    takt_fetches fetches;
    takt_wait_notice notice; /* on a terminal: what the jobs wait for */
    uint64_t starts;         /* attempts started */
    unsigned parsed;         /* parsed jobs that have not begun */
    uint64_t random;
    takt_worker_handles handles;
    takt_rehearsal rehearsal;
    bool dirty; /* something has changed since the last pass */
    bool ended; /* the source has no more jobs */
    takt_worker_end end;
};

/* The loop's clock. */
static inline int64_t takt_worker_now(const takt_worker *worker)
{
    return (int64_t)uv_now(&worker->loop) * 1000;
}

/* ---- options.c, files.c, policy.c, open.c, say.c --------------------------------------------- */

/* Ends the program if the command line is wrong. */
void takt_worker_options_parse(takt_worker *worker, int argc, char **argv);

/* 0, or the exit status after a message: the options use one file twice. */
int takt_worker_files_check(const takt_worker_options *options);

/* 0, or the exit status after a message. */
int takt_worker_policy_open(takt_worker *worker);
void takt_worker_policy_reread(takt_worker *worker);
void takt_worker_policy_free(takt_worker *worker);

/* 0, or the exit status after a message; the caller closes the parts that were opened. */
int takt_worker_open(takt_worker *worker);

/* The report that gets the messages of takt_worker_say; NULL: standard error. */
void takt_worker_say_to(takt_report *report);

/* ---- kind.c ---------------------------------------------------------------------------------- */

/* Parses and checks a text: 0 with *fields and *head, or why the job can never be done. */
int takt_job_kind_read(const takt_job_kind *kind, const char *limit, const char *text, size_t size,
                       json_t **fields, takt_job_head *head, takt_error *error);

/* ---- job_end.c: jobs that are in no list ----------------------------------------------------- */

void takt_job_end_dead(takt_job *job, const char *why);  /* the job never started */
void takt_job_end_later(takt_job *job, int64_t wait_us); /* the job is tried again */
void takt_job_end_give_back(takt_job *job, takt_report_state from);
void takt_job_end_drop_fields(takt_job *job); /* keeps only the job's text */
void takt_job_end_forget(takt_job *job);      /* frees the job */

/* Adds a text that is no job, or a job that cannot go on, to the dead letters. */
void takt_job_end_bury(takt_worker *worker, takt_report_limit *figures, takt_report_state from,
                       takt_job_ref ref, const char *text, size_t size, const char *id,
                       const char *why);

/* ---- job.c ----------------------------------------------------------------------------------- */

takt_request takt_job_request(const takt_job *job);

/* Sets what the request takes: the amounts that a job states, or its cost. */
void takt_job_request_take(const takt_worker *worker, takt_request *request, int32_t cost,
                           const takt_amount *amounts);
void takt_job_start(takt_job *job); /* the job has its seat */

/* ---- pass.c ---------------------------------------------------------------------------------- */

void takt_pass_run(takt_worker *worker);           /* does everything that is possible now */
bool takt_pass_is_over(const takt_worker *worker); /* no jobs are here, and none will come */

/* ---- drain.c --------------------------------------------------------------------------------- */

/* Stops reading and lets running jobs finish, from the next pass on. `status` is the exit status;
 * -1: the usual one. */
void takt_drain_begin(takt_worker *worker, int status);
void takt_drain_waiting(takt_worker *worker); /* gives back all jobs that do not run */
void takt_drain_running(takt_worker *worker); /* gives up running jobs */

/* ---- intake.c -------------------------------------------------------------------------------- */

extern const takt_job_source_events takt_intake_source_events;
extern const takt_results_events takt_intake_results_events;

#endif
