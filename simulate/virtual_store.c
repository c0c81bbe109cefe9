/*
 * virtual_store.c: see virtual_store.h.
 */
#include "simulate/virtual_store.h"

#include <stdlib.h>
#include <string.h>

void takt_virtual_store_init(takt_virtual_store *store)
{
    *store = (takt_virtual_store){.unwritten = false};
    takt_memory_pages_init(&store->pages);
}

void takt_virtual_store_close(takt_virtual_store *store)
{
    takt_memory_pages_close(&store->pages);
    takt_record_scratch_free(&store->scratch);
    free(store->text);
    store->text = NULL;
}

void takt_virtual_store_forget(takt_virtual_store *store)
{
    takt_memory_pages_close(&store->pages);
    store->size = 0;
    store->scratch.ledger.numbers = NULL;
    store->scratch.ledger.line_count = store->scratch.ledger.holder_count = 0;
}

static bool keep_text(takt_virtual_store *store, const takt_record_change *change)
{
    if (change->size > store->capacity) {
        free(store->text);
        store->size = store->capacity = 0;
        store->text = malloc(2 * change->size);
        if (store->text == NULL)
            return false;
        store->capacity = 2 * change->size;
    }
    memcpy(store->text, change->text, change->size);
    store->size = change->size;
    store->expires_at_us = change->expires_at_us;
    return true;
}

static void run_record(takt_virtual_store *store, int64_t now_us, takt_store_call *call)
{
    takt_record_change change;

    if (store->size > 0 && now_us >= store->expires_at_us)
        takt_virtual_store_forget(store);
    takt_record_run(&store->scratch, store->size > 0 ? store->text : NULL, store->size, now_us,
                    call, &change);
    store->damaged += change.damaged;
    if (change.what == TAKT_RECORD_PUT && !keep_text(store, &change))
        call->status = TAKT_E_NOMEM;
    if (change.what == TAKT_RECORD_DROP)
        store->size = 0;
    if (store->size > 0)
        takt_memory_pages_end(&store->pages, change.what == TAKT_RECORD_PUT);
    else
        takt_memory_pages_close(&store->pages);
}

/* A ledger that is never written differs from a record in nothing that a call sees. */
static void run_unwritten(takt_virtual_store *store, int64_t now_us, takt_store_call *call)
{
    takt_ledger *ledger = &store->scratch.ledger;

    if (!takt_record_scratch_line(&store->scratch, ledger->line_count + TAKT_PRIORITIES) ||
        !takt_record_scratch_holders(&store->scratch, ledger->holder_count + 1)) {
        call->status = TAKT_E_NOMEM;
        return;
    }
    if (ledger->numbers)
        takt_ledger_adopt(ledger, call->numbers, now_us);
    else
        takt_ledger_init(ledger, call->numbers, now_us);
    takt_store_run(ledger, now_us, call);
    if (store->pages.pages.trouble != TAKT_PAGES_FINE)
        call->status = TAKT_E_NOMEM;
    takt_memory_pages_end(&store->pages, true);
}

void takt_virtual_store_run(takt_virtual_store *store, int64_t now_us, takt_store_call *call)
{
    takt_ledger *ledger = &store->scratch.ledger;

    ledger->pages = &store->pages.pages;
    if (store->unwritten)
        run_unwritten(store, now_us, call);
    else
        run_record(store, now_us, call);
    /* the caller's numbers may be freed before somebody looks at the ledger */
    if (ledger->numbers && ledger->numbers != &store->scratch.kept) {
        store->scratch.kept = *ledger->numbers;
        ledger->numbers = &store->scratch.kept;
    }
}
