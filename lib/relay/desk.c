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

static takt_desk *new_desk(takt_relay *relay, const char *name, size_t size)
{
    takt_desk *desk = calloc(1, sizeof *desk);

    if (desk == NULL)
        return NULL;
    desk->counter = takt_counter_of(relay->relays, name, size);
    if (desk->counter == NULL) {
        free(desk);
        return NULL;
    }
    desk->relay = relay;
    desk->entry.key = desk->counter->name;
    desk->entry.size = size;
    takt_list_init(&desk->held);
    takt_list_init(&desk->report);
    takt_list_append(&desk->counter->desks, &desk->at_counter);
    takt_table_add(&relay->desks, &desk->entry);
    return desk;
}

/* The limit that the program has stated last under that name; NULL: none. */
static const takt_limit *limit_named(const takt_relay *relay, const char *name)
{
    for (int64_t i = relay->limit_count; i > 0; i--)
        if (strcmp(relay->limits[i - 1]->limit.name, name) == 0)
            return &relay->limits[i - 1]->limit;
    return NULL;
}

/* Whether a limit of the chain is among its outer ones. */
static bool is_circle(const takt_chain *chain)
{
    for (int i = 0; i < chain->count; i++)
        for (int outer = i + 1; outer < chain->count; outer++)
            if (strcmp(chain->limits[i]->name, chain->limits[outer]->name) == 0)
                return true;
    return false;
}

/* The limits of a name, the innermost first.  False: one is unknown, or one claim cannot decide
 * about them. */
static bool find_limits(const takt_relay *relay, const takt_limit *outermost,
                        const takt_relay_parts *parts, takt_chain *chain)
{
    *chain = (takt_chain){.count = parts->inner_count + 1};
    for (int i = 0; i < parts->inner_count; i++) {
        chain->limits[i] = limit_named(relay, parts->inner[i].limit);
        if (chain->limits[i] == NULL)
            return false;
    }
    chain->limits[parts->inner_count] = outermost;
    return chain->count == 1 ||
           (takt_chain_is_nested(chain) && !takt_chain_bounds_inside(chain) && !is_circle(chain));
}

takt_desk *takt_relay_desk_at(takt_relay *relay, const char *id, size_t id_size, const char *key,
                              size_t key_size)
{
    int64_t number = takt_relay_id(id, id_size);
    char name[TAKT_RELAY_NAME_MAX + 1] = "";
    const takt_limit *limit;
    takt_relay_parts parts;
    takt_chain chain;
    takt_entry *entry;
    takt_desk *desk;
    size_t size;

    if (number == 0 || number > relay->limit_count || key_size > TAKT_RELAY_KEY_MAX)
        return NULL;
    limit = &relay->limits[number - 1]->limit;
    size = strlen(limit->name) + 1;
    memcpy(name, limit->name, size);
    memcpy(name + size, key, key_size);
    size += key_size;
    name[size] = '\0';
    if (!takt_relay_read_name(&parts, name, size) || !find_limits(relay, limit, &parts, &chain))
        return NULL;
    entry = takt_table_find(&relay->desks, name, size);
    desk = entry != NULL ? TAKT_HOLDER(entry, takt_desk, entry) : new_desk(relay, name, size);
    if (desk == NULL)
        return NULL;
    takt_counter_say(desk->counter, chain.limits);
    desk->numbers = limit->numbers;
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
