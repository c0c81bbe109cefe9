/*
 * file_job.h: a copy of a call to a file store.  The thread of the store (file_thread.h) works on
 * the copy, so a caller may free its memory after a time-out.
 */
#ifndef TAKT_STORE_FILE_JOB_H
#define TAKT_STORE_FILE_JOB_H

#include "store/store.h"

/* A copy of an inner limit. */
typedef struct takt_file_inner {
    takt_limit limit;
    char key[TAKT_KEY_SIZE_MAX + 1];
} takt_file_inner;

typedef struct takt_file_job {
    /* the loop's */
    takt_link flight;      /* in the order of submission */
    takt_store_call *call; /* the call to finish; NULL: given up */
    uint64_t due_ns;       /* when it is given up, on the clock of timeout.h */

    /* in turn the loop's, shared under the thread's mutex, and the thread's */
    takt_link link;
    bool begun;   /* its transaction has begun: it can no longer be withdrawn */
    bool damaged; /* its ledger was unreadable and has been replaced by a new one */

    takt_store_call own; /* a copy of the call, which points to the fields below */
    takt_limit limit;
    takt_claim claim;
    takt_award award;
    takt_policy_exchange *exchange; /* NULL: a call on a ledger */
    takt_file_inner *inner;         /* TAKT_INNER_MAX of them; NULL: not used so far */
    takt_store_inner own_inner[TAKT_INNER_MAX];
    char key[TAKT_KEY_SIZE_MAX + 1];
    char reason[TAKT_REASON_SIZE_MAX + 1];
    char tenant[TAKT_TENANT_SIZE_MAX + 1];
} takt_file_job;

/* Copies everything that the thread needs.  The job is zeros, or was put back.  False: no memory
 * for a policy, for tenants or for inner limits. */
bool takt_file_job_fill(takt_file_job *job, takt_store_call *call);

/* Copies the outputs of a finished job to its call. */
void takt_file_job_finish(takt_file_job *job);

/* Frees what the next call may not need; and a job that is in no list. */
void takt_file_job_put_back(takt_file_job *job);
void takt_file_job_free(takt_file_job *job);

#endif
