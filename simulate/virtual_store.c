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
    store->scratch.ledger.tenant_count = 0;
}

static bool keep_text(takt_virtual_store *store, const char *text, size_t size,
                      int64_t expires_at_us)
{
    if (size > store->capacity) {
        free(store->text);
        store->size = store->capacity = 0;
        store->text = malloc(2 * size);
        if (store->text == NULL)
            return false;
        store->capacity = 2 * size;
    }
    memcpy(store->text, text, size);
    store->size = size;
    store->expires_at_us = expires_at_us;
    return true;
}

bool takt_virtual_store_copy(takt_virtual_store *to, const takt_virtual_store *from)
{
    takt_virtual_store_forget(to);
    if (from->size == 0)
        return true;
    takt_memory_pages_copy(&to->pages, &from->pages);
    return to->pages.pages.trouble == TAKT_PAGES_FINE &&
           keep_text(to, from->text, from->size, from->expires_at_us);
}

static const char *text_of(takt_virtual_store *store, int64_t now_us)
{
    if (store->size > 0 && now_us >= store->expires_at_us)
        takt_virtual_store_forget(store);
    return store->size > 0 ? store->text : NULL;
}

static void change_record(takt_virtual_store *store, const takt_record_change *change,
                          takt_store_call *call)
{
    store->damaged += change->damaged;
    if (change->what == TAKT_RECORD_PUT &&
        !keep_text(store, change->text, change->size, change->expires_at_us))
        call->status = TAKT_E_NOMEM;
    if (change->what == TAKT_RECORD_DROP)
        store->size = 0;
    if (store->size > 0)
        takt_memory_pages_end(&store->pages, change->what == TAKT_RECORD_PUT);
    else
        takt_memory_pages_close(&store->pages);
}

static void run_record(takt_virtual_store *store, int64_t now_us, takt_store_call *call)
{
    const char *text = text_of(store, now_us);
    takt_record_change change;

    takt_record_run(&store->scratch, text, store->size, now_us, call, &change);
    change_record(store, &change, call);
}

/* The caller's numbers may be freed before somebody looks at the ledger. */
static void keep_numbers(takt_virtual_store *store)
{
    takt_ledger *ledger = &store->scratch.ledger;

    if (ledger->numbers && ledger->numbers != &store->scratch.kept) {
        store->scratch.kept = *ledger->numbers;
        ledger->numbers = &store->scratch.kept;
    }
}

void takt_virtual_store_run_nested(takt_virtual_store *const *stores, int64_t now_us,
                                   takt_store_call *call)
{
    takt_record_part parts[TAKT_LEVELS_MAX];

    for (int i = 0; i <= call->inner_count; i++) {
        parts[i].text = text_of(stores[i], now_us);
        parts[i].size = stores[i]->size;
        parts[i].pages = &stores[i]->pages.pages;
    }
    takt_record_run_nested(&stores[0]->scratch, parts, now_us, call);
    for (int i = 0; i <= call->inner_count && call->status != TAKT_E_NOMEM; i++)
        change_record(stores[i], &parts[i].change, call);
    keep_numbers(stores[0]);
}

/* A ledger that is never written differs from a record in nothing that a call sees. */
static void run_unwritten(takt_virtual_store *store, int64_t now_us, takt_store_call *call)
{
    takt_ledger *ledger = &store->scratch.ledger;

    if (!takt_record_scratch_line(&store->scratch, ledger->line_count + TAKT_PRIORITIES) ||
        !takt_record_scratch_holders(&store->scratch, ledger->holder_count + 1) ||
        (((call->claim && call->claim->tenant) || call->tenant) &&
         !takt_record_scratch_tenants(&store->scratch,
                                      ledger->tenant_count + 2 * TAKT_PRIORITIES))) {
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
    keep_numbers(store);
}
