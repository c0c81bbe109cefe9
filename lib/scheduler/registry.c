/*
 * registry.c: see registry.h.
 */
#include "scheduler/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

#define ID_SIZE (TAKT_NAME_SIZE_MAX + 1 + TAKT_KEY_SIZE_MAX)

static bool wakes_sooner(const takt_node *a, const takt_node *b)
{
    return TAKT_HOLDER(a, takt_queue, registry.timer)->registry.wake_at_us <
           TAKT_HOLDER(b, takt_queue, registry.timer)->registry.wake_at_us;
}

int takt_registry_init(takt_scheduler *scheduler, uint64_t worker, uint64_t seed, void *owner)
{
    *scheduler = (takt_scheduler){.worker = worker, .random = seed, .owner = owner};
    takt_heap_init(&scheduler->timers, wakes_sooner);
    takt_list_init(&scheduler->touched);
    takt_list_init(&scheduler->claiming);
    takt_list_init(&scheduler->idle);
    takt_list_init(&scheduler->fired);
    takt_list_init(&scheduler->granted);
    takt_list_init(&scheduler->quiet);
    takt_list_init(&scheduler->losers);
    takt_list_init(&scheduler->fallbacks);
    takt_list_init(&scheduler->handing_back);
    return takt_table_init(&scheduler->queues, takt_random(&scheduler->random));
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

void takt_registry_wake_at(takt_scheduler *scheduler, takt_queue *queue, int64_t wake_at_us)
{
    if (queue->registry.wake_at_us == wake_at_us)
        return;
    if (queue->registry.wake_at_us != TAKT_NEVER)
        takt_heap_remove(&scheduler->timers, &queue->registry.timer);
    queue->registry.wake_at_us = wake_at_us;
    if (wake_at_us != TAKT_NEVER)
        takt_heap_add(&scheduler->timers, &queue->registry.timer);
}

void takt_registry_forget(takt_scheduler *scheduler, takt_queue *queue)
{
    takt_registry_put(scheduler, queue, NOWHERE);
    takt_registry_wake_at(scheduler, queue, TAKT_NEVER);
    takt_table_remove(&scheduler->queues, &queue->registry.entry);
    if (scheduler->last == queue)
        scheduler->last = NULL;
    takt_queue_close(queue);
    free(queue);
}

void takt_registry_close(takt_scheduler *scheduler)
{
    takt_entry *entry;

    while ((entry = takt_table_any(&scheduler->queues)))
        takt_registry_forget(scheduler, TAKT_HOLDER(entry, takt_queue, registry.entry));
    takt_table_close(&scheduler->queues);
    takt_servers_close(&scheduler->servers);
}

/* The table's key: the limit's name, NUL, the key. */
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

static size_t write_id(char id[ID_SIZE], const takt_limit *limit, const char *key)
{
    size_t name_size = strlen(limit->name), key_size = strlen(key);

    memcpy(id, limit->name, name_size + 1);
    memcpy(id + name_size + 1, key, key_size);
    return name_size + 1 + key_size;
}

takt_queue *takt_registry_find(takt_scheduler *scheduler, const takt_limit *limit, const char *key)
{
    char id[ID_SIZE];
    takt_entry *entry = takt_table_find(&scheduler->queues, id, write_id(id, limit, key));

    return entry ? TAKT_HOLDER(entry, takt_queue, registry.entry) : NULL;
}

takt_queue *takt_registry_queue(takt_scheduler *scheduler, const takt_limit *limit, const char *key)
{
    takt_queue *queue = scheduler->last;
    char id[ID_SIZE];

    if (queue && queue->limit == limit && strcmp(queue->key, key) == 0)
        return queue;
    queue = takt_registry_find(scheduler, limit, key);
    if (!queue)
        queue = make_queue(scheduler, limit, id, write_id(id, limit, key));
    scheduler->last = queue;
    return queue;
}
