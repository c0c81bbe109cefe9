/*
 * memory.c: the store "memory:", as its loop uses it.  Calls run and are answered on the loop's
 * next turn, a batch at a time.  memory_space.c has the ledgers.
 */
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/fail.h"
#include "store/memory_space.h"
#include "store/waker.h"

/* Calls per turn: more of them would hold up this loop, and the other loops that share the
 * space. */
#define BATCH 256

typedef struct memory_store {
    takt_store store;
    uv_idle_t idle;    /* runs while there is something to do */
    takt_link waiting; /* calls not run yet */
    takt_link done;    /* calls of this turn, run and not answered yet */
    takt_waker waker;
    takt_space *space;
    char name_space[TAKT_NAME_SIZE_MAX + 1];
    void (*closed)(void *data);
    void *data;
    bool closing;
} memory_store;

static int memory_check(const char *rest, takt_error *error)
{
    if (strnlen(rest, TAKT_SPACE_NAME_MAX + 1) > TAKT_SPACE_NAME_MAX)
        return takt_fail(error, TAKT_E_STORE_URL,
                         "the name after \"memory:\" is longer than %d bytes", TAKT_SPACE_NAME_MAX);
    return 0;
}

static void run_batch(memory_store *store)
{
    for (int i = 0; i < BATCH && !takt_list_empty(&store->waiting); i++) {
        takt_link *first = store->waiting.next;
        takt_list_remove(first);
        takt_list_append(&store->done, first);
    }
    takt_space_run(store->space, store->name_space, &store->done);
}

static void cancel_waiting(memory_store *store)
{
    while (!takt_list_empty(&store->waiting)) {
        takt_store_call *call = TAKT_HOLDER(store->waiting.next, takt_store_call, link);
        takt_list_remove(&call->link);
        call->status = TAKT_E_CANCELED;
        call->done(call);
    }
}

static void on_waker_closed(void *waker)
{
    memory_store *store = waker;
    void (*closed)(void *data) = store->closed;
    void *data = store->data;

    takt_space_close(store->space);
    free(store);
    if (closed != NULL)
        closed(data);
}

static void on_closed(uv_handle_t *handle)
{
    memory_store *store = handle->data;

    takt_waker_close(&store->waker, on_waker_closed, store);
}

static void on_turn(uv_idle_t *idle)
{
    memory_store *store = idle->data;

    if (!store->closing)
        run_batch(store);
    while (!takt_list_empty(&store->done)) {
        takt_store_call *call = TAKT_HOLDER(store->done.next, takt_store_call, link);
        takt_list_remove(&call->link);
        takt_waker_answered(&store->waker, call);
        call->done(call); /* may submit more calls, or close the store */
    }
    if (store->closing) {
        cancel_waiting(store);
        uv_close((uv_handle_t *)idle, on_closed);
    } else if (takt_list_empty(&store->waiting)) {
        uv_idle_stop(idle);
    }
}

static int memory_open(takt_store **store, uv_loop_t *loop, const char *rest,
                       const takt_store_options *options, takt_error *error)
{
    memory_store *opened = calloc(1, sizeof *opened);

    if (opened == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a store");
    opened->space = takt_space_open(rest);
    if (opened->space == NULL) {
        free(opened);
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a store");
    }
    opened->store.kind = &takt_store_memory;
    memcpy(opened->name_space, options->name_space, strlen(options->name_space) + 1);
    takt_list_init(&opened->waiting);
    takt_list_init(&opened->done);
    takt_waker_init(&opened->waker, loop, options);
    uv_idle_init(loop, &opened->idle);
    opened->idle.data = opened;
    *store = &opened->store;
    return 0;
}

static void memory_submit(takt_store *store, takt_store_call *call)
{
    memory_store *memory = (memory_store *)store;

    takt_list_append(&memory->waiting, &call->link);
    uv_idle_start(&memory->idle, on_turn);
}

static void memory_close(takt_store *store, void (*closed)(void *data), void *data)
{
    memory_store *memory = (memory_store *)store;

    memory->closing = true;
    memory->closed = closed;
    memory->data = data;
    uv_idle_start(&memory->idle, on_turn);
}

static int memory_list(const char *scheme, const char *rest, const takt_store_options *options,
                       size_t max, takt_list_found found, void *data, takt_error *error)
{
    int code = memory_check(rest, error);
    takt_space *space;

    (void)scheme;
    if (code != 0)
        return code;
    space = takt_space_open(rest);
    if (space == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a store");
    takt_space_list(space, options->name_space, max, found, data);
    takt_space_close(space);
    return 0;
}

const takt_store_kind takt_store_memory = {"memory:",     memory_check, memory_open,
                                           memory_submit, memory_close, memory_list};
