/*
 * takt/worker.h: a worker of your own for the jobs of files, pipes and Redis streams.
 *
 * A kind of worker is a struct of functions: what its jobs look like, and how one is done.  The
 * library does the rest (docs/workers.md): it reads jobs, acquires permits, starts what is due,
 * tries again, and records results and dead letters.
 *
 *     static const takt_job_kind kind = {.name = "takt-print", .summary = "...", .start = start};
 *     int main(int argc, char **argv)
 *     {
 *         return takt_worker_main(argc, argv, &kind);
 *     }
 *
 * A job is a line of JSON.  `id` is required, and so is `limit` unless the command line names one
 * for all jobs; fields that are not listed here belong to the kind:
 *
 *     {"id": "m-17", "limit": "sendgrid", "key": "acct-42", "cost": 1, "priority": 5,
 *      "deadline": "2026-11-22T12:00:00Z", "idempotency_key": "m-17", ...}
 *
 * It is a library of its own: link with `pkg-config takt-worker`.  Fields are objects of jansson,
 * options are those of argp, the loop is libuv's.  This header needs none of theirs; a kind
 * includes those that it uses.  All functions run on the loop's thread, and a process has one
 * worker.
 */
#ifndef TAKT_WORKER_H
#define TAKT_WORKER_H

#include <stdint.h>

#include <takt/takt.h>

#ifdef __cplusplus
extern "C" {
#endif

struct argp;   /* <argp.h> */
struct json_t; /* <jansson.h>: json_t */

typedef struct takt_job takt_job;

#define TAKT_JOB_ID_MAX   255 /* bytes of an id or an idempotency key; UTF-8 without controls */
#define TAKT_JOB_WHY_SIZE 512 /* enough for a reason in logs and dead letters, with its NUL */

/* What every job says.  The strings are valid as long as the job's fields. */
typedef struct takt_job_head {
    const char *id;
    const char *limit;
    /* NULL: the limit as a whole. */
    const char *key;
    /* The id, if the job has none. */
    const char *idempotency_key;
    /* 1, if the job has none. */
    int32_t cost;
    /* Those of "cost": {"tokens": 1500}; unit NULL: not used. */
    takt_amount amounts[TAKT_AMOUNTS_MAX];
    /* TAKT_PRIORITY_POLICY, if the job has none. */
    int32_t priority;
    /* The job must not start after that instant of the wall clock; 0: none. */
    int64_t deadline_us;
    /* For whom it is (takt_request.tenant); NULL: it names none, or an empty one. */
    const char *tenant;
} takt_job_head;

/* A kind of worker.  Only `name`, `summary` and `start` are required. */
typedef struct takt_job_kind {
    /* "takt-mail": how messages begin. */
    const char *name;
    /* One sentence for --help. */
    const char *summary;
    /* The kind's own options, with `self` as their input. */
    const struct argp *options;
    /* The first argument of all functions. */
    void *self;

    /* The option for a rehearsal, such as "--dry-run", if it was given; else NULL.  In a rehearsal
     * no permit is taken, no job waits, nothing is recorded as done (except with --state), and no
     * stream is read, because that would lose its jobs.  Results say when their jobs would start.
     */
    const char *(*rehearses)(const void *self);

    /* The unit of the cost, such as "recipients": a limit that counts it takes the job's cost as
     * its amount, unless the job states amounts.  NULL: none. */
    const char *cost_unit;

    /* Called before the first job: 0, or the exit status after a message (takt_worker_say). */
    int (*open)(void *self, struct uv_loop_s *loop, const takt_policy *policy);

    /* Checks a job when it is read, without doing anything: 0, TAKT_E_INVALID and why it can never
     * be done, or TAKT_E_NOMEM.  May add to `fields`, and set head->key, head->limit and head->cost
     * to strings of `fields` or strings that outlive it.  Called again before `start` if the fields
     * were dropped meanwhile. */
    int (*check)(void *self, struct json_t *fields, takt_job_head *head, takt_error *error);

    /* The job's slot is due: do it, and end it with takt_job_done, takt_job_retry,
     * takt_job_postpone or takt_job_dead, now or later.  Must not block. */
    void (*start)(void *self, takt_job *job);

    /* Called after the last job, or when --drain is over: close everything on the loop.  Do not
     * call the functions below for jobs that still run. */
    void (*close)(void *self);
} takt_job_kind;

/* Runs a worker from its command line to its end, and returns the exit status. */
TAKT_EXPORT int takt_worker_main(int argc, char **argv, const takt_job_kind *kind);

/* Writes a message, "takt-mail: ...", to standard error or the log, without disturbing the live
 * display. */
TAKT_EXPORT void takt_worker_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A job between `start` and the one call that ends it: takt_job_done, takt_job_retry,
 * takt_job_postpone or takt_job_dead.  After that call the job is gone.
 */

/* The job's fields, valid until its end. */
TAKT_EXPORT const takt_job_head *takt_job_head_of(const takt_job *job);
TAKT_EXPORT const struct json_t *takt_job_fields(const takt_job *job);

/* 1 for the first attempt. */
TAKT_EXPORT unsigned takt_job_attempt(const takt_job *job);

/* 1: it may continue.  0: its permit was lost (takt_is_held), and another worker may run it. */
TAKT_EXPORT int takt_job_is_held(const takt_job *job);

/* The fencing number, to send with each write; 0: its limit has no concurrency. */
TAKT_EXPORT int64_t takt_job_fence(const takt_job *job);

/* The worker's client, for kinds that read or steer limits themselves.  It closes after the kind,
 * and calls of the kind that are under way then are answered. */
TAKT_EXPORT takt_client *takt_job_client(const takt_job *job);

/* The job is done.  `result` (an object, which is taken over; NULL: none) becomes a line of the
 * results, behind "id". */
TAKT_EXPORT void takt_job_done(takt_job *job, struct json_t *result);

/* The attempt failed.  The job is tried again, after_us from now at the earliest (a Retry-After; or
 * 0), or is dead if that was the last attempt. */
TAKT_EXPORT void takt_job_retry(takt_job *job, int64_t after_us, const char *why);

/* The job could not be tried, because a service that it needs is unreachable.  Like takt_job_retry,
 * but the attempt does not count: bound the repetitions yourself. */
TAKT_EXPORT void takt_job_postpone(takt_job *job, int64_t after_us, const char *why);

/* The job can never be done.  It is kept with the reason. */
TAKT_EXPORT void takt_job_dead(takt_job *job, const char *why);

/* Reports what the job has actually used, once, before the job's end; count 0: it was not begun.
 * Returns what takt_settle does; 0 and nothing else if it was settled before. */
TAKT_EXPORT int takt_job_settle(takt_job *job, const takt_amount *used, int count);

/* The vendor refused the job for going too fast: the job's limit and key pause in the whole fleet
 * (takt_penalize).  Does not end the job. */
TAKT_EXPORT void takt_job_penalize(takt_job *job, int64_t for_us, const char *why);

/* Blocks the job's limit and key for that long (takt_block).  Does not end the job. */
TAKT_EXPORT void takt_job_block(takt_job *job, int64_t for_us, const char *why);

#ifdef __cplusplus
}
#endif
#endif
