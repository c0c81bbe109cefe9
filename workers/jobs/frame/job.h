/*
 * job.h: one piece of work: what its line says, what may be done with it, and how it ends.
 *
 *     {"id": "m-17", "limit": "sendgrid", "key": "acct-42", "cost": 1, "priority": 5,
 *      "deadline": "2026-11-22T12:00:00Z", "idempotency_key": "m-17", ...}
 *
 * `id` is required, and so is `limit` unless the worker was given one for all jobs.  What else
 * stands in the object is the kind's own affair (kind.h).
 *
 * While a job waits it is its line alone; the line is parsed again when the slot is due, so that a
 * hundred thousand waiting jobs are small.
 */
#ifndef TAKT_WORKERS_FRAME_JOB_H
#define TAKT_WORKERS_FRAME_JOB_H

#include <jansson.h>
#include <takt/takt.h>

#define TAKT_JOB_ID_MAX   255 /* bytes of an id or an idempotency key; any UTF-8 but controls */
#define TAKT_JOB_WHY_SIZE 512 /* a reason with its NUL */

typedef struct takt_job takt_job;

/* What every job says; the strings belong to whoever parsed it. */
typedef struct takt_job_head {
    const char *id;
    const char *limit;
    const char *key;             /* NULL: the limit as a whole */
    const char *idempotency_key; /* the id, where it does not say one */
    int32_t cost;                /* 1, where it does not say one */
    int32_t priority;            /* TAKT_PRIORITY_POLICY, where it does not say one */
    int64_t deadline_us; /* not to be started after that instant of the wall clock; 0: none */
} takt_job_head;

/*
 * Reads a line: 0 with *fields (the caller's to json_decref) and *head, whose strings live as long
 * as *fields; or TAKT_E_INVALID with words in `error` that name the field and what to write
 * instead. `limit` (NULL: none) is for jobs that name none.
 */
int takt_job_parse(const char *text, size_t size, const char *limit, json_t **fields,
                   takt_job_head *head, takt_error *error);

/*
 * How a kind of worker sees a job between its start() and the one call that ends it: takt_job_done,
 * takt_job_retry, takt_job_postpone or takt_job_dead, at once or any time later, on the loop's
 * thread.  After that call the job is gone.
 */

/* Of its line; the strings live until the end. */
const takt_job_head *takt_job_head_of(const takt_job *job);
const json_t *takt_job_fields(const takt_job *job);
unsigned takt_job_attempt(const takt_job *job); /* 1: the first */

/* 1: it may go on; 0: its permit was lost meanwhile (takt_is_held), another worker may be at it. */
int takt_job_is_held(const takt_job *job);

/* The number to pass on to whatever is written to; 0: its limit has no concurrency. */
int64_t takt_job_fence(const takt_job *job);

/* The client that it was acquired from: for kinds that look at ledgers, or steer them, themselves.
 * It is closed some time after the kind; what was asked of it is answered before. */
takt_client *takt_job_client(const takt_job *job);

/* Done.  `result` (an object, taken over; NULL: none) becomes a line of the results, behind "id".
 */
void takt_job_done(takt_job *job, json_t *result);

/* It failed this time and is tried again after a while, or is dead where it was tried as often as
 * it may be.  `after_us`: not before that (what a Retry-After said); 0. */
void takt_job_retry(takt_job *job, int64_t after_us, const char *why);

/* It could not even be tried, because what it needs is not there: the same, but this attempt does
 * not count.  Whoever calls it sees to it that this does not go on for ever. */
void takt_job_postpone(takt_job *job, int64_t after_us, const char *why);

/* It never will be done: kept with the reason. */
void takt_job_dead(takt_job *job, const char *why);

/* What it really cost; before its end, once.  0: nothing was done after all. */
void takt_job_settle(takt_job *job, int64_t actual_cost);

/* The vendor said "too fast": its limit and key pause in the whole fleet (takt_penalize).  Does not
 * end the job. */
void takt_job_penalize(takt_job *job, int64_t for_us, const char *why);

/* Its limit and key give nothing for that long, without a lower rate afterwards (takt_block). */
void takt_job_block(takt_job *job, int64_t for_us, const char *why);

#endif
