/*
 * redis.c: the stores "redis://", "rediss://", the same behind Sentinels, and "unix:", as seen from
 * a loop.
 *
 * Decides which calls wait for a connection and which fail at once, and when a server has not
 * answered for too long. A connection without an answer is closed, and all calls sent on it fail. A
 * call that was not sent yet waits for the next connection until its time-out. While there is no
 * server, the first call fails at once with the reason, and so do all later calls but claims:
 * claims wait, so that they are sent as soon as the server is back. In a cluster this holds for
 * each node.
 */
#include "store/redis/redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "store/redis/list.h"

#define TIMEOUT_US INT64_C(1000000) /* the default */
#define UNUSED_US  INT64_C(60000000)

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
static int hopeless(const takt_redis_store *store, const takt_store_call *call)
{
    if (store->closing)
        return TAKT_E_CANCELED;
    if (store->process != getpid())
        return TAKT_E_STORE;
    if (strnlen(call->key, TAKT_KEY_SIZE_MAX + 1) > TAKT_KEY_SIZE_MAX)
        return TAKT_E_INVALID;
    return 0;
}

/* The same for the server that has the call's ledger. */
static int hopeless_at(takt_redis_node *node, const takt_store_call *call)
{
    if (node == NULL || !node->down || (call->op == TAKT_OP_CLAIM && node->told))
        return 0;
    node->told |= call->op != TAKT_OP_POLICY; /* a look at the policy reports to itself only */
    return node->code;
}

static takt_redis_job *take_job(takt_redis_store *store)
{
    takt_redis_job *job;

    if (takt_list_empty(&store->idle)) {
        job = malloc(sizeof *job);
    } else {
        job = TAKT_HOLDER(store->idle.next, takt_redis_job, pause.link);
        takt_list_remove(&job->pause.link);
    }
    if (job == NULL)
        return NULL;
    takt_list_init(&job->pause.link);
    job->store = store;
    job->tries = job->keys = job->split = job->pause.count = 0;
    job->pause.slot = -1;
    job->sent = false;
    return job;
}

static void redis_submit(takt_store *base, takt_store_call *call)
{
    takt_redis_store *store = (takt_redis_store *)base;
    takt_redis_job *job;
    int status;

    status = hopeless(store, call);
    job = status == 0 ? take_job(store) : NULL;

    if (job != NULL) {
        job->call = call;
        takt_redis_job_aim(job);
        status = hopeless_at(job->node, call);
    }
    if (job == NULL || status != 0) {
        if (job != NULL)
            takt_list_append(&store->idle, &job->pause.link);
        fail_later(store, call, status != 0 ? status : TAKT_E_NOMEM);
        return;
    }
    if (call->claim)
        store->worker = call->claim->process ? call->claim->process : call->claim->worker;
    job->due_ns = takt_timeout_due(&store->timeout, uv_hrtime());
    takt_list_append(&store->jobs, &job->order);
    if (!takt_redis_batch_take(job))
        takt_redis_job_begin(job);
    uv_ref((uv_handle_t *)&store->timer);
    set_timer(store);
}

static takt_redis_job *job_at(takt_link *link)
{
    return TAKT_HOLDER(link, takt_redis_job, pause.link);
}

/* Fails the jobs of a list: of those that wait for a node, or of those that pause. */
static void fail_all(takt_link *list, int status)
{
    takt_link waiting;

    takt_list_init(&waiting);
    takt_list_move(&waiting, list);
    while (!takt_list_empty(&waiting))
        takt_redis_job_finish(job_at(waiting.next), status);
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

/* A job that was not sent, or has paused in vain. A slot that stays split is no fault of its
 * node. */
static void give_up(takt_redis_job *job)
{
    int status = job->node != NULL && job->node->down ? job->node->code : TAKT_E_STORE_TIMEOUT;

    if (job->pause.slot >= 0) {
        takt_redis_set_trouble(job->store, job->node,
                               "the slot of a ledger is moving between nodes", "TRYAGAIN");
        job->call->server = takt_redis_cluster_between(&job->store->cluster);
    }
    takt_redis_job_finish(job, job->pause.count > 0 ? job->code : status);
}

static void give_up_overdue(takt_redis_store *store)
{
    takt_redis_job *job = overdue(store);

    /* if this program was busy, the answer may have arrived already */
    if (job != NULL && job->sent)
        takt_redis_connection_drain(job->node->connection);
    while ((job = overdue(store)) != NULL) {
        if (job->sent)
            takt_redis_connection_leave(job->node->connection, true, TAKT_E_STORE_TIMEOUT,
                                        "it does not answer in time");
        else
            give_up(job);
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

/* ---- the nodes ------------------------------------------------------------------------------- */

static takt_redis_store *store_of(const takt_redis_node *node)
{
    return node->options->data;
}

/* Once the map of a cluster is read, no ledger is at the home node's number. */
static void tell_way(takt_redis_store *store, int server, int code)
{
    if (!store->closing && store->options.on_connection != NULL &&
        !(server == 0 && store->cluster.mapped))
        store->options.on_connection(store->options.data, server, code);
}

static void on_ready(takt_redis_node *node)
{
    takt_redis_store *store = store_of(node);

    tell_way(store, node->number, 0);
    while (takt_redis_node_ready(node) && !takt_list_empty(&node->waiting)) {
        takt_redis_job *job = job_at(node->waiting.next);
        takt_list_remove(&job->pause.link);
        if (!takt_redis_batch_take(job))
            takt_redis_job_send(job);
    }
    takt_redis_cluster_ready(&store->cluster);
}

static void on_lost(takt_redis_node *node)
{
    takt_redis_store *store = store_of(node);

    memcpy(store->text, node->text, sizeof store->text);
    store->store.trouble = store->text;
    if (node->was_ready) {
        tell_way(store, node->number, node->code);
    } else if (node->number != 0 || !takt_redis_url_lists_nodes(&store->url) ||
               node->seed + 1 >= store->url.seed_count) {
        node->down = true;
        node->told = node->told || !takt_list_empty(&node->waiting);
        fail_all(&node->waiting, node->code);
    }
    takt_redis_cluster_doubt(&store->cluster);
}

/* Jobs go to the nodes that have their ledgers now. */
static void on_changed(void *data)
{
    takt_redis_store *store = data;
    takt_link waiting;

    takt_list_init(&waiting);
    for (takt_link *at = store->cluster.nodes.next; at != &store->cluster.nodes; at = at->next)
        takt_list_move(&waiting, &TAKT_HOLDER(at, takt_redis_node, link)->waiting);
    while (!takt_list_empty(&waiting)) {
        takt_redis_job *job = job_at(waiting.next);
        takt_list_remove(&job->pause.link);
        takt_redis_job_aim(job);
        takt_redis_job_go(job);
    }
    takt_redis_listen_elsewhere(store);
}

static void on_gone(void *data, int number)
{
    takt_redis_store *store = data;

    if (!store->closing && store->options.on_gone != NULL)
        store->options.on_gone(store->options.data, number);
}

static void on_resumed(void *data, takt_link *link)
{
    takt_redis_job *job = job_at(link);

    (void)data;
    if (job->ask && takt_redis_node_connect(job->node))
        job->redirections = 0;
    else
        takt_redis_job_aim(job);
    takt_redis_job_begin(job);
}

static void closed_one(takt_redis_store *store)
{
    void (*closed)(void *data) = store->closed;
    void *data = store->data;

    if (--store->left > 0)
        return;
    for (takt_link *at = store->idle.next, *next; at != &store->idle; at = next) {
        next = at->next;
        free(job_at(at));
    }
    takt_redis_cluster_free(&store->cluster);
    takt_tls_trust_close(store->trust);
    takt_redis_url_close(&store->url);
    free(store);
    if (closed != NULL)
        closed(data);
}

/* A node that was used again meanwhile is connected to again. */
static void on_node_closed(takt_redis_node *node)
{
    takt_redis_store *store = store_of(node);

    if (store->left > 0)
        closed_one(store);
    else if (!takt_list_empty(&node->waiting) && !takt_redis_node_connect(node))
        fail_all(&node->waiting, TAKT_E_NOMEM);
}

static void on_timer_closed(uv_handle_t *handle)
{
    closed_one(handle->data);
}

static void on_batch_closed(uv_handle_t *handle)
{
    closed_one(handle->data);
}

static void on_cluster_timer_closed(uv_handle_t *handle)
{
    closed_one(TAKT_HOLDER(handle, takt_redis_store, cluster.timer));
}

/* ---- opening and closing --------------------------------------------------------------------- */

static const takt_redis_node_events node_events = {on_ready, on_lost, on_node_closed};
static const takt_redis_cluster_events cluster_events = {on_changed, on_gone, on_resumed};

static void on_not_durable(takt_redis_job *job, int code, const char *text, const char *word)
{
    if (text != NULL)
        takt_redis_set_trouble(job->store, job->node, text, word);
    takt_redis_job_finish(job, code);
}

static const takt_durable_events durable_events = {takt_redis_job_send, takt_redis_job_conclude,
                                                   on_not_durable};

static void fill(takt_redis_store *store, const takt_store_kind *kind, uv_loop_t *loop,
                 const takt_store_options *options)
{
    int64_t timeout_us = options->timeout_us > 0 ? options->timeout_us : TIMEOUT_US;
    int64_t unused_us = options->unused_us > 0 ? options->unused_us : UNUSED_US;

    store->store.kind = kind;
    store->loop = loop;
    store->options = *options;
    store->options.name_space = NULL;
    memcpy(store->name_space, options->name_space, strlen(options->name_space) + 1);
    takt_timeout_begin(&store->timeout, (uint64_t)timeout_us * 1000, uv_hrtime());
    store->process = getpid();
    takt_list_init(&store->jobs);
    takt_list_init(&store->idle);
    takt_list_init(&store->failed);
    store->cluster.options =
        (takt_redis_node_options){.loop = loop,
                                  .url = &store->url,
                                  .trust = store->trust,
                                  .timeout_ms = store->timeout.timeout_ns / 1000000 + 1,
                                  .unused_ms = (uint64_t)unused_us / 1000,
                                  .events = &node_events,
                                  .durable_events = &durable_events,
                                  .data = store};
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
    if (opened->url.replicas > 0 &&
        (uint64_t)opened->url.replica_timeout_ms >= opened->timeout.timeout_ns / 1000000) {
        code = takt_fail(error, TAKT_E_STORE_URL,
                         "redis: replica_timeout= must be shorter than the store's time-out of "
                         "%d ms",
                         (int)(opened->timeout.timeout_ns / 1000000));
        goto free_store;
    }
    if (takt_redis_cluster_open(&opened->cluster, &cluster_events) < 0) {
        code = takt_fail(error, TAKT_E_NOMEM, "no memory for a store");
        goto free_store;
    }
    uv_timer_init(loop, &opened->timer);
    opened->timer.data = opened;
    takt_redis_batch_open(opened);
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
    takt_link *nodes = &store->cluster.nodes;

    store->left = 3; /* timers */
    for (takt_link *at = nodes->next; at != nodes; at = at->next)
        fail_all(&TAKT_HOLDER(at, takt_redis_node, link)->waiting, TAKT_E_CANCELED);
    fail_all(&store->cluster.pausing, TAKT_E_CANCELED);
    fail_all(&store->batch.gathered, TAKT_E_CANCELED);
    takt_redis_batch_close(store, on_batch_closed);
    uv_close((uv_handle_t *)&store->timer, on_timer_closed);
    uv_close((uv_handle_t *)&store->cluster.timer, on_cluster_timer_closed);
    store->left += takt_redis_cluster_close(&store->cluster); /* cancels the calls that were sent */
    tell_failed(store);                                       /* calls submitted by the callbacks */
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
