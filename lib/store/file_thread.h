/*
 * file_thread.h: the thread of a file store.  It waits for the disk and for other processes, so
 * that the loop does not.  It works on copies of the calls ("jobs"), so a caller may free its
 * memory after a time-out.  It decides what goes into a transaction; file.c decides when calls are
 * given up, and reports the results.
 */
#ifndef TAKT_STORE_FILE_THREAD_H
#define TAKT_STORE_FILE_THREAD_H

#include <uv.h>

#include "store/file_url.h"
#include "store/store.h"

typedef struct takt_file_thread takt_file_thread;

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

/* Frees a job that is in no list. */
void takt_file_job_free(takt_file_job *job);

/* The thread's news for the loop. */
typedef struct takt_file_news {
    takt_link finished;                  /* jobs, which now belong to the loop */
    char replaced[TAKT_ERROR_TEXT_SIZE]; /* "" or why the file was replaced */
    char trouble[TAKT_ERROR_TEXT_SIZE];  /* "" or why all jobs failed */
    bool gone;                           /* the thread has ended and closed the file */
} takt_file_news;

/* Starts the thread and waits until it has opened the file; after a while fails with
 * TAKT_E_STORE_TIMEOUT. */
int takt_file_thread_start(takt_file_thread **thread, const takt_file_url *url,
                           const char *name_space, takt_error *error);

/* Whether other programs have overwritten the file's lock; `error` then says what to do. */
bool takt_file_thread_lock_is_damaged(const takt_file_thread *thread, takt_error *error);

/* From now on news wakes `async`. */
void takt_file_thread_attach(takt_file_thread *thread, uv_async_t *async);

void takt_file_thread_submit(takt_file_thread *thread, takt_file_job *job);

/* Takes back a job that has not begun, so that it never will.  False: it comes back by itself. */
bool takt_file_thread_withdraw(takt_file_thread *thread, takt_file_job *job);

void takt_file_thread_collect(takt_file_thread *thread, takt_file_news *news);

/* Asks the thread to end after the work that it has begun. */
void takt_file_thread_quit(takt_file_thread *thread);

/* Detaches a thread that was asked to quit, without waiting.  A thread that hangs frees its memory
 * when it wakes. */
void takt_file_thread_leave(takt_file_thread *thread);

#endif
