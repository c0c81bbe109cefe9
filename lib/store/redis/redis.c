/*
 * redis.c: the stores "redis://", "rediss://", the same behind Sentinels, and "unix:", as seen from
 * a loop.
 *
 * Decides which calls wait for a connection and which fail at once, and when a server has not
 * answered for too long. A connection without an answer is closed, and all calls sent on it fail. A
 * call that was not sent yet waits for the next connection until its time-out. While there is no
 * server, the first call fails at once with the reason, and so do all later calls but claims:
 * claims wait, so that they are sent as soon as the server is back.
 */
#include "store/redis/redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "store/redis/list.h"

#define TIMEOUT_US INT64_C(1000000) /* the default */

static void on_timer(uv_timer_t *timer);

/* ---- calls ----------------------------------------------------------------------------------- */

/* The timer fires for the next check of the oldest job's time-out. A timer set for an earlier job
 * is kept: setting it costs more than a useless check. */
static void set_timer(takt_redis_store *store)
{
    uint64_t due_ns;

    if (!takt_list_empty(&store->failed)) {
        uv_timer_start(&store->timer, on_timer, 0, 0);
        return;
    }
    if (takt_list_empty(&store->jobs)) {
        uv_timer_stop(&store->timer);
        return;
    }
    if (uv_is_active((uv_handle_t *)&store->timer))
        return;
    due_ns = TAKT_HOLDER(store->jobs.next, takt_redis_job, order)->due_ns;
    (void)takt_timeout_look(&store->timeout, uv_hrtime());
    uv_update_time(store->loop);
    uv_timer_start(&store->timer, on_timer, takt_timeout_next_ms(&store->timeout, due_ns), 0);
}

static void fail_later(takt_redis_store *store, takt_store_call *call, int status)
{
    call->status = status;
    takt_list_append(&store->failed, &call->link);
    uv_timer_start(&store->timer, on_timer, 0, 0);
    uv_ref((uv_handle_t *)&store->timer);
}

/* The status of a call that cannot succeed now; 0: it may succeed. */
static int hopeless(takt_redis_store *store, const takt_store_call *call)
{
    if (store->closing)
        return TAKT_E_CANCELED;
    if (store->process != getpid())
        return TAKT_E_STORE;
    if (strnlen(call->key, TAKT_KEY_SIZE_MAX + 1) > TAKT_KEY_SIZE_MAX)
        return TAKT_E_INVALID;
    if (store->down && (call->op != TAKT_OP_CLAIM || !store->told)) {
        store->told |= call->op != TAKT_OP_POLICY; /* a look at the policy reports to itself only */
        return store->code;
    }
    return 0;
}

static takt_redis_job *take_job(takt_redis_store *store)
{
    takt_redis_job *job;

    if (takt_list_empty(&store->idle)) {
        job = malloc(sizeof *job);
    } else {
        job = TAKT_HOLDER(store->idle.next, takt_redis_job, link);
        takt_list_remove(&job->link);
    }
    if (job == NULL)
        return NULL;
    takt_list_init(&job->link);
    job->store = store;
    job->tries = 0;
    job->keys = 0;
    job->sent = false;
    return job;
}

static void redis_submit(takt_store *base, takt_store_call *call)
{
    takt_redis_store *store = (takt_redis_store *)base;
    int status = hopeless(store, call);
    takt_redis_job *job = status == 0 ? take_job(store) : NULL;

    if (job == NULL) {
        fail_later(store, call, status != 0 ? status : TAKT_E_NOMEM);
        return;
    }
    job->call = call;
    if (call->claim)
        store->worker = call->claim->worker;
    job->due_ns = takt_timeout_due(&store->timeout, uv_hrtime());
    takt_list_append(&store->jobs, &job->order);
    if (takt_redis_connection_ready(store->connection) && takt_list_empty(&store->waiting))
        takt_redis_job_send(job);
    else
        takt_list_append(&store->waiting, &job->link);
    uv_ref((uv_handle_t *)&store->timer);
    set_timer(store);
}

static void fail_waiting(takt_redis_store *store, int status)
{
    takt_link waiting;

    takt_list_init(&waiting);
    takt_list_move(&waiting, &store->waiting);
    while (!takt_list_empty(&waiting))
        takt_redis_job_finish(TAKT_HOLDER(waiting.next, takt_redis_job, link), status);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void tell_failed(takt_redis_store *store)
{
    takt_link failed;

    takt_list_init(&failed);
    /* calls that done() submits are failed on the next turn */
    takt_list_move(&failed, &store->failed);
    while (!takt_list_empty(&failed)) {
        takt_store_call *call = TAKT_HOLDER(failed.next, takt_store_call, link);
        takt_list_remove(&call->link);
        call->done(call);
    }
}

/* The first job, if it is overdue. */
static takt_redis_job *overdue(takt_redis_store *store)
{
    takt_redis_job *job = TAKT_HOLDER(store->jobs.next, takt_redis_job, order);

    if (takt_list_empty(&store->jobs) ||
        job->due_ns > takt_timeout_look(&store->timeout, uv_hrtime()))
        return NULL;
    return job;
}

static void give_up_overdue(takt_redis_store *store)
{
    takt_redis_job *job = overdue(store);

    /* if this program was busy, the answer may have arrived already */
    if (job != NULL && job->sent)
        takt_redis_connection_drain(store->connection);
    while ((job = overdue(store)) != NULL) {
        if (job->sent)
            takt_redis_connection_leave(store->connection, true, TAKT_E_STORE_TIMEOUT,
                                        "it does not answer in time");
        else
            takt_redis_job_finish(job, store->down ? store->code : TAKT_E_STORE_TIMEOUT);
    }
}

static void cancel_all(takt_redis_store *store);

static void on_timer(uv_timer_t *timer)
{
    takt_redis_store *store = timer->data;

    tell_failed(store);
    if (store->closing)
        cancel_all(store);
    else
        give_up_overdue(store);
    if (!store->closing)
        set_timer(store);
}

/* ---- the connection -------------------------------------------------------------------------- */

static void tell_way(takt_redis_store *store, int code)
{
    if (!store->closing && store->options.on_connection != NULL)
        store->options.on_connection(store->options.data, 0, code);
}

static void on_ready(void *data)
{
    takt_redis_store *store = data;

    store->was_ready = true;
    if (store->hints != NULL)
        takt_hints_hold(store->hints, false);
    store->down = store->told = false;
    takt_redis_forget_scripts(store);
    tell_way(store, 0);
    while (takt_redis_connection_ready(store->connection) && !takt_list_empty(&store->waiting))
        takt_redis_job_send(TAKT_HOLDER(store->waiting.next, takt_redis_job, link));
}

static void on_lost(void *data, int code, const char *text)
{
    takt_redis_store *store = data;

    if (store->hints != NULL)
        takt_hints_hold(store->hints, true);
    store->code = code;
    memcpy(store->text, text, strlen(text) + 1);
    store->store.trouble = store->text;
    if (store->was_ready) {
        tell_way(store, code);
    } else {
        store->down = true;
        store->told = store->told || !takt_list_empty(&store->waiting);
        fail_waiting(store, code);
    }
    store->was_ready = false;
}

static void closed_one(takt_redis_store *store)
{
    void (*closed)(void *data) = store->closed;
    void *data = store->data;

    if (--store->left > 0)
        return;
    for (takt_link *at = store->idle.next, *next; at != &store->idle; at = next) {
        next = at->next;
        free(TAKT_HOLDER(at, takt_redis_job, link));
    }
    takt_tls_trust_close(store->trust);
    takt_redis_url_close(&store->url);
    free(store);
    if (closed != NULL)
        closed(data);
}

static void on_connection_closed(void *data)
{
    closed_one(data);
}

static void on_timer_closed(uv_handle_t *handle)
{
    closed_one(handle->data);
}

/* ---- opening and closing --------------------------------------------------------------------- */

static const takt_redis_connection_events connection_events = {on_ready, on_lost, NULL,
                                                               on_connection_closed};

static void fill(takt_redis_store *store, const takt_store_kind *kind, uv_loop_t *loop,
                 const takt_store_options *options)
{
    int64_t timeout_us = options->timeout_us > 0 ? options->timeout_us : TIMEOUT_US;

    store->store.kind = kind;
    store->loop = loop;
    store->options = *options;
    store->options.name_space = NULL;
    store->part_closed = on_connection_closed;
    memcpy(store->name_space, options->name_space, strlen(options->name_space) + 1);
    takt_timeout_begin(&store->timeout, (uint64_t)timeout_us * 1000, uv_hrtime());
    store->process = getpid();
    takt_list_init(&store->jobs);
    takt_list_init(&store->waiting);
    takt_list_init(&store->idle);
    takt_list_init(&store->failed);
}

static int open_by(const takt_store_kind *kind, takt_redis_transport transport, bool sentinels,
                   takt_store **store, uv_loop_t *loop, const char *rest,
                   const takt_store_options *options, takt_error *error)
{
    takt_redis_store *opened = calloc(1, sizeof *opened);
    int code;

    if (opened == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a store");
    code = takt_redis_url_parse(&opened->url, transport, sentinels, rest, error);
    if (code == 0)
        code = takt_redis_url_find_password(&opened->url, error);
    if (code == 0 && transport == TAKT_REDIS_TLS)
        code = takt_tls_trust_open(&opened->trust, &opened->url, error);
    if (code < 0)
        goto free_store;
    fill(opened, kind, loop, options);
    opened->connection = takt_redis_connection_open(loop, &opened->url, opened->trust, NULL,
                                                    opened->timeout.timeout_ns / 1000000 + 1,
                                                    &connection_events, opened);
    if (opened->connection == NULL) {
        code = takt_fail(error, TAKT_E_NOMEM, "no memory for a store");
        goto free_store;
    }
    uv_timer_init(loop, &opened->timer);
    opened->timer.data = opened;
    *store = &opened->store;
    return 0;

free_store:
    takt_tls_trust_close(opened->trust);
    takt_redis_url_close(&opened->url);
    free(opened);
    return code;
}

/* Cancels the remaining calls when the store is closed, then closes everything. */
static void cancel_all(takt_redis_store *store)
{
    store->left = store->hints != NULL ? 3 : 2;
    fail_waiting(store, TAKT_E_CANCELED);
    if (store->hints != NULL)
        takt_hints_close(store->hints);
    uv_close((uv_handle_t *)&store->timer, on_timer_closed);
    takt_redis_connection_close(store->connection); /* cancels the calls that were sent */
    tell_failed(store);                             /* calls submitted by the callbacks */
}

static void redis_close(takt_store *base, void (*closed)(void *data), void *data)
{
    takt_redis_store *store = (takt_redis_store *)base;

    store->closing = true;
    store->closed = closed;
    store->data = data;
    uv_timer_start(&store->timer, on_timer, 0, 0);
    uv_ref((uv_handle_t *)&store->timer);
}

/* ---- the schemes ----------------------------------------------------------------------------- */

static int check(takt_redis_transport transport, bool sentinels, const char *rest,
                 takt_error *error)
{
    takt_redis_url url;
    int code = takt_redis_url_parse(&url, transport, sentinels, rest, error);

    takt_redis_url_close(&url);
    return code;
}

#define KIND(kind, scheme, transport, sentinels)                                                   \
    static int check_##kind(const char *rest, takt_error *error)                                   \
    {                                                                                              \
        return check(transport, sentinels, rest, error);                                           \
    }                                                                                              \
    static int open_##kind(takt_store **store, uv_loop_t *loop, const char *rest,                  \
                           const takt_store_options *options, takt_error *error)                   \
    {                                                                                              \
        return open_by(&takt_store_##kind, transport, sentinels, store, loop, rest, options,       \
                       error);                                                                     \
    }                                                                                              \
    const takt_store_kind takt_store_##kind = {scheme,       check_##kind, open_##kind,            \
                                               redis_submit, redis_close,  takt_redis_list}

KIND(redis, "redis://", TAKT_REDIS_TCP, false);
KIND(rediss, "rediss://", TAKT_REDIS_TLS, false);
KIND(redis_sentinel, "redis-sentinel://", TAKT_REDIS_TCP, true);
KIND(rediss_sentinel, "rediss-sentinel://", TAKT_REDIS_TLS, true);
KIND(unix, "unix:", TAKT_REDIS_UNIX, false);
