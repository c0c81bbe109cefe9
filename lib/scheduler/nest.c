/*
 * nest.c: see nest.h.
 */
#include "scheduler/nest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "core/tenant_name.h"

#define ID_SIZE (TAKT_NAME_SIZE_MAX + 1 + TAKT_KEY_SIZE_MAX)

static size_t write_id(char id[ID_SIZE], const char *limit, const char *key)
{
    size_t name_size = strlen(limit), key_size = strlen(key);

    memcpy(id, limit, name_size + 1);
    memcpy(id + name_size + 1, key, key_size);
    return name_size + 1 + key_size;
}

static takt_inner_ledger *find(const takt_scheduler *scheduler, const char *id, size_t size)
{
    takt_entry *entry = takt_table_find(&scheduler->inner, id, size);

    return entry ? TAKT_HOLDER(entry, takt_inner_ledger, entry) : NULL;
}

/* The ledger of an inner limit, made if necessary; NULL: no memory. */
static takt_inner_ledger *ledger_at(takt_scheduler *scheduler, const takt_limit *limit,
                                    const char *key)
{
    char id[ID_SIZE];
    size_t size = write_id(id, limit->name, key);
    takt_inner_ledger *ledger = find(scheduler, id, size);

    if (ledger)
        return ledger;
    ledger = calloc(1, sizeof *ledger + size);
    if (!ledger)
        return NULL;
    memcpy(ledger->id, id, size);
    ledger->entry.key = ledger->id;
    ledger->entry.size = size;
    takt_list_init(&ledger->queues);
    takt_table_add(&scheduler->inner, &ledger->entry);
    return ledger;
}

void takt_nest_name_subject(char subject[TAKT_TENANT_SIZE_MAX + 1], const takt_chain *chain)
{
    uint64_t hash = 0;
    size_t used = 0;

    for (int i = 0; i + 1 < chain->count; i++) {
        const char *part = chain->keys[i][0] ? chain->keys[i] : chain->limits[i]->name;
        hash = takt_tenant_worker(hash, part);
        if (used <= TAKT_TENANT_SIZE_MAX)
            used += (size_t)snprintf(subject + used, TAKT_TENANT_SIZE_MAX + 1 - used, "%s%s",
                                     i > 0 ? "/" : "", part);
    }
    if (used > TAKT_TENANT_SIZE_MAX)
        snprintf(subject, TAKT_TENANT_SIZE_MAX + 1, "#%016" PRIx64, hash);
}

int takt_nest_join(takt_scheduler *scheduler, takt_queue *queue, const takt_chain *chain,
                   const char *const *keys, const char *tenant)
{
    takt_nest *nest = calloc(1, sizeof *nest);
    takt_chain_units units;

    if (!nest)
        return TAKT_E_NOMEM;
    queue->nest = nest;
    nest->numbered = chain->numbered;
    nest->tenant = tenant;
    nest->weight = 1;
    (void)takt_chain_number(chain, &units); /* it suits */
    takt_nest_name_subject(nest->subject, chain);
    while (nest->count + 1 < chain->count) {
        takt_inner *inner = &nest->inner[nest->count];
        takt_inner_ledger *ledger =
            ledger_at(scheduler, chain->limits[nest->count], keys[nest->count]);
        if (!ledger)
            return TAKT_E_NOMEM; /* takt_nest_leave frees the others */
        *inner = (takt_inner){.limit = chain->limits[nest->count],
                              .numbers = &chain->limits[nest->count]->numbers,
                              .key = keys[nest->count],
                              .units = units.maps[nest->count],
                              .queue = queue,
                              .ledger = ledger};
        takt_list_append(&ledger->queues, &inner->link);
        nest->count++;
    }
    return 0;
}

void takt_nest_leave(takt_scheduler *scheduler, takt_queue *queue)
{
    for (int i = 0; queue->nest && i < queue->nest->count; i++) {
        takt_inner *inner = &queue->nest->inner[i];
        takt_inner_ledger *ledger = inner->ledger;
        ledger->alone -= queue->loss.alone;
        free(inner->newer);
        takt_list_remove(&inner->link);
        if (!takt_list_empty(&ledger->queues))
            continue;
        takt_table_remove(&scheduler->inner, &ledger->entry);
        free(ledger->share);
        free(ledger);
    }
}

takt_queue *takt_nest_next(takt_scheduler *scheduler, const char *limit, const char *key,
                           const takt_queue *before)
{
    char id[ID_SIZE];
    takt_inner_ledger *ledger = find(scheduler, id, write_id(id, limit, key));
    const takt_link *next;

    if (!ledger)
        return NULL;
    next = ledger->queues.next;
    for (int i = 0; before && i < before->nest->count; i++)
        if (before->nest->inner[i].ledger == ledger)
            next = before->nest->inner[i].link.next;
    return next != &ledger->queues ? TAKT_HOLDER(next, takt_inner, link)->queue : NULL;
}

bool takt_nest_has(const takt_queue *queue, const takt_chain *chain)
{
    for (int i = 0; i < queue->nest->count; i++)
        if (queue->nest->inner[i].limit != chain->limits[i])
            return false;
    return queue->limit == chain->limits[queue->nest->count];
}

bool takt_nest_continues(const takt_nest *nest, const takt_chain *chain)
{
    takt_chain_units units;

    if (!takt_chain_number(chain, &units))
        return false;
    for (int i = 0; i < nest->count; i++)
        if (!takt_unit_map_same(nest->inner[i].units, units.maps[i]))
            return false;
    return true;
}

uint64_t takt_nest_worker(const takt_queue *queue, uint64_t worker)
{
    const takt_nest *nest = queue->nest;
    char units[TAKT_AMOUNTS_MAX + 1];

    worker = takt_tenant_worker(worker, queue->limit->name);
    worker = takt_tenant_worker(worker, queue->key);
    for (int i = 0; i < nest->count; i++) {
        worker = takt_tenant_worker(worker, nest->inner[i].limit->name);
        worker = takt_tenant_worker(worker, nest->inner[i].key);
        takt_unit_map_write(nest->inner[i].units, units);
        worker = takt_tenant_worker(worker, units);
    }
    return takt_tenant_worker(worker, nest->tenant);
}

bool takt_nest_has_tenants(const takt_queue *queue)
{
    return queue->nest && queue->turn->tenant == queue->nest->tenant;
}

const char *takt_nest_tenant(const takt_queue *queue, int level, int32_t *weight)
{
    const takt_nest *nest = queue->nest;
    bool within = nest->inside == TAKT_INSIDE_WITHIN;

    *weight = level == 0 && within ? nest->weight : queue->turn->weight;
    if (level == 0 && nest->inside == TAKT_INSIDE_NONE)
        return NULL;
    return level == 0 && within ? nest->tenant : queue->turn->tenant;
}
