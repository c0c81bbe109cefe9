/*
 * file_thread.c: see file_thread.h.  All jobs that wait when a transaction begins go into it: the
 * longer a commit takes, the more it carries.
 */
#include "store/file_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "store/file_env.h"
#include "store/file_lock.h"
#include "store/file_record.h"
#include "store/policy_record.h"

/* After that the thread gives up opening a file that other processes hold.  On a busy host dozens
 * of processes that start at once need seconds. */
#define OPEN_S        15
#define BATCH         256 /* jobs in one transaction, because other processes also want to write */
#define WATCH_US      INT64_C(100000)   /* how often the path is checked */
#define SWEEP_CALLS   16                /* after that many calls some records are checked ... */
#define SWEEP_RECORDS (2 * SWEEP_CALLS) /* ... twice as many, so that garbage cannot pile up */

struct takt_file_thread {
    pthread_t id;
    pthread_mutex_t mutex;
    pthread_cond_t wake, opened;

    /* under the mutex */
    takt_link pending, running, finished;
    bool waiting;  /* for work */
    bool is_open;  /* or opening has failed */
    bool quit;     /* it has to end */
    bool gone;     /* it has closed the file and only has to return */
    bool detached; /* no thread joins it: it frees itself */
    uv_async_t *async;
    char replaced[TAKT_ERROR_TEXT_SIZE];
    char trouble[TAKT_ERROR_TEXT_SIZE]; /* of the last transaction */
    int code;                           /* of opening */
    takt_error error;

    /* the thread's own */
    takt_file_url url;
    char name_space[TAKT_NAME_SIZE_MAX + 1];
    takt_file_env *env;
    unsigned generation;
    int64_t watch_at_us; /* by the monotonic clock */
    int calls_until_sweep;
    takt_file_records records;
};

static void free_jobs(takt_link *jobs)
{
    while (!takt_list_empty(jobs)) {
        takt_file_job *job = TAKT_HOLDER(jobs->next, takt_file_job, link);
        takt_list_remove(&job->link);
        takt_file_job_free(job);
    }
}

static void free_thread(takt_file_thread *thread)
{
    free_jobs(&thread->pending);
    free_jobs(&thread->running);
    free_jobs(&thread->finished);
    pthread_cond_destroy(&thread->opened);
    pthread_cond_destroy(&thread->wake);
    pthread_mutex_destroy(&thread->mutex);
    free(thread);
}

/* The mutex must be held. */
static void tell(takt_file_thread *thread)
{
    if (thread->async != NULL)
        uv_async_send(thread->async);
}

/* ---- transactions -------------------------------------------------------------------- */

/* Moves the waiting jobs to the jobs under way, which may include jobs of an earlier try. */
static void take_pending(takt_file_thread *thread)
{
    int room = BATCH;

    for (takt_link *at = thread->running.next; at != &thread->running; at = at->next)
        room--;
    pthread_mutex_lock(&thread->mutex);
    for (; room > 0 && !takt_list_empty(&thread->pending); room--) {
        takt_file_job *job = TAKT_HOLDER(thread->pending.next, takt_file_job, link);
        takt_list_remove(&job->link);
        takt_list_append(&thread->running, &job->link);
        job->begun = true;
    }
    pthread_mutex_unlock(&thread->mutex);
}

static int run_jobs(takt_file_thread *thread, MDB_txn *txn)
{
    int64_t now_us = takt_record_clock_us();
    int rc = 0;

    for (takt_link *at = thread->running.next; rc == 0 && at != &thread->running; at = at->next) {
        rc = takt_file_run_job(&thread->records, txn, thread->env->dbi, thread->name_space, now_us,
                               TAKT_HOLDER(at, takt_file_job, link));
        thread->calls_until_sweep--;
    }
    if (rc == 0 && thread->calls_until_sweep <= 0) {
        rc = takt_file_sweep(&thread->records, txn, thread->env->dbi, now_us,
                             SWEEP_RECORDS - 2 * thread->calls_until_sweep);
        thread->calls_until_sweep = SWEEP_CALLS;
    }
    return rc;
}

/* Runs one transaction with all waiting jobs and returns LMDB's code. */
static int transact(takt_file_thread *thread)
{
    MDB_txn *txn;
    int rc = takt_file_env_begin(thread->env, &txn);

    if (rc != 0)
        return rc;
    take_pending(thread);
    rc = run_jobs(thread, txn);
    if (rc == 0)
        rc = mdb_txn_commit(txn);
    else
        mdb_txn_abort(txn);
    takt_file_env_end(thread->env);
    return rc;
}

static int watch(takt_file_thread *thread, takt_error *error)
{
    struct timespec now;
    int64_t now_us;

    clock_gettime(CLOCK_MONOTONIC, &now);
    now_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    if (now_us < thread->watch_at_us)
        return 0;
    thread->watch_at_us = now_us + WATCH_US;
    return takt_file_env_watch(thread->env, error);
}

static void copy_text(char copy[TAKT_ERROR_TEXT_SIZE], const char *text)
{
    memcpy(copy, text, strlen(text) + 1);
}

/* Reports that the file was replaced since the last check. */
static void notice(takt_file_thread *thread)
{
    if (atomic_load(&thread->env->generation) == thread->generation)
        return;
    pthread_rwlock_rdlock(&thread->env->lock);
    pthread_mutex_lock(&thread->mutex);
    thread->generation = atomic_load(&thread->env->generation);
    copy_text(thread->replaced, thread->env->notice);
    tell(thread);
    pthread_mutex_unlock(&thread->mutex);
    pthread_rwlock_unlock(&thread->env->lock);
}

/* Hands the jobs under way back to the loop; if all have failed, with that code. */
static void finish(takt_file_thread *thread, int code, const takt_error *error)
{
    if (code != 0) {
        take_pending(thread);
        for (takt_link *at = thread->running.next; at != &thread->running; at = at->next)
            TAKT_HOLDER(at, takt_file_job, link)->own.status = code;
    }
    pthread_mutex_lock(&thread->mutex);
    copy_text(thread->trouble, code != 0 ? error->text : "");
    if (!takt_list_empty(&thread->running)) {
        takt_list_move(&thread->finished, &thread->running);
        tell(thread);
    }
    pthread_mutex_unlock(&thread->mutex);
}

static void serve(takt_file_thread *thread)
{
    takt_error error;
    int code;

    error.text[0] = '\0';
    code = watch(thread, &error);
    for (int tries = 1; code == 0; tries++) {
        unsigned repairs = atomic_load(&thread->env->repairs);
        int rc = transact(thread);
        if (rc == 0)
            break;
        code = takt_file_env_mend(thread->env, rc, repairs, tries, &error);
    }
    notice(thread);
    finish(thread, code, &error);
}

/* ---- the thread ---------------------------------------------------------------------- */

static void open_file(takt_file_thread *thread)
{
    takt_error error = {0};
    int code = takt_file_env_acquire(&thread->env, &thread->url, &thread->generation, &error);

    if (code == 0)
        notice(thread);
    pthread_mutex_lock(&thread->mutex);
    thread->code = code;
    thread->error = error;
    thread->is_open = true;
    thread->quit |= code != 0;
    pthread_cond_signal(&thread->opened);
    pthread_mutex_unlock(&thread->mutex);
}

static void *run(void *argument)
{
    takt_file_thread *thread = argument;
    bool detached;

    open_file(thread);
    pthread_mutex_lock(&thread->mutex);
    while (!thread->quit) {
        if (takt_list_empty(&thread->pending)) {
            thread->waiting = true;
            pthread_cond_wait(&thread->wake, &thread->mutex);
            thread->waiting = false;
            continue;
        }
        pthread_mutex_unlock(&thread->mutex);
        serve(thread);
        pthread_mutex_lock(&thread->mutex);
    }
    pthread_mutex_unlock(&thread->mutex);
    if (thread->code == 0)
        takt_file_env_release(thread->env);
    takt_file_records_free(&thread->records);
    pthread_mutex_lock(&thread->mutex);
    thread->gone = true;
    detached = thread->detached;
    tell(thread);
    pthread_mutex_unlock(&thread->mutex);
    if (detached)
        free_thread(thread);
    return NULL;
}

/* The program handles signals, so the thread blocks them.  A file that exceeds a limit is an error
 * code here (EFBIG), not a SIGXFSZ. */
static int start_without_signals(takt_file_thread *thread)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread->id, NULL, run, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static takt_file_thread *new_thread(const takt_file_url *url, const char *name_space)
{
    takt_file_thread *thread = calloc(1, sizeof *thread);
    pthread_condattr_t monotonic;

    if (thread == NULL)
        return NULL;
    pthread_mutex_init(&thread->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&thread->opened, &monotonic);
    pthread_cond_init(&thread->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    takt_list_init(&thread->pending);
    takt_list_init(&thread->running);
    takt_list_init(&thread->finished);
    thread->url = *url;
    thread->calls_until_sweep = SWEEP_CALLS;
    memcpy(thread->name_space, name_space, strlen(name_space) + 1);
    return thread;
}

/* False: the file is still not open after a while. */
static bool wait_until_open(takt_file_thread *thread)
{
    struct timespec until;
    bool is_open;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += OPEN_S;
    pthread_mutex_lock(&thread->mutex);
    while (!thread->is_open)
        if (pthread_cond_timedwait(&thread->opened, &thread->mutex, &until) == ETIMEDOUT)
            break;
    is_open = thread->is_open;
    pthread_mutex_unlock(&thread->mutex);
    return is_open;
}

int takt_file_thread_start(takt_file_thread **thread, const takt_file_url *url,
                           const char *name_space, takt_error *error)
{
    takt_file_thread *started = new_thread(url, name_space);
    int code = 0, failed;

    if (started == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a store");
    failed = start_without_signals(started);
    if (failed != 0) {
        free_thread(started);
        return takt_fail(error, TAKT_E_SYSTEM, "cannot start a thread for the store: %s",
                         strerror(failed));
    }
    if (!wait_until_open(started)) {
        code = takt_fail(
            error, TAKT_E_STORE_TIMEOUT,
            "cannot open %s: another process holds it and does not go on (is one stopped?)",
            url->path);
        takt_file_thread_quit(started);
    } else if (started->code != 0) {
        code = takt_fail(error, started->code, "%s", started->error.text);
    }
    if (code == 0) {
        *thread = started;
    } else if (code == TAKT_E_STORE_TIMEOUT) {
        takt_file_thread_leave(started);
    } else {
        pthread_join(started->id, NULL); /* the thread has nothing left to do */
        free_thread(started);
    }
    return code;
}

/* ---- the loop's side ----------------------------------------------------------------- */

bool takt_file_thread_lock_is_damaged(const takt_file_thread *thread, takt_error *error)
{
    takt_file_env *env = thread->env;
    bool damaged;

    if (pthread_rwlock_tryrdlock(&env->lock) != 0)
        return false; /* it is being replaced */
    damaged = takt_file_lock_is_damaged(env);
    if (damaged)
        takt_file_lock_fail(env, error);
    pthread_rwlock_unlock(&env->lock);
    return damaged;
}

void takt_file_thread_attach(takt_file_thread *thread, uv_async_t *async)
{
    pthread_mutex_lock(&thread->mutex);
    thread->async = async;
    if (thread->replaced[0] != '\0')
        tell(thread);
    pthread_mutex_unlock(&thread->mutex);
}

void takt_file_thread_submit(takt_file_thread *thread, takt_file_job *job)
{
    pthread_mutex_lock(&thread->mutex);
    job->begun = false;
    takt_list_append(&thread->pending, &job->link);
    if (thread->waiting)
        pthread_cond_signal(&thread->wake);
    pthread_mutex_unlock(&thread->mutex);
}

bool takt_file_thread_withdraw(takt_file_thread *thread, takt_file_job *job)
{
    bool begun;

    pthread_mutex_lock(&thread->mutex);
    begun = job->begun;
    if (!begun)
        takt_list_remove(&job->link);
    pthread_mutex_unlock(&thread->mutex);
    return !begun;
}

void takt_file_thread_collect(takt_file_thread *thread, takt_file_news *news)
{
    takt_list_init(&news->finished);
    pthread_mutex_lock(&thread->mutex);
    takt_list_move(&news->finished, &thread->finished);
    copy_text(news->replaced, thread->replaced);
    copy_text(news->trouble, thread->trouble);
    thread->replaced[0] = '\0';
    news->gone = thread->gone;
    pthread_mutex_unlock(&thread->mutex);
}

void takt_file_thread_quit(takt_file_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    thread->quit = true;
    pthread_cond_signal(&thread->wake);
    pthread_mutex_unlock(&thread->mutex);
}

void takt_file_thread_leave(takt_file_thread *thread)
{
    pthread_t id = thread->id;
    bool gone;

    pthread_mutex_lock(&thread->mutex);
    gone = thread->gone;
    thread->detached = true;
    thread->async = NULL;
    pthread_mutex_unlock(&thread->mutex);
    if (gone) {
        pthread_join(id, NULL);
        free_thread(thread);
    } else {
        pthread_detach(id);
    }
}
