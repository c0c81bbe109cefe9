/*
 * inner.c: see inner.h.
 */
#include "simulate/inner.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

typedef struct inner_record {
    takt_entry entry; /* the limit's name, a NUL, the key */
    takt_virtual_store store;
    char id[];
} inner_record;

int takt_sim_inner_init(takt_fleet *fleet)
{
    return takt_table_init(&fleet->inner, 1);
}

void takt_sim_inner_close(takt_fleet *fleet)
{
    takt_entry *entry;

    while ((entry = takt_table_any(&fleet->inner))) {
        inner_record *record = TAKT_HOLDER(entry, inner_record, entry);
        takt_table_remove(&fleet->inner, entry);
        takt_virtual_store_close(&record->store);
        free(record);
    }
    takt_table_close(&fleet->inner);
}

static takt_virtual_store *store_of(takt_fleet *fleet, const char *limit, const char *key)
{
    char id[TAKT_NAME_SIZE_MAX + 1 + TAKT_SIM_KEY_SIZE];
    size_t size = strlen(limit) + 1 + strlen(key);
    takt_entry *entry;
    inner_record *record;

    strcpy(id, limit);
    strcpy(id + strlen(limit) + 1, key);
    entry = takt_table_find(&fleet->inner, id, size);
    if (entry)
        return &TAKT_HOLDER(entry, inner_record, entry)->store;
    record = calloc(1, sizeof *record + size);
    if (!record)
        return NULL;
    memcpy(record->id, id, size);
    record->entry.key = record->id;
    record->entry.size = size;
    takt_virtual_store_init(&record->store);
    takt_table_add(&fleet->inner, &record->entry);
    return &record->store;
}

void takt_sim_inner_name(takt_sim_exchange *exchange, const takt_queue *queue)
{
    exchange->call.inner = exchange->inner;
    exchange->call.inner_count = queue->nest ? queue->nest->count : 0;
    for (int i = 0; i < exchange->call.inner_count; i++) {
        const takt_inner *inner = &queue->nest->inner[i];
        strcpy(exchange->inner_keys[i], inner->key);
        exchange->inner_numbers[i] = *takt_inner_stated(inner);
        exchange->inner[i] = (takt_store_inner){inner->limit, &exchange->inner_numbers[i],
                                                exchange->inner_keys[i], inner->units};
    }
}

void takt_sim_inner_within(takt_sim_exchange *exchange, const takt_limit *limit, const char *key)
{
    strcpy(exchange->inner_keys[0], key);
    exchange->inner[0] =
        (takt_store_inner){limit, &limit->numbers, exchange->inner_keys[0], TAKT_UNIT_MAP_PLAIN};
    exchange->call.inner = exchange->inner;
    exchange->call.inner_count = 1;
}

void takt_sim_inner_aim(takt_sim_exchange *exchange, const takt_limit *limit, const char *key)
{
    strcpy(exchange->inner_keys[0], key);
    exchange->call.limit = limit;
    exchange->call.key = exchange->inner_keys[0];
    exchange->of_inner = true;
}

void takt_sim_inner_run(takt_fleet *fleet, int ledger, int64_t now_us, takt_store_call *call)
{
    takt_virtual_store *stores[TAKT_LEVELS_MAX] = {&fleet->ledgers[ledger].store};
    bool nested = call->inner_count > 0;

    for (int i = 0; i < call->inner_count; i++)
        stores[1 + i] = store_of(fleet, call->inner[i].limit->name, call->inner[i].key);
    if (!nested)
        stores[0] = store_of(fleet, call->limit->name, call->key);
    for (int i = 0; i <= call->inner_count; i++)
        if (!stores[i]) {
            call->status = TAKT_E_NOMEM;
            return;
        }
    if (nested)
        takt_virtual_store_run_nested(stores, now_us, call);
    else
        takt_virtual_store_run(stores[0], now_us, call);
}
