/*
 * limits.c: the limits that the store "agent:" states: each with its numbers once on a connection,
 * under an id.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/agent/agent.h"

/* The limit of that key, after it was stated to the agent.  NULL: no memory. */
static const takt_agent_limit *new_limit(takt_agent_store *store, const takt_numbers *numbers,
                                         const char *key, size_t size)
{
    char id[24];
    const char *words[] = {"RELAY", "LIMIT", id, key, key + strlen(key) + 1};
    takt_agent_limit *limit = calloc(1, sizeof *limit + size + 1);

    if (limit == NULL)
        return NULL;
    memcpy(limit->key, key, size);
    limit->entry.key = limit->key;
    limit->entry.size = size;
    memcpy(&limit->numbers, numbers, sizeof limit->numbers);
    limit->id = (int64_t)store->limits.count + 1;
    snprintf(id, sizeof id, "%lld", (long long)limit->id);
    if (!takt_agent_store_send(store, 5, words, -1, 0)) {
        free(limit);
        return NULL;
    }
    takt_table_add(&store->limits, &limit->entry);
    return limit;
}

const takt_agent_limit *takt_agent_store_tell_limit(takt_agent_store *store,
                                                    const takt_agent_limit *last, const char *name,
                                                    const takt_numbers *numbers)
{
    char key[TAKT_NAME_SIZE_MAX + 1 + TAKT_RELAY_TEXT_SIZE + 1];
    size_t size = strlen(name) + 1;
    takt_entry *entry;

    if (last != NULL && memcmp(&last->numbers, numbers, sizeof last->numbers) == 0)
        return last;
    memcpy(key, name, size);
    size += takt_relay_write_numbers(numbers, key + size);
    key[size] = '\0';
    entry = takt_table_find(&store->limits, key, size);
    return entry != NULL ? TAKT_HOLDER(entry, takt_agent_limit, entry)
                         : new_limit(store, numbers, key, size);
}

bool takt_agent_store_tell_limits(takt_agent_store *store, const takt_store_call *call,
                                  const takt_agent_limit *limits[TAKT_LEVELS_MAX])
{
    limits[0] = takt_agent_store_tell_limit(store, limits[0], call->limit->name, call->numbers);
    for (int i = 0; i < call->inner_count && limits[i] != NULL; i++)
        limits[i + 1] = takt_agent_store_tell_limit(
            store, limits[i + 1], call->inner[i].limit->name, call->inner[i].numbers);
    return limits[call->inner_count] != NULL;
}

const takt_agent_limit *takt_agent_store_limit_named(const takt_agent_store *store,
                                                     const char *name)
{
    for (size_t i = 0; i < store->limits.used; i++)
        for (takt_entry *entry = store->limits.buckets[i]; entry != NULL; entry = entry->next)
            if (strcmp(entry->key, name) == 0)
                return TAKT_HOLDER(entry, takt_agent_limit, entry);
    return NULL;
}

void takt_agent_store_forget_limits(takt_agent_store *store)
{
    takt_entry *entry;

    while ((entry = takt_table_any(&store->limits)) != NULL) {
        takt_table_remove(&store->limits, entry);
        free(TAKT_HOLDER(entry, takt_agent_limit, entry));
    }
}

void takt_agent_store_write_ids(char ids[TAKT_AGENT_IDS_SIZE],
                                const takt_agent_limit *const *limits)
{
    takt_writer writer = {ids, ids + TAKT_AGENT_IDS_SIZE - 1, false};

    for (int i = 0; i < TAKT_LEVELS_MAX && limits[i] != NULL; i++) {
        if (i > 0)
            takt_write_char(&writer, '/');
        takt_write_int(&writer, limits[i]->id);
    }
    *writer.at = '\0';
}
