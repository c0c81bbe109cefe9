/*
 * desk.c: the desks of a program: each has what the program stated about one ledger.
 */
#include <stdlib.h>
#include <string.h>

#include "relay/relay.h"

int64_t takt_relay_id(const char *id, size_t size)
{
    takt_reader reader = {id, id + size, false};
    int64_t number = takt_read_int(&reader, 1, INT64_MAX);

    return takt_read_done(&reader) ? number : 0;
}

static takt_desk *new_desk(takt_relay *relay, const takt_brought_limit *limit, const char *name,
                           size_t size)
{
    takt_desk *desk = calloc(1, sizeof *desk);

    if (desk == NULL)
        return NULL;
    desk->counter = takt_counter_of(relay->relays, &limit->limit, name, size);
    if (desk->counter == NULL) {
        free(desk);
        return NULL;
    }
    desk->relay = relay;
    desk->entry.key = desk->counter->key;
    desk->entry.size = size;
    takt_list_init(&desk->held);
    takt_list_init(&desk->report);
    takt_list_append(&desk->counter->desks, &desk->at_counter);
    takt_table_add(&relay->desks, &desk->entry);
    return desk;
}

takt_desk *takt_relay_desk_at(takt_relay *relay, const char *id, size_t id_size, const char *key,
                              size_t key_size)
{
    int64_t number = takt_relay_id(id, id_size);
    char name[TAKT_RELAY_NAME_MAX];
    const takt_brought_limit *limit;
    takt_entry *entry;
    takt_desk *desk;
    size_t size;

    if (number == 0 || number > relay->limit_count || !takt_relay_is_key(key, key_size))
        return NULL;
    limit = relay->limits[number - 1];
    size = strlen(limit->limit.name) + 1;
    memcpy(name, limit->limit.name, size);
    memcpy(name + size, key, key_size);
    size += key_size;
    entry = takt_table_find(&relay->desks, name, size);
    desk =
        entry != NULL ? TAKT_HOLDER(entry, takt_desk, entry) : new_desk(relay, limit, name, size);
    if (desk == NULL)
        return NULL;
    desk->counter->limit = &limit->limit;
    desk->numbers = limit->limit.numbers;
    return desk;
}

static bool is_idle(const takt_desk *desk)
{
    for (int i = 0; i < desk->want_count; i++)
        if (desk->wants[i].count > 0)
            return false;
    return desk->held_count == 0 && desk->unseen_count == 0 && desk->seq == 0 && desk->calls == 0 &&
           takt_list_empty(&desk->report);
}

void takt_relay_desk_tidy(takt_desk *desk)
{
    if (is_idle(desk))
        takt_counter_leave(desk);
}
