/*
 * worker.h: a worker from the inside: what its parts (options.c, policy.c, run.c, worker.c) share.
 */
#ifndef TAKT_WORKERS_FRAME_WORKER_H
#define TAKT_WORKERS_FRAME_WORKER_H

#include "jobs/report/report.h"
#include "kind.h"
#include "results.h"
#include "retry.h"
#include "waiting.h"
#include "work.h"

/* What the command line says.  The strings are its own. */
typedef struct worker_options {
    const char *policy, *store;
    const char *input, *state, *dead;   /* a file of jobs */
    const char *stream, *redis, *group; /* or a stream */
    int64_t take_over_us;
    bool until_empty;
    const char *limit; /* of jobs that name none; NULL */
    retry_rule retry;
    unsigned parallel;
    unsigned waiting;  /* jobs of a lane in memory */
    uint64_t put_away; /* jobs in all that are put away */
    const char *results;
    int64_t drain_us;
    report_options report;
} worker_options;

typedef struct fetched fetched; /* a text that was asked for (run.c) */

struct worker {
    const kind *kind;
    worker_options options;
    uv_loop_t loop;
    takt_client *client;
    takt_policy **policies; /* all that the client has seen, the newest last */
    unsigned policy_count;
    report *report;
    source *source;
    results *results;
    waiting waiting;
    job_list asking, ready, starting, running;
    unsigned seats; /* taken: by those that start or run, and those that ask with a seat */
    job **later;    /* a heap: those that are tried again, the next one first */
    unsigned later_count, later_capacity;
    fetched *fetching; /* texts that were asked for */
    unsigned fetch_count;
    unsigned parsed; /* jobs that were not begun and are parsed */
    uint64_t random;
    uint64_t dead_count;
    uv_prepare_t pass;
    uv_timer_t later_timer, drain_timer;
    uv_signal_t signals[3];
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
void options_parse(worker *worker, int argc, char **argv);

/* policy.c: 0, or the exit status after a message. */
int policy_open(worker *worker);
void policy_reread(worker *worker);
void policy_free(worker *worker);

/* take.c, run.c, end.c, drain.c: the life of jobs. */
extern const source_events run_source_events;
extern const results_events run_results_events;
void run_pass(worker *worker);          /* whatever can go on goes on */
bool run_is_over(const worker *worker); /* nothing is here, and nothing will come */
void run_drain(worker *worker);         /* gives back all that does not run */
void run_abandon(worker *worker);       /* gives up what runs */

/* later.c: jobs that wait to be tried again. */
bool later_put(worker *worker, job *job);
job *later_take(worker *worker, int64_t now_us); /* NULL: none is due */
void later_remove(worker *worker, job *job);
void later_arm(worker *worker);

/* worker.c: stop reading, let finish what runs; the status is that of the end, -1: the usual one.
 */
void worker_stop(worker *worker, int status);
void worker_source_closed(worker *worker);

/* The loop's clock. */
static inline int64_t worker_now(const worker *worker)
{
    return (int64_t)uv_now(&worker->loop) * 1000;
}

#endif
