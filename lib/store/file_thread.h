/*
 * file_thread.h: the thread of a file store, which waits for the disk and for other processes in
 * place of the loop. It works on copies of the calls ("jobs"), so that a caller that has been told
 * "timed out" is done with its memory. Decides what goes into a transaction; when calls are given
 * up, and what is told to whom, is left to file.c.
 */
#ifndef TAKT_STORE_FILE_THREAD_H
#define TAKT_STORE_FILE_THREAD_H

#include <uv.h>

#include "store/file_url.h"
#include "store/store.h"

typedef struct takt_file_thread takt_file_thread;

typedef struct takt_file_job {
    /* the loop's */
    takt_link flight;      /* in the order of submission */
    takt_store_call *call; /* who is to be told; NULL: given up */
    uint64_t due_ns;       /* when it is given up, as timeout.h counts */

    /* in turn the loop's, shared under the thread's mutex, and the thread's */
    takt_link link;
    bool begun;   /* its transaction has begun: it can no longer be withdrawn */
    bool damaged; /* its ledger could not be read and was begun anew */

    takt_store_call own; /* a call of its own, which points to what follows */
    takt_limit limit;
    takt_claim claim;
    takt_award award;
    takt_policy_exchange *exchange; /* NULL: it is about a ledger */
    char key[TAKT_KEY_SIZE_MAX + 1];
    char reason[TAKT_REASON_SIZE_MAX + 1];
} takt_file_job;

/* One that nobody has any more. */
void takt_file_job_free(takt_file_job *job);

/* What the thread has to tell. */
typedef struct takt_file_news {
    takt_link finished;                  /* jobs, now the loop's */
    char replaced[TAKT_ERROR_TEXT_SIZE]; /* "" or why the file was replaced */
    char trouble[TAKT_ERROR_TEXT_SIZE];  /* "" or why the jobs failed, if they did as a whole */
    bool gone;                           /* the thread has ended and closed the file */
} takt_file_news;

/* Starts the thread and waits until it has opened the file, but not forever: TAKT_E_STORE_TIMEOUT.
 */
int takt_file_thread_start(takt_file_thread **thread, const takt_file_url *url,
                           const char *name_space, takt_error *error);

/* Whether the file's lock was overwritten by others; `error` then says what to do. */
bool takt_file_thread_lock_is_damaged(const takt_file_thread *thread, takt_error *error);

/* From now on `async` is woken when there is news. */
void takt_file_thread_attach(takt_file_thread *thread, uv_async_t *async);

void takt_file_thread_submit(takt_file_thread *thread, takt_file_job *job);

/* Takes back a job that has not been begun: it will never be.  False: it comes back by itself. */
bool takt_file_thread_withdraw(takt_file_thread *thread, takt_file_job *job);

void takt_file_thread_collect(takt_file_thread *thread, takt_file_news *news);

/* Asks it to end, when it has finished what it has begun. */
void takt_file_thread_quit(takt_file_thread *thread);

/* Lets go of a thread asked to quit, without waiting: one that hangs frees what it has when it
 * wakes. */
void takt_file_thread_leave(takt_file_thread *thread);

#endif
