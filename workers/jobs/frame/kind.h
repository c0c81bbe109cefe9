/*
 * kind.h: what one kind of worker adds to what all of them have: what its jobs look like, and how
 * one is done.  A whole worker is a kind and `return takt_worker_main(argc, argv, &kind)`; see
 * workers/print/print.c for the smallest.
 */
#ifndef TAKT_WORKERS_FRAME_KIND_H
#define TAKT_WORKERS_FRAME_KIND_H

#include <argp.h>
#include <uv.h>

#include "job.h"

typedef struct takt_job_kind {
    const char *name;           /* "takt-mail" */
    const char *summary;        /* for --help: one sentence */
    const struct argp *options; /* of its own, with `self` as input; NULL: none */
    void *self;                 /* given to all functions */

    /* The option by which nothing is really done, if it was given: "--dry-run".  Then no permit is
     * taken and no job waits for one, nothing is noted as done either, unless --state says where,
     * and no stream is read, which would lose its jobs.  NULL: they are done.  May be NULL itself.
     */
    const char *(*rehearses)(const void *self);

    /* Before the first job.  0, or the exit status after a message (takt_worker_say).  May be NULL.
     */
    int (*open)(void *self, uv_loop_t *loop, const takt_policy *policy);

    /* Looks at a job when it is read, without doing anything: 0, TAKT_E_INVALID and why it can
     * never be done, or TAKT_E_NOMEM.  May set head->key, head->limit and head->cost, to strings of
     * `fields`, to which it may add, or of its own that outlive it.  Called again before start()
     * where the fields were not kept in between.  May be NULL. */
    int (*check)(void *self, json_t *fields, takt_job_head *head, takt_error *error);

    /* The job's slot is due: do it, and end it with takt_job_done, takt_job_retry or takt_job_dead,
     * sooner or later.  Never blocks. */
    void (*start)(void *self, takt_job *job);

    /* After the last job has ended, or `--drain` has: let go of everything that is on the loop.  A
     * job that still runs is not ended any more: nothing of job.h may be called.  May be NULL. */
    void (*close)(void *self);
} takt_job_kind;

/* Runs a worker from its command line to its end; the exit status. */
int takt_worker_main(int argc, char **argv, const takt_job_kind *kind);

/* One line on standard error, "takt-mail: ...", that leaves a progress picture whole. */
__attribute__((format(printf, 1, 2))) void takt_worker_say(const char *format, ...);

#endif
