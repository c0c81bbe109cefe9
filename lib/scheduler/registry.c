/*
 * registry.c: see registry.h.
 */
#include "scheduler/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "scheduler/turns.h"

#define LEVEL_SIZE     (TAKT_NAME_SIZE_MAX + 1 + TAKT_KEY_SIZE_MAX)
#define ID_SIZE        (LEVEL_SIZE + 1 + TAKT_TENANT_SIZE_MAX)
#define UNITS_SIZE     (TAKT_INNER_MAX * TAKT_AMOUNTS_MAX)
#define NESTED_ID_SIZE (ID_SIZE + TAKT_INNER_MAX * (1 + LEVEL_SIZE) + 1 + UNITS_SIZE)

static bool passes_sooner(const takt_node *a, const takt_node *b)
{
    return TAKT_HOLDER(a, takt_queue, registry.timer)->registry.pass_at_us <
           TAKT_HOLDER(b, takt_queue, registry.timer)->registry.pass_at_us;
}

int takt_registry_init(takt_scheduler *scheduler, uint64_t worker, uint64_t seed, void *owner)
{
    *scheduler = (takt_scheduler){.worker = worker, .random = seed, .owner = owner};
    takt_heap_init(&scheduler->timers, passes_sooner);
    takt_list_init(&scheduler->touched);
    takt_list_init(&scheduler->claiming);
    takt_list_init(&scheduler->idle);
    takt_list_init(&scheduler->fired);
    takt_list_init(&scheduler->granted);
    takt_list_init(&scheduler->quiet);
    takt_list_init(&scheduler->losers);
    takt_list_init(&scheduler->fallbacks);
    takt_list_init(&scheduler->handing_back);
    if (takt_table_init(&scheduler->queues, takt_random(&scheduler->random)) < 0)
        return TAKT_E_NOMEM;
    if (takt_table_init(&scheduler->turns, takt_random(&scheduler->random)) < 0)
        goto close_queues;
    if (takt_table_init(&scheduler->tenants, takt_random(&scheduler->random)) < 0)
        goto close_turns;
    if (takt_table_init(&scheduler->subjects, 0) < 0) /* nobody chooses its keys */
        goto close_tenants;
    if (takt_table_init(&scheduler->inner, takt_random(&scheduler->random)) < 0)
        goto close_subjects;
    return 0;
close_subjects:
    takt_table_close(&scheduler->subjects);
close_tenants:
    takt_table_close(&scheduler->tenants);
close_turns:
    takt_table_close(&scheduler->turns);
close_queues:
    takt_table_close(&scheduler->queues);
    return TAKT_E_NOMEM;
}

void takt_registry_put(takt_scheduler *scheduler, takt_queue *queue, int list)
{
    takt_link *const lists[] = {NULL, &scheduler->touched, &scheduler->claiming, &scheduler->idle};

    if (queue->registry.list == list)
        return;
    scheduler->idle_count += (list == IDLE) - (queue->registry.list == IDLE);
    takt_list_remove(&queue->registry.link);
    if (list != NOWHERE)
        takt_list_append(lists[list], &queue->registry.link);
    queue->registry.list = (uint8_t)list;
}

void takt_registry_touch(takt_scheduler *scheduler, takt_queue *queue)
{
    if (queue->registry.list != CLAIMING)
        takt_registry_put(scheduler, queue, TOUCHED);
}

void takt_registry_pass_at(takt_scheduler *scheduler, takt_queue *queue, int64_t pass_at_us)
{
    if (queue->registry.pass_at_us == pass_at_us)
        return;
    if (queue->registry.pass_at_us != TAKT_NEVER)
        takt_heap_remove(&scheduler->timers, &queue->registry.timer);
    queue->registry.pass_at_us = pass_at_us;
    if (pass_at_us != TAKT_NEVER)
        takt_heap_add(&scheduler->timers, &queue->registry.timer);
}

void takt_registry_forget(takt_scheduler *scheduler, takt_queue *queue)
{
    takt_registry_put(scheduler, queue, NOWHERE);
    takt_registry_pass_at(scheduler, queue, TAKT_NEVER);
    takt_table_remove(&scheduler->queues, &queue->registry.entry);
    if (scheduler->last == queue)
        scheduler->last = NULL;
    takt_turns_leave(scheduler, queue);
    takt_nest_leave(scheduler, queue);
    takt_queue_close(queue);
    free(queue);
}

void takt_registry_close(takt_scheduler *scheduler)
{
    takt_entry *entry;

    while ((entry = takt_table_any(&scheduler->queues)))
        takt_registry_forget(scheduler, TAKT_HOLDER(entry, takt_queue, registry.entry));
    takt_table_close(&scheduler->queues);
    takt_table_close(&scheduler->turns);
    takt_table_close(&scheduler->tenants);
    takt_table_close(&scheduler->subjects);
    takt_table_close(&scheduler->inner);
    takt_servers_close(&scheduler->servers);
}

/* The table's key (`id`) is the queue's name: takt_registry_named. */
static takt_queue *make_queue(takt_scheduler *scheduler, const takt_limit *limit, const char *id,
                              size_t size)
{
    takt_queue *queue = malloc(sizeof *queue + size + 1);
    char *text;

    if (!queue)
        return NULL;
    text = (char *)(queue + 1);
    memcpy(text, id, size);
    text[size] = '\0';
    takt_queue_init(queue, limit, text + strlen(limit->name) + 1);
    queue->owner = scheduler->owner;
    queue->server = &scheduler->servers.first;
    queue->registry.entry.key = text;
    queue->registry.entry.size = size;
    takt_table_add(&scheduler->queues, &queue->registry.entry);
    takt_registry_touch(scheduler, queue); /* otherwise it could stay idle */
    return queue;
}

/* Adds a part behind a NUL, and returns the size with it. */
static size_t add_part(char *id, size_t size, const char *part)
{
    size_t more = strlen(part);

    id[size++] = '\0';
    memcpy(id + size, part, more);
    return size + more;
}

static size_t write_id(char id[ID_SIZE], const char *limit, const char *key, const char *tenant)
{
    size_t name_size = strlen(limit), key_size = strlen(key), size;

    memcpy(id, limit, name_size + 1);
    memcpy(id + name_size + 1, key, key_size);
    size = name_size + 1 + key_size;
    return tenant[0] ? add_part(id, size, tenant) : size;
}

takt_queue *takt_registry_named(takt_scheduler *scheduler, const char *name, size_t size)
{
    takt_entry *entry = takt_table_find(&scheduler->queues, name, size);

    return entry ? TAKT_HOLDER(entry, takt_queue, registry.entry) : NULL;
}

takt_queue *takt_registry_find(takt_scheduler *scheduler, const takt_limit *limit, const char *key)
{
    return takt_registry_find_tenant(scheduler, limit, key, "");
}

takt_queue *takt_registry_find_tenant(takt_scheduler *scheduler, const takt_limit *limit,
                                      const char *key, const char *tenant)
{
    char id[ID_SIZE];

    return takt_registry_named(scheduler, id, write_id(id, limit->name, key, tenant ? tenant : ""));
}

takt_queue *takt_registry_next(takt_scheduler *scheduler, const char *limit, const char *key,
                               takt_queue *before)
{
    char id[ID_SIZE];
    size_t size = write_id(id, limit, key, "");
    takt_queue *plain = before ? NULL : takt_registry_named(scheduler, id, size);

    if (plain)
        return plain;
    return takt_turns_next(scheduler, id, size, before);
}

takt_turn *takt_registry_turn(takt_scheduler *scheduler, const char *limit, const char *key,
                              const char *tenant, const takt_turn *before)
{
    char id[ID_SIZE];

    return takt_turns_of_tenant(scheduler, id, write_id(id, limit, key, ""), tenant, before);
}

/* How much of a queue's id is the limit's name and the key. */
static size_t plain_size(const takt_queue *queue)
{
    return (size_t)(queue->key - (const char *)queue->registry.entry.key) + strlen(queue->key);
}

/* From now on the queue takes turns with those of other tenants; NULL: no memory. */
static takt_queue *join(takt_scheduler *scheduler, takt_queue *queue)
{
    const char *id = queue->registry.entry.key;
    size_t size = plain_size(queue);
    const char *tenant = queue->registry.entry.size > size ? id + size + 1 : "";

    if (!takt_turns_join(scheduler, id, size, queue, tenant))
        return NULL;
    takt_registry_touch(scheduler, queue);
    return queue;
}

takt_queue *takt_registry_tenant(takt_scheduler *scheduler, const takt_limit *limit,
                                 const char *key, const char *tenant, int32_t weight)
{
    takt_queue *queue;
    char id[ID_SIZE];
    size_t size;

    if (!tenant)
        return takt_registry_queue(scheduler, limit, key);
    size = write_id(id, limit->name, key, tenant);
    queue = takt_registry_named(scheduler, id, size);
    if (!queue)
        queue = make_queue(scheduler, limit, id, size);
    if (queue && !queue->turn)
        queue = join(scheduler, queue);
    if (queue)
        queue->turn->weight = weight;
    return queue;
}

/* The queue of work without a tenant.  Beside nested work it takes turns. */
static takt_queue *make_plain(takt_scheduler *scheduler, const takt_limit *limit, const char *id,
                              size_t size)
{
    takt_queue *queue = make_queue(scheduler, limit, id, size);

    if (!queue || !takt_table_find(&scheduler->turns, id, size) || join(scheduler, queue))
        return queue;
    takt_registry_forget(scheduler, queue);
    return NULL;
}

takt_queue *takt_registry_queue(takt_scheduler *scheduler, const takt_limit *limit, const char *key)
{
    takt_queue *queue = scheduler->last;
    char id[ID_SIZE];
    size_t size;

    if (queue && queue->limit == limit && strcmp(queue->key, key) == 0)
        return queue;
    size = write_id(id, limit->name, key, "");
    queue = takt_registry_named(scheduler, id, size);
    if (!queue)
        queue = make_plain(scheduler, limit, id, size);
    scheduler->last = queue;
    return queue;
}

/* ---- nested work ----------------------------------------------------------------------------- */

/* Work whose amounts mean different units waits in different queues: with a new policy.  Where all
 * levels have the amounts of the claim, nothing is added. */
static size_t add_units(char *id, size_t size, const takt_chain *chain)
{
    takt_chain_units units;
    char text[UNITS_SIZE + 1];
    bool plain = true;

    (void)takt_chain_number(chain, &units); /* it suits */
    for (int i = 0; i + 1 < chain->count; i++) {
        plain = plain && takt_unit_map_is_plain(units.maps[i]);
        takt_unit_map_digits(units.maps[i], text + (ptrdiff_t)i * TAKT_AMOUNTS_MAX);
    }
    return plain ? size : add_part(id, size, text);
}

static size_t write_nested_id(char id[NESTED_ID_SIZE], const takt_chain *chain, const char *tenant)
{
    int outermost = chain->count - 1;
    size_t size = write_id(id, chain->limits[outermost]->name, chain->keys[outermost], "");

    size = add_part(id, size, tenant);
    for (int i = 0; i < outermost; i++) {
        size = add_part(id, size, chain->limits[i]->name);
        size = add_part(id, size, chain->keys[i]);
    }
    return add_units(id, size, chain);
}

/* The queue takes turns as a tenant, with the inner levels of the chain; false: no memory. */
static bool nest(takt_scheduler *scheduler, takt_queue *queue, const takt_chain *chain)
{
    const char *part = queue->key + strlen(queue->key) + 1; /* the tenant, then names and keys */
    const char *keys[TAKT_INNER_MAX];
    size_t size = plain_size(queue);
    takt_queue *plain;

    for (int i = 0; i + 1 < chain->count; i++) {
        const char *name = part + strlen(part) + 1;
        keys[i] = part = name + strlen(name) + 1;
    }
    if (takt_nest_join(scheduler, queue, chain, keys, queue->key + strlen(queue->key) + 1) < 0 ||
        !join(scheduler, queue))
        return false;
    plain = takt_registry_named(scheduler, queue->registry.entry.key, size);
    return !plain || plain->turn || join(scheduler, plain);
}

takt_queue *takt_registry_nested(takt_scheduler *scheduler, const takt_chain *chain,
                                 const char *tenant, int32_t weight)
{
    char id[NESTED_ID_SIZE];
    size_t size = write_nested_id(id, chain, tenant ? tenant : "");
    bool within = chain->inside == TAKT_INSIDE_WITHIN;
    takt_queue *queue = takt_registry_named(scheduler, id, size);

    if (!queue) {
        queue = make_queue(scheduler, chain->limits[chain->count - 1], id, size);
        if (queue && !nest(scheduler, queue, chain)) {
            takt_registry_forget(scheduler, queue);
            queue = NULL;
        }
    }
    if (!queue || (within && !takt_turns_join_subject(scheduler, queue)))
        return NULL;
    /* a limit may have tenants since, or have them no longer */
    queue->nest->inside = chain->inside;
    queue->nest->stated = chain->stated;
    queue->nest->weight = weight;
    takt_turns_name(scheduler, queue->turn,
                    tenant && !within ? queue->nest->tenant : queue->nest->subject, !within);
    queue->turn->weight = within ? 1 : weight;
    return queue;
}
