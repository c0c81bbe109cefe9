/*
 * file_thread.h: the thread of a file store.  It waits for the disk and for other processes, so
 * that the loop does not.  It works on copies of the calls (file_job.h), and decides what goes into
 * a transaction.  file.c decides when calls are given up, and reports the results.
 */
#ifndef TAKT_STORE_FILE_THREAD_H
#define TAKT_STORE_FILE_THREAD_H

#include <uv.h>

#include "store/file_job.h"
#include "store/file_url.h"

typedef struct takt_file_thread takt_file_thread;

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
