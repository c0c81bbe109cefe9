/*
 * sync.c: see takt/sync.h.  Calls are posted to the loop's thread in a list; each caller waits for
 * its own.
 */
#include <takt/sync.h>

#include <stdlib.h>
#include <uv.h>

#include "base/fail.h"
#include "base/fork.h"
#include "base/list.h"
#include "scheduler/queue.h"

typedef struct takt_post takt_post;

/* What a thread asks for; on its stack until it is woken. */
struct takt_post {
    takt_link link;
    int (*begin)(takt_sync *sync,
                 takt_post *post); /* on the loop's thread; negative: it has failed already */
    const takt_request *request;
    takt_permit *permit;
    const takt_permit *asked; /* is it held? */
    takt_standing *standing;
    takt_stats *stats;
    takt_shadow *shadow;
    int64_t for_us;
    const char *reason;
    int64_t actual_cost;
    const takt_policy *policy;
    takt_error *error;
    takt_call call;
    void *data; /* the permit's own, while it is waited for */
    int status;
    uv_sem_t answered;
};

struct takt_sync {
    uv_loop_t loop;
    uv_thread_t thread;
    uv_async_t posts_are_there;
    uv_mutex_t mutex; /* guards the two below */
    uv_cond_t idle;
    takt_link posts;
    int callers; /* threads inside a call */
    bool closing;
    takt_client *client;
    unsigned forks; /* when it was opened */
};

/* ---- on the loop's thread -------------------------------------------------------------------- */

static void answer(takt_post *post, int status)
{
    post->status = status;
    uv_sem_post(&post->answered);
}

static void acquired(takt_permit *permit, int status)
{
    takt_post *waiter = permit->data;

    permit->data = waiter->data;
    answer(waiter, status);
}

static void called(takt_call *call, int status, const takt_standing *standing)
{
    takt_post *waiter = call->data;

    if (standing && waiter->standing)
        *waiter->standing = *standing;
    answer(waiter, status);
}

static int begin_acquire(takt_sync *sync, takt_post *post)
{
    int code = takt_acquire(sync->client, post->permit, post->request, acquired);

    if (code == 0) { /* else it may be another thread that waits for it */
        post->data = post->permit->data;
        post->permit->data = post;
    }
    return code;
}

static int begin_try(takt_sync *sync, takt_post *post)
{
    return takt_try_acquire(sync->client, &post->call, post->permit, post->request, called);
}

static int begin_peek(takt_sync *sync, takt_post *post)
{
    return takt_peek(sync->client, &post->call, post->request->limit, post->request->key, called);
}

static int begin_watch(takt_sync *sync, takt_post *post)
{
    return takt_watch(sync->client, &post->call, post->request->limit, post->request->key,
                      post->for_us, called);
}

static int begin_block(takt_sync *sync, takt_post *post)
{
    return takt_block(sync->client, &post->call, post->request->limit, post->request->key,
                      post->for_us, post->reason, called);
}

static int begin_penalize(takt_sync *sync, takt_post *post)
{
    return takt_penalize(sync->client, &post->call, post->request->limit, post->request->key,
                         post->for_us, post->reason, called);
}

static int begin_lower(takt_sync *sync, takt_post *post)
{
    return takt_lower(sync->client, &post->call, post->request->limit, post->request->key,
                      post->actual_cost, called);
}

static int begin_unblock(takt_sync *sync, takt_post *post)
{
    return takt_unblock(sync->client, &post->call, post->request->limit, post->request->key,
                        called);
}

static int begin_reset(takt_sync *sync, takt_post *post)
{
    return takt_reset(sync->client, &post->call, post->request->limit, post->request->key, called);
}

/* A permit that another thread waits for is cancelled, not dropped: that thread is to return. */
static int begin_release(takt_sync *sync, takt_post *post)
{
    (void)sync;
    if (post->permit->state == TAKT_PERMIT_GRANTED)
        takt_release(post->permit);
    else
        (void)takt_cancel(post->permit);
    answer(post, 0);
    return 0;
}

static int begin_settle(takt_sync *sync, takt_post *post)
{
    int code = takt_settle(post->permit, post->request, post->actual_cost);

    (void)sync;
    if (code == 0)
        answer(post, 0);
    return code;
}

static int begin_is_held(takt_sync *sync, takt_post *post)
{
    (void)sync;
    answer(post, takt_is_held(post->asked));
    return 0;
}

static int begin_get_stats(takt_sync *sync, takt_post *post)
{
    takt_get_stats(sync->client, post->stats);
    answer(post, 0);
    return 0;
}

static int begin_get_shadow(takt_sync *sync, takt_post *post)
{
    answer(post, takt_get_shadow(sync->client, post->request->limit, post->shadow));
    return 0;
}

static int begin_reload(takt_sync *sync, takt_post *post)
{
    answer(post, takt_reload(sync->client, post->policy, post->error));
    return 0;
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
        takt_post *next = TAKT_HOLDER(taken.next, takt_post, link);
        int code;
        takt_list_remove(&next->link);
        code = next->begin(sync, next);
        if (code < 0)
            answer(next, code);
    }
}

static void run_loop(void *data)
{
    takt_sync *sync = data;

    uv_run(&sync->loop, UV_RUN_DEFAULT);
}

/* ---- on the callers' threads ----------------------------------------------------------------- */

static int ask(takt_sync *sync, takt_post *post)
{
    bool closing;

    /* A child has no such thread, and another one may have had the mutex. */
    if (sync->forks != takt_fork_count)
        return TAKT_E_FORKED;
    if (uv_sem_init(&post->answered, 0) != 0)
        return TAKT_E_SYSTEM;
    post->call.data = post;
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

int takt_sync_acquire(takt_sync *sync, takt_permit *permit, const takt_request *request)
{
    takt_post post = {.begin = begin_acquire, .permit = permit, .request = request};

    return sync && permit && request ? ask(sync, &post) : TAKT_E_INVALID;
}

void takt_sync_release(takt_sync *sync, takt_permit *permit)
{
    takt_post post = {.begin = begin_release, .permit = permit};

    if (sync && permit)
        (void)ask(sync, &post);
}

int takt_sync_settle(takt_sync *sync, takt_permit *permit, const takt_request *request,
                     int64_t actual_cost)
{
    takt_post post = {
        .begin = begin_settle, .permit = permit, .request = request, .actual_cost = actual_cost};

    return sync && permit && request ? ask(sync, &post) : TAKT_E_INVALID;
}

int takt_sync_reload(takt_sync *sync, const takt_policy *policy, takt_error *error)
{
    takt_post post = {.begin = begin_reload, .policy = policy, .error = error};

    if (!sync || !policy)
        return takt_fail(error, TAKT_E_INVALID, "takt_sync_reload: both are required");
    return ask(sync, &post);
}

int takt_sync_try_acquire(takt_sync *sync, takt_permit *permit, const takt_request *request,
                          takt_standing *standing)
{
    takt_post post = {
        .begin = begin_try, .permit = permit, .request = request, .standing = standing};

    return sync && request && permit ? ask(sync, &post) : TAKT_E_INVALID;
}

static int ask_to_block(takt_sync *sync, int (*begin)(takt_sync *sync, takt_post *post),
                        const char *limit, const char *key, int64_t for_us, const char *reason,
                        takt_standing *standing)
{
    takt_request request = TAKT_REQUEST(limit);
    takt_post post = {.begin = begin,
                      .request = &request,
                      .standing = standing,
                      .for_us = for_us,
                      .reason = reason};

    request.key = key;
    return sync ? ask(sync, &post) : TAKT_E_INVALID;
}

static int ask_about(takt_sync *sync, int (*begin)(takt_sync *sync, takt_post *post),
                     const char *limit, const char *key, takt_standing *standing)
{
    return ask_to_block(sync, begin, limit, key, 0, NULL, standing);
}

int takt_sync_peek(takt_sync *sync, const char *limit, const char *key, takt_standing *standing)
{
    return ask_about(sync, begin_peek, limit, key, standing);
}

int takt_sync_watch(takt_sync *sync, const char *limit, const char *key, int64_t for_us,
                    takt_standing *standing)
{
    return ask_to_block(sync, begin_watch, limit, key, for_us, NULL, standing);
}

int takt_sync_block(takt_sync *sync, const char *limit, const char *key, int64_t for_us,
                    const char *reason, takt_standing *standing)
{
    return ask_to_block(sync, begin_block, limit, key, for_us, reason, standing);
}

int takt_sync_penalize(takt_sync *sync, const char *limit, const char *key, int64_t for_us,
                       const char *reason, takt_standing *standing)
{
    return ask_to_block(sync, begin_penalize, limit, key, for_us, reason, standing);
}

int takt_sync_lower(takt_sync *sync, const char *limit, const char *key, int64_t remaining,
                    takt_standing *standing)
{
    takt_request request = TAKT_REQUEST(limit);
    takt_post post = {
        .begin = begin_lower, .request = &request, .standing = standing, .actual_cost = remaining};

    request.key = key;
    return sync ? ask(sync, &post) : TAKT_E_INVALID;
}

int takt_sync_unblock(takt_sync *sync, const char *limit, const char *key, takt_standing *standing)
{
    return ask_about(sync, begin_unblock, limit, key, standing);
}

int takt_sync_reset(takt_sync *sync, const char *limit, const char *key, takt_standing *standing)
{
    return ask_about(sync, begin_reset, limit, key, standing);
}

int takt_sync_is_held(takt_sync *sync, const takt_permit *permit)
{
    takt_post post = {.begin = begin_is_held, .asked = permit};

    return sync && permit && ask(sync, &post) == 1;
}

int takt_sync_get_stats(takt_sync *sync, takt_stats *stats)
{
    takt_post post = {.begin = begin_get_stats, .stats = stats};

    return sync && stats ? ask(sync, &post) : TAKT_E_INVALID;
}

int takt_sync_get_shadow(takt_sync *sync, const char *limit, takt_shadow *shadow)
{
    takt_request request = TAKT_REQUEST(limit);
    takt_post post = {.begin = begin_get_shadow, .request = &request, .shadow = shadow};

    return sync && limit && shadow ? ask(sync, &post) : TAKT_E_INVALID;
}

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
