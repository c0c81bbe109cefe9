/*
 * agent.c: the store "agent:": the agent of this host is the client of the real store.
 *
 * Decides which calls wait for the connection, which fail at once, and when the agent has not
 * answered for too long.  Without a connection all calls fail with the reason; the connection says
 * when it is back.
 */
#include "store/agent/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "store/agent/url.h"

#define TIMEOUT_US INT64_C(1000000) /* the default */

static void on_timer(uv_timer_t *timer);

/* ---- calls --------------------------------------------------------------------------- */

/* The status of a call that cannot succeed now; 0: it may succeed. */
static int hopeless(const takt_agent_store *store, const takt_store_call *call)
{
    if (store->closing)
        return TAKT_E_CANCELED;
    if (store->process != getpid())
        return TAKT_E_STORE;
    if (strnlen(call->key, TAKT_KEY_SIZE_MAX + 1) > TAKT_KEY_SIZE_MAX)
        return TAKT_E_INVALID;
    return store->state == TAKT_AGENT_DOWN ? store->code : 0;
}

static void set_timer(takt_agent_store *store)
{
    uint64_t due_ns;

    if (takt_list_empty(&store->jobs.all)) {
        uv_timer_stop(&store->timer);
        return;
    }
    if (uv_is_active((uv_handle_t *)&store->timer))
        return;
    due_ns = TAKT_HOLDER(store->jobs.all.next, takt_agent_job, order)->due_ns;
    (void)takt_timeout_look(&store->timeout, uv_hrtime());
    uv_update_time(store->loop);
    uv_timer_start(&store->timer, on_timer, takt_timeout_next_ms(&store->timeout, due_ns), 0);
}

static void agent_submit(takt_store *base, takt_store_call *call)
{
    takt_agent_store *store = (takt_agent_store *)base;
    takt_agent_job *job = calloc(1, sizeof *job);
    int status = hopeless(store, call);

    if (job == NULL) {
        call->status = TAKT_E_NOMEM;
        takt_list_append(&store->jobs.without_job, &call->link);
        takt_agent_store_turn(store);
        return;
    }
    job->call = call;
    job->due_ns = takt_timeout_due(&store->timeout, uv_hrtime());
    takt_list_init(&job->link);
    takt_list_append(&store->jobs.all, &job->order);
    if (status != 0)
        takt_agent_store_answer(store, job, status);
    else if (store->state == TAKT_AGENT_READY)
        takt_agent_store_ask(store, job);
    else
        takt_list_append(&store->jobs.waiting, &job->link);
    set_timer(store);
}

static void fail_all(takt_agent_store *store, int status)
{
    while (!takt_list_empty(&store->jobs.all))
        takt_agent_store_answer(store, TAKT_HOLDER(store->jobs.all.next, takt_agent_job, order),
                                status);
}

/* ---- time ---------------------------------------------------------------------------- */

/* The first job, if it is overdue. */
static takt_agent_job *overdue(takt_agent_store *store)
{
    takt_agent_job *job = TAKT_HOLDER(store->jobs.all.next, takt_agent_job, order);

    if (takt_list_empty(&store->jobs.all) ||
        job->due_ns > takt_timeout_look(&store->timeout, uv_hrtime()))
        return NULL;
    return job;
}

static void on_timer(uv_timer_t *timer)
{
    takt_agent_store *store = timer->data;

    /* if this program was busy, the answer may have arrived already */
    if (overdue(store) != NULL)
        takt_redis_connection_drain(store->connection);
    if (overdue(store) != NULL && takt_redis_connection_ready(store->connection))
        takt_redis_connection_leave(store->connection, true, TAKT_E_STORE_TIMEOUT,
                                    "the agent does not answer in time");
    while (overdue(store) != NULL)
        takt_agent_store_answer(store, overdue(store), TAKT_E_STORE_TIMEOUT);
    if (!store->closing)
        set_timer(store);
}

/* ---- the connection ------------------------------------------------------------------ */

static void on_ready(void *data)
{
    takt_agent_store *store = data;
    char version[12];
    const char *words[] = {"RELAY", "OPEN", version, store->name_space};
    size_t sizes[] = {5, 4, 0, strlen(store->name_space)};

    sizes[2] = (size_t)snprintf(version, sizeof version, "%d", TAKT_RELAY_VERSION);
    store->clock.opened_us = (int64_t)(uv_hrtime() / 1000);
    if (!takt_redis_connection_send(store->connection, NULL, 4, words, sizes))
        takt_redis_connection_leave(store->connection, true, TAKT_E_NOMEM, "no memory");
}

/* The agent has answered OPEN: sends the waiting calls. */
static void become_ready(takt_agent_store *store)
{
    store->connections++;
    store->state = TAKT_AGENT_READY;
    takt_agent_store_forget_limits(store);
    store->seen_index = 0;
    if (!store->closing && store->options.on_connection != NULL)
        store->options.on_connection(store->options.data, 0, 0);
    while (store->state == TAKT_AGENT_READY && !takt_list_empty(&store->jobs.waiting)) {
        takt_agent_job *job = TAKT_HOLDER(store->jobs.waiting.next, takt_agent_job, link);
        takt_list_remove(&job->link);
        takt_agent_store_ask(store, job);
    }
}

/* An error text: no agent listens, and how to start one. */
static void explain(takt_agent_store *store, int code, const char *text)
{
    takt_error made;

    if (store->heard || code != TAKT_E_STORE)
        takt_fail(&made, code, "agent: %s", text);
    else
        takt_fail(&made, code,
                  "no agent answers at %s: start one with takt-agent, or name another store (%s)",
                  store->url.path, text);
    memcpy(store->text, made.text, sizeof store->text);
    store->store.trouble = store->text;
}

static void on_lost(void *data, int code, const char *text)
{
    takt_agent_store *store = data;
    bool was_ready = store->state == TAKT_AGENT_READY;

    explain(store, code, text);
    store->heard = false;
    store->code = code;
    store->state = TAKT_AGENT_DOWN;
    fail_all(store, code);
    if (!was_ready)
        return;
    if (!store->closing && store->options.on_connection != NULL)
        store->options.on_connection(store->options.data, 0, code);
    if (!store->closing)
        takt_agent_store_forget(store);
}

static void on_pushed(void *data, const takt_reply *reply)
{
    if (takt_agent_store_hear(data, reply))
        become_ready(data);
}

/* ---- opening and closing ------------------------------------------------------------- */

static void free_desks(takt_agent_store *store)
{
    takt_entry *entry;

    while ((entry = takt_table_any(&store->desks)) != NULL) {
        takt_table_remove(&store->desks, entry);
        free(TAKT_HOLDER(entry, takt_agent_desk, entry));
    }
    takt_table_close(&store->desks);
}

static void closed_one(takt_agent_store *store)
{
    void (*closed)(void *data) = store->closed;
    void *data = store->data;

    if (--store->left > 0)
        return;
    free_desks(store);
    takt_agent_store_forget_limits(store);
    takt_table_close(&store->limits);
    free(store);
    if (closed != NULL)
        closed(data);
}

static void on_connection_closed(void *data)
{
    closed_one(data);
}

static void on_handle_closed(uv_handle_t *handle)
{
    closed_one(handle->data);
}

/* Cancels the remaining calls when the store is closed, then closes everything. */
static void cancel_all(takt_agent_store *store)
{
    if (!store->closing || store->left > 0)
        return;
    fail_all(store, TAKT_E_CANCELED);
    if (!takt_list_empty(&store->jobs.answered)) /* they come back first */
        return;
    store->left = 3;
    uv_close((uv_handle_t *)&store->timer, on_handle_closed);
    uv_close((uv_handle_t *)&store->jobs.turn, on_handle_closed);
    takt_redis_connection_flush(store->connection); /* the last statement */
    takt_redis_connection_close(store->connection);
}

static const takt_redis_connection_events connection_events = {on_ready, on_lost, on_pushed,
                                                               on_connection_closed};

static int agent_check(const char *rest, takt_error *error)
{
    takt_redis_url url;

    return takt_agent_url_parse(&url, rest, error);
}

static int agent_open(takt_store **store, uv_loop_t *loop, const char *rest,
                      const takt_store_options *options, takt_error *error)
{
    takt_agent_store *opened = calloc(1, sizeof *opened);
    int64_t timeout_us = options->timeout_us > 0 ? options->timeout_us : TIMEOUT_US;
    uv_timeval64_t wall = {0};
    int code;

    if (opened == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a store");
    code = takt_agent_url_parse(&opened->url, rest, error);
    if (code == 0 && (takt_table_init(&opened->desks, uv_hrtime()) < 0 ||
                      takt_table_init(&opened->limits, uv_hrtime()) < 0))
        code = takt_fail(error, TAKT_E_NOMEM, "no memory for a store");
    if (code < 0)
        goto close_tables;
    opened->store.kind = &takt_store_agent;
    opened->store.relays = true;
    opened->loop = loop;
    opened->options = *options;
    opened->options.name_space = NULL;
    opened->process = getpid();
    opened->jobs.turned = cancel_all;
    memcpy(opened->name_space, options->name_space, strlen(options->name_space) + 1);
    takt_timeout_begin(&opened->timeout, (uint64_t)timeout_us * 1000, uv_hrtime());
    uv_gettimeofday(&wall); /* until the agent reports the store's clock */
    opened->clock.store_offset_us =
        (int64_t)(uv_hrtime() / 1000) - (wall.tv_sec * 1000000 + wall.tv_usec);
    takt_list_init(&opened->jobs.all);
    takt_list_init(&opened->jobs.waiting);
    takt_list_init(&opened->jobs.answered);
    takt_list_init(&opened->jobs.without_job);
    opened->connection = takt_redis_connection_open(loop, &opened->url, NULL, NULL,
                                                    opened->timeout.timeout_ns / 1000000 + 1,
                                                    &connection_events, opened);
    if (opened->connection == NULL) {
        code = takt_fail(error, TAKT_E_NOMEM, "no memory for a store");
        goto close_tables;
    }
    uv_timer_init(loop, &opened->timer);
    uv_idle_init(loop, &opened->jobs.turn);
    opened->timer.data = opened->jobs.turn.data = opened;
    *store = &opened->store;
    return 0;

close_tables:
    takt_table_close(&opened->limits);
    takt_table_close(&opened->desks);
    free(opened);
    return code;
}

static void agent_close(takt_store *base, void (*closed)(void *data), void *data)
{
    takt_agent_store *store = (takt_agent_store *)base;

    store->closing = true;
    store->closed = closed;
    store->data = data;
    takt_agent_store_turn(store);
}

static int agent_list(const char *scheme, const char *rest, const takt_store_options *options,
                      size_t max, takt_list_found found, void *data, takt_error *error)
{
    (void)scheme;
    (void)rest;
    (void)options;
    (void)max;
    (void)found;
    (void)data;
    return takt_fail(error, TAKT_E_STORE_URL,
                     "an agent lists no ledgers: name the store that the agent uses");
}

const takt_store_kind takt_store_agent = {"agent:",     agent_check, agent_open,
                                          agent_submit, agent_close, agent_list};
