/*
 * sync.c: see sync.h.  A client on a loop and a thread of its own.  Callers put posts into a list
 * for the loop's thread, and each caller waits for its own post.  sync_calls.c has the questions.
 */
#include "client/sync.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/fork.h"

struct takt_sync {
    uv_loop_t loop;
    uv_thread_t thread;
    uv_async_t posts_are_there;
    uv_mutex_t mutex; /* guards `posts` and `callers` */
    uv_cond_t idle;
    takt_link posts;
    int callers; /* threads inside a call */
    bool closing;
    takt_client *client;
    unsigned forks; /* number of forks when it was opened */
};

/* ---- on the loop's thread -------------------------------------------------------------------- */

void takt_sync_answer(takt_sync_post *post, int status)
{
    post->status = status;
    uv_sem_post(&post->answered);
}

static void client_closed(void *data)
{
    takt_sync *sync = data;

    uv_close((uv_handle_t *)&sync->posts_are_there, NULL);
}

static void take_posts(uv_async_t *async)
{
    takt_sync *sync = TAKT_HOLDER(async, takt_sync, posts_are_there);
    takt_link taken;
    bool closing;

    takt_list_init(&taken);
    uv_mutex_lock(&sync->mutex);
    takt_list_move(&taken, &sync->posts);
    closing = sync->closing;
    uv_mutex_unlock(&sync->mutex);
    if (closing)
        takt_close(sync->client, client_closed, sync);
    while (!takt_list_empty(&taken)) {
        takt_sync_post *next = TAKT_HOLDER(taken.next, takt_sync_post, link);
        int code;
        takt_list_remove(&next->link);
        code = next->run(sync->client, next);
        if (code != TAKT_SYNC_LATER)
            takt_sync_answer(next, code);
    }
}

static void run_loop(void *data)
{
    takt_sync *sync = data;

    uv_run(&sync->loop, UV_RUN_DEFAULT);
}

/* ---- on the callers' threads ----------------------------------------------------------------- */

int takt_sync_ask(takt_sync *sync, takt_sync_post *post)
{
    bool closing;

    /* The loop's thread does not exist in a child, and the mutex may have been locked at the
     * fork. */
    if (sync->forks != takt_fork_count)
        return TAKT_E_FORKED;
    if (uv_sem_init(&post->answered, 0) != 0)
        return TAKT_E_SYSTEM;
    uv_mutex_lock(&sync->mutex);
    closing = sync->closing;
    if (!closing) {
        sync->callers++;
        takt_list_append(&sync->posts, &post->link);
        uv_async_send(&sync->posts_are_there);
    }
    uv_mutex_unlock(&sync->mutex);
    if (closing) {
        uv_sem_destroy(&post->answered);
        return TAKT_E_CANCELED;
    }
    uv_sem_wait(&post->answered);
    uv_sem_destroy(&post->answered);
    uv_mutex_lock(&sync->mutex);
    if (--sync->callers == 0)
        uv_cond_signal(&sync->idle);
    uv_mutex_unlock(&sync->mutex);
    return post->status;
}

/* ---- from opening to closing ----------------------------------------------------------------- */

int takt_sync_open(takt_sync **sync, const takt_policy *policy, const takt_options *options,
                   takt_error *error)
{
    takt_sync *opened = calloc(1, sizeof *opened);
    int code = TAKT_E_SYSTEM;

    if (!opened)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    takt_list_init(&opened->posts);
    takt_fork_watch();
    opened->forks = takt_fork_count;
    if (uv_loop_init(&opened->loop) != 0)
        goto free_memory;
    if (uv_mutex_init(&opened->mutex) != 0)
        goto close_loop;
    if (uv_cond_init(&opened->idle) != 0)
        goto destroy_mutex;
    if (uv_async_init(&opened->loop, &opened->posts_are_there, take_posts) != 0)
        goto destroy_cond;
    code = takt_open(&opened->client, &opened->loop, policy, options, error);
    if (code < 0)
        goto close_async;
    if (uv_thread_create(&opened->thread, run_loop, opened) != 0) {
        code = TAKT_E_SYSTEM;
        takt_close(opened->client, NULL, NULL);
        goto close_async;
    }
    *sync = opened;
    return 0;

close_async:
    uv_close((uv_handle_t *)&opened->posts_are_there, NULL);
    uv_run(&opened->loop, UV_RUN_DEFAULT);
destroy_cond:
    uv_cond_destroy(&opened->idle);
destroy_mutex:
    uv_mutex_destroy(&opened->mutex);
close_loop:
    uv_loop_close(&opened->loop);
free_memory:
    free(opened);
    if (code == TAKT_E_SYSTEM)
        takt_fail(error, code, "no loop or thread: %s", takt_strerror(code));
    return code;
}

void takt_sync_close(takt_sync *sync)
{
    if (!sync || sync->forks != takt_fork_count)
        return;
    uv_mutex_lock(&sync->mutex);
    sync->closing = true;
    uv_async_send(&sync->posts_are_there);
    while (sync->callers > 0)
        uv_cond_wait(&sync->idle, &sync->mutex);
    uv_mutex_unlock(&sync->mutex);
    uv_thread_join(&sync->thread);
    uv_cond_destroy(&sync->idle);
    uv_mutex_destroy(&sync->mutex);
    uv_loop_close(&sync->loop);
    free(sync);
}
