/*
 * worker.h: a worker from the inside: what its parts (options.c, policy.c, run.c, worker.c) share.
 */
#ifndef TAKT_WORKERS_FRAME_WORKER_H
#define TAKT_WORKERS_FRAME_WORKER_H

#include "jobs/report/report.h"
#include "kind.h"
#include "kit/signals.h"
#include "results.h"
#include "retry.h"
#include "waiting.h"
#include "work.h"

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

typedef struct takt_fetched takt_fetched; /* a text that was asked for (run.c) */

struct takt_worker {
    const takt_job_kind *kind;
    takt_worker_options options;
    uv_loop_t loop;
    takt_client *client;
    takt_policy **policies; /* all that the client has seen, the newest last */
    unsigned policy_count;
    takt_report *report;
    takt_job_source *source;
    takt_results *results;
    takt_lanes waiting;
    takt_job_list asking, ready, starting, running;
    unsigned seats;   /* taken: by those that start or run, and those that ask with a seat */
    takt_job **later; /* a heap: those that are tried again, the next one first */
    unsigned later_count, later_capacity;
    takt_fetched *fetching; /* texts that were asked for */
    unsigned fetch_count;
    unsigned parsed; /* jobs that were not begun and are parsed */
    uint64_t random;
    uint64_t dead_count;
    uv_prepare_t pass;
    uv_timer_t later_timer, drain_timer;
    takt_signals signals;
    int signal;    /* the one that ends it; 0 */
    bool dirty;    /* something has happened since the last pass */
    bool ended;    /* the source has no more */
    bool draining; /* it was told to stop */
    bool drained;  /* what waited was given back */
    bool closing;
    bool kind_is_open, source_is_open, left_some;
    int status;
};

/* options.c: ends the program where the line is wrong. */
void takt_worker_options_parse(takt_worker *worker, int argc, char **argv);

/* policy.c: 0, or the exit status after a message. */
int takt_worker_policy_open(takt_worker *worker);
void takt_worker_policy_reread(takt_worker *worker);
void takt_worker_policy_free(takt_worker *worker);

/* take.c, run.c, end.c, drain.c: the life of jobs. */
extern const takt_job_source_events run_source_events;
extern const takt_results_events run_results_events;
void run_pass(takt_worker *worker);          /* whatever can go on goes on */
bool run_is_over(const takt_worker *worker); /* nothing is here, and nothing will come */
void run_drain(takt_worker *worker);         /* gives back all that does not run */
void run_abandon(takt_worker *worker);       /* gives up what runs */

/* later.c: jobs that wait to be tried again. */
bool later_put(takt_worker *worker, takt_job *job);
takt_job *later_take(takt_worker *worker, int64_t now_us); /* NULL: none is due */
void later_remove(takt_worker *worker, takt_job *job);
void later_arm(takt_worker *worker);

/* worker.c: stop reading, let finish what runs; the status is that of the end, -1: the usual one.
 */
void takt_worker_stop(takt_worker *worker, int status);
void takt_worker_source_closed(takt_worker *worker);

/* The loop's clock. */
static inline int64_t takt_worker_now(const takt_worker *worker)
{
    return (int64_t)uv_now(&worker->loop) * 1000;
}

#endif
