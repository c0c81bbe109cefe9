/*
 * file.c: the store "file:", as seen from a loop.  Decides when to give up a call, and reports
 * results.  It never waits for the disk, for another process or for its own thread (file_thread.c).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/fail.h"
#include "base/fork.h"
#include "base/quote.h"
#include "base/timeout.h"
#include "store/file_list.h"
#include "store/file_thread.h"
#include "store/waker.h"

#define TIMEOUT_US INT64_C(1000000) /* the default */
#define CLOSING_MS 200              /* time for the thread to end when the store is closed */

typedef struct file_store {
    takt_store store;
    takt_file_thread *thread;
    unsigned forks;   /* the fork count at opening: a child after fork has no thread */
    uv_async_t async; /* wakes the loop when the thread has results */
    /* fires when the next call must be given up; keeps the loop alive while there are calls */
    uv_timer_t timer;
    takt_link flight; /* jobs under way, in the order of submission */
    takt_link lost;   /* calls that could not become a job: they fail on the loop's next turn */
    takt_link idle;   /* jobs for reuse */
    takt_timeout timeout;
    char trouble[TAKT_ERROR_TEXT_SIZE]; /* the text of store.trouble */
    void (*on_event)(void *data, const takt_event *event);
    void *event_data;

    takt_waker waker;
    bool closing;
    bool cancelled; /* all calls were cancelled */
    bool gone;      /* the thread has ended */
    bool left;      /* the handles are closing */
    int handles;    /* handles not closed yet */
    void (*closed)(void *data);
    void *data;
} file_store;

static void on_timer(uv_timer_t *timer);

static int file_check(const char *rest, takt_error *error)
{
    takt_file_url url;

    return takt_file_url_parse(&url, rest, error);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The timer fires for the next check of the oldest call's time-out. A timer set for an earlier call
 * is kept: setting it costs more than a useless check. */
static void set_timer(file_store *store)
{
    uint64_t due_ns;

    if (!takt_list_empty(&store->lost)) {
        uv_timer_start(&store->timer, on_timer, 0, 0);
        return;
    }
    if (takt_list_empty(&store->flight)) {
        uv_timer_stop(&store->timer);
        return;
    }
    if (uv_is_active((uv_handle_t *)&store->timer))
        return;
    due_ns = TAKT_HOLDER(store->flight.next, takt_file_job, flight)->due_ns;
    (void)takt_timeout_look(&store->timeout, uv_hrtime());
    uv_update_time(store->timer.loop);
    uv_timer_start(&store->timer, on_timer, takt_timeout_next_ms(&store->timeout, due_ns), 0);
}

static takt_file_job *take_job(file_store *store)
{
    takt_link *first = store->idle.next;

    if (takt_list_empty(&store->idle))
        return calloc(1, sizeof(takt_file_job));
    takt_list_remove(first);
    return TAKT_HOLDER(first, takt_file_job, link);
}

/* Keeps a finished job for reuse. */
static void put_back(file_store *store, takt_file_job *job)
{
    takt_file_job_put_back(job);
    takt_list_append(&store->idle, &job->link);
}

static void lose(file_store *store, takt_store_call *call, int status)
{
    call->status = status;
    takt_list_append(&store->lost, &call->link);
    uv_timer_start(&store->timer, on_timer, 0, 0);
}

static void file_submit(takt_store *base, takt_store_call *call)
{
    file_store *store = (file_store *)base;
    bool first = takt_list_empty(&store->flight);
    takt_file_job *job;

    if (store->forks != takt_fork_count) {
        lose(store, call, TAKT_E_STORE);
        return;
    }
    if (store->closing || strnlen(call->key, TAKT_KEY_SIZE_MAX + 1) > TAKT_KEY_SIZE_MAX) {
        lose(store, call, store->closing ? TAKT_E_CANCELED : TAKT_E_INVALID);
        return;
    }
    job = take_job(store);
    if (job == NULL) {
        lose(store, call, TAKT_E_NOMEM);
        return;
    }
    if (!takt_file_job_fill(job, call)) {
        put_back(store, job);
        lose(store, call, TAKT_E_NOMEM);
        return;
    }
    job->due_ns = takt_timeout_due(&store->timeout, uv_hrtime());
    takt_list_append(&store->flight, &job->flight);
    takt_file_thread_submit(store->thread, job);
    if (first && takt_list_empty(&store->lost))
        set_timer(store);
}

static void tell_damage(file_store *store, const takt_file_job *job)
{
    char limit[TAKT_QUOTE_SIZE], key[TAKT_QUOTE_SIZE];
    takt_error made;

    if (store->on_event == NULL)
        return;
    takt_fail(&made, TAKT_E_STORE,
              "the ledger of the limit %s and the key %s was unreadable: a new one began, "
              "blocked for a period",
              takt_quote(job->limit.name, limit), takt_quote(job->key, key));
    store->on_event(store->event_data,
                    &(takt_event){TAKT_EVENT_LEDGER_DAMAGED, TAKT_E_STORE, made.text, NULL, NULL});
}

/* Keeps a job for reuse, and answers its caller, unless the call was given up. */
static void finish(file_store *store, takt_file_job *job)
{
    takt_store_call *call = job->call;

    takt_list_remove(&job->flight);
    if (job->damaged && (job->own.status == 0 || job->own.status == TAKT_E_NO_SLOT))
        tell_damage(store, job);
    if (call != NULL) {
        takt_file_job_finish(job);
        takt_waker_answered(&store->waker, call);
    }
    put_back(store, job);
    if (call != NULL)
        call->done(call);
}

/* If the lock file was overwritten, every transaction waits for ever: reports that. */
static void name_the_lock(file_store *store)
{
    takt_error error;

    if (!takt_file_thread_lock_is_damaged(store->thread, &error))
        return;
    memcpy(store->trouble, error.text, strlen(error.text) + 1);
    store->store.trouble = store->trouble;
}

/* Fails the call. A job that has begun loses its caller. */
static void give_up(file_store *store, takt_file_job *job, int status)
{
    takt_store_call *call = job->call;

    assert(call != NULL); /* a job in flight has a caller */
    store->store.trouble = NULL;
    if (status == TAKT_E_STORE_TIMEOUT)
        name_the_lock(store);
    takt_list_remove(&job->flight);
    job->call = NULL;
    if (store->forks == takt_fork_count && takt_file_thread_withdraw(store->thread, job))
        put_back(store, job);
    call->status = status;
    call->done(call);
}

static void fail_lost(file_store *store)
{
    takt_link lost;

    takt_list_init(&lost);
    takt_list_move(&lost, &store->lost); /* calls that done() submits are run on the next turn */
    while (!takt_list_empty(&lost)) {
        takt_store_call *call = TAKT_HOLDER(lost.next, takt_store_call, link);
        takt_list_remove(&call->link);
        call->done(call);
    }
}

/* ---- news and time-outs -------------------------------------------------------------- */

static void collect(file_store *store)
{
    takt_file_news news;

    takt_file_thread_collect(store->thread, &news);
    store->gone |= news.gone;
    memcpy(store->trouble, news.trouble, strlen(news.trouble) + 1);
    store->store.trouble = store->trouble[0] != '\0' ? store->trouble : NULL;
    if (news.replaced[0] != '\0' && store->on_event != NULL)
        store->on_event(store->event_data, &(takt_event){TAKT_EVENT_STORE_REPLACED, TAKT_E_STORE,
                                                         news.replaced, NULL, NULL});
    while (!takt_list_empty(&news.finished)) {
        takt_file_job *job = TAKT_HOLDER(news.finished.next, takt_file_job, link);
        takt_list_remove(&job->link);
        finish(store, job);
    }
}

static void on_part_closed(void *part)
{
    file_store *store = part;
    void (*closed)(void *data) = store->closed;
    void *data = store->data;

    if (--store->handles > 0)
        return;
    while (!takt_list_empty(&store->idle)) {
        takt_file_job *job = TAKT_HOLDER(store->idle.next, takt_file_job, link);
        takt_list_remove(&job->link);
        takt_file_job_free(job);
    }
    free(store);
    if (closed != NULL)
        closed(data);
}

static void on_handle_closed(uv_handle_t *handle)
{
    on_part_closed(handle->data);
}

static void leave(file_store *store)
{
    if (store->left)
        return;
    store->left = true;
    if (store->forks == takt_fork_count)
        takt_file_thread_leave(store->thread);
    store->handles = 3;
    takt_waker_close(&store->waker, on_part_closed, store);
    uv_close((uv_handle_t *)&store->async, on_handle_closed);
    uv_close((uv_handle_t *)&store->timer, on_handle_closed);
}

static void on_async(uv_async_t *async)
{
    file_store *store = async->data;

    if (store->left || store->forks != takt_fork_count)
        return;
    collect(store);
    if (store->closing && store->cancelled && store->gone)
        leave(store);
    else if (!store->closing)
        set_timer(store);
}

static void give_up_all(file_store *store, int status)
{
    fail_lost(store);
    while (!takt_list_empty(&store->flight))
        give_up(store, TAKT_HOLDER(store->flight.next, takt_file_job, flight), status);
}

/* Fails all calls, then gives the thread time to end. */
static void go_on_closing(file_store *store)
{
    bool here = store->forks == takt_fork_count;

    if (store->cancelled || !here) {
        give_up_all(store, TAKT_E_CANCELED);
        leave(store);
        return;
    }
    collect(store);
    give_up_all(store, TAKT_E_CANCELED);
    store->cancelled = true;
    takt_file_thread_quit(store->thread);
    uv_timer_start(&store->timer, on_timer, CLOSING_MS, 0);
}

static void on_timer(uv_timer_t *timer)
{
    file_store *store = timer->data;
    uint64_t counted_ns;

    if (store->closing) {
        go_on_closing(store);
        return;
    }
    if (store->forks != takt_fork_count) {
        give_up_all(store, TAKT_E_STORE);
        return;
    }
    collect(store); /* if the loop itself was busy, collect answers before looking at the clock */
    fail_lost(store);
    counted_ns = takt_timeout_look(&store->timeout, uv_hrtime());
    while (!takt_list_empty(&store->flight)) {
        takt_file_job *job = TAKT_HOLDER(store->flight.next, takt_file_job, flight);
        if (job->due_ns > counted_ns)
            break;
        give_up(store, job, TAKT_E_STORE_TIMEOUT);
    }
    if (!store->closing)
        set_timer(store);
}

/* ---- open and close ------------------------------------------------------------------ */

static int init_handles(file_store *store, uv_loop_t *loop, takt_error *error)
{
    int failed = uv_async_init(loop, &store->async, on_async);

    if (failed != 0)
        return takt_fail(error, TAKT_E_SYSTEM, "cannot make a handle for the store: %s",
                         uv_strerror(failed));
    uv_timer_init(loop, &store->timer);
    uv_unref((uv_handle_t *)&store->async);
    store->async.data = store;
    store->timer.data = store;
    return 0;
}

static int file_open(takt_store **opened, uv_loop_t *loop, const char *rest,
                     const takt_store_options *options, takt_error *error)
{
    takt_file_url url;
    int code = takt_file_url_parse(&url, rest, error);
    file_store *store;

    if (code == 0)
        code = takt_file_url_resolve(&url, error);
    if (code != 0)
        return code;
    store = calloc(1, sizeof *store);
    if (store == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a store");
    store->store.kind = &takt_store_file;
    takt_list_init(&store->flight);
    takt_list_init(&store->lost);
    takt_list_init(&store->idle);
    takt_timeout_begin(
        &store->timeout,
        (uint64_t)(options->timeout_us > 0 ? options->timeout_us : TIMEOUT_US) * 1000, uv_hrtime());
    store->on_event = options->on_event;
    store->event_data = options->data;
    takt_waker_init(&store->waker, loop, options);
    code = takt_file_thread_start(&store->thread, &url, options->name_space, error);
    if (code == 0) {
        store->forks = takt_fork_count;
        code = init_handles(store, loop, error);
        if (code != 0) {
            takt_file_thread_quit(store->thread);
            takt_file_thread_leave(store->thread);
        }
    }
    if (code != 0) {
        free(store);
        return code;
    }
    takt_file_thread_attach(store->thread, &store->async);
    *opened = &store->store;
    return 0;
}

static void file_close(takt_store *base, void (*closed)(void *data), void *data)
{
    file_store *store = (file_store *)base;

    store->closing = true;
    store->closed = closed;
    store->data = data;
    uv_timer_start(&store->timer, on_timer, 0, 0);
}

const takt_store_kind takt_store_file = {"file:",     file_check, file_open,
                                         file_submit, file_close, takt_file_list};
