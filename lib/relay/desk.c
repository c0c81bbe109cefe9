/*
 * desk.c: the desks of a program: each has what the program stated about one ledger.
 */
#include <stdlib.h>
#include <string.h>

#include "relay/relay.h"

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

/* Whether a limit of the chain is among its outer ones. */
static bool is_circle(const takt_chain *chain)
{
    for (int i = 0; i < chain->count; i++)
        for (int outer = i + 1; outer < chain->count; outer++)
            if (strcmp(chain->limits[i]->name, chain->limits[outer]->name) == 0)
                return true;
    return false;
}

/* The limits that a program names by their ids, the outermost first.  Returns how many; 0: the word
 * is malformed, or one is unknown. */
static int read_ids(const takt_relay *relay, const char *ids, size_t size,
                    const takt_limit *limits[TAKT_LEVELS_MAX])
{
    takt_reader reader = {ids, ids + size, false};

    for (int count = 0; count < TAKT_LEVELS_MAX;) {
        int64_t id = takt_read_int(&reader, 1, INT64_MAX);
        if (reader.bad || id > relay->limit_count)
            return 0;
        limits[count++] = &relay->limits[id - 1]->limit;
        if (reader.at == reader.end)
            return count;
        takt_read_char(&reader, '/');
    }
    return 0;
}

/* Brings the limits of a name into the order of a chain.  False: they have other names. */
static bool chain_up(const takt_limit *const *limits, int count, const takt_relay_parts *parts,
                     takt_chain *chain)
{
    *chain = (takt_chain){.count = count, .numbered = true};
    if (count != parts->inner_count + 1)
        return false;
    for (int i = 0; i < parts->inner_count; i++) {
        chain->limits[i] = limits[i + 1];
        if (strcmp(limits[i + 1]->name, parts->inner[i].limit) != 0)
            return false;
    }
    chain->limits[parts->inner_count] = limits[0];
    return true;
}

/* Whether one claim can decide about its limits. */
static bool is_valid(const takt_chain *chain)
{
    return chain->count == 1 || (takt_chain_is_nested(chain) && !is_circle(chain));
}

takt_desk *takt_desk_at(takt_relay *relay, const char *ids, size_t ids_size, const char *key,
                        size_t key_size, bool idle)
{
    char name[TAKT_RELAY_NAME_MAX + 1] = "";
    const takt_limit *limits[TAKT_LEVELS_MAX];
    int count = read_ids(relay, ids, ids_size, limits);
    takt_relay_parts parts;
    takt_chain chain;
    takt_entry *entry;
    takt_desk *desk;
    size_t size;

    if (count == 0 || key_size > TAKT_RELAY_KEY_MAX)
        return NULL;
    size = strlen(limits[0]->name) + 1;
    memcpy(name, limits[0]->name, size);
    memcpy(name + size, key, key_size);
    size += key_size;
    name[size] = '\0';
    if (!takt_relay_read_name(&parts, name, size) || !chain_up(limits, count, &parts, &chain))
        return NULL;
    entry = takt_table_find(&relay->desks, name, size);
    if (entry != NULL && idle)
        return TAKT_HOLDER(entry, takt_desk, entry);
    if (!is_valid(&chain))
        return NULL;
    desk = entry != NULL ? TAKT_HOLDER(entry, takt_desk, entry) : new_desk(relay, name, size);
    if (desk == NULL)
        return NULL;
    takt_counter_say(desk->counter, chain.limits);
    for (int i = 0; i < count; i++)
        desk->numbers[i] = limits[i]->numbers;
    return desk;
}

int takt_desk_state(takt_desk *desk, const takt_relay_class *wants, int count, int64_t holding)
{
    int64_t unseen = 0;

    takt_wants_count(desk, -1);
    takt_wants_take(desk, wants, count);
    for (int i = 0; i < desk->unseen_count; i++)
        unseen += desk->unseen[i].holds;
    for (int i = 0; i < count; i++)
        if (takt_tickets_class(desk->counter, wants[i].kind) == NULL) {
            desk->want_count = i;
            takt_wants_count(desk, 1);
            takt_wants_note(desk);
            return TAKT_E_NOMEM;
        }
    takt_wants_count(desk, 1);
    takt_wants_note(desk);
    takt_wants_free(desk, holding + unseen);
    if (takt_deal_fit(desk->counter) == 0)
        return 0;
    takt_wants_count(desk, -1);
    desk->want_count = 0;
    takt_wants_note(desk);
    (void)takt_deal_fit(desk->counter);
    return TAKT_E_NOMEM;
}

void takt_desk_leave(takt_desk *desk)
{
    takt_counter *counter = desk->counter;

    takt_wants_count(desk, -1);
    desk->want_count = 0;
    takt_wants_note(desk);
    takt_wants_free(desk, 0);
    takt_list_remove(&desk->at_counter);
    takt_list_remove(&desk->report);
    takt_table_remove(&desk->relay->desks, &desk->entry);
    free(desk->unseen);
    free(desk);
    (void)takt_deal_fit(counter);
    takt_counter_tidy(counter);
}

static bool is_idle(const takt_desk *desk)
{
    return !takt_wants_any(desk) && desk->held_count == 0 && desk->unseen_count == 0 &&
           desk->seq == 0 && desk->calls == 0 && takt_list_empty(&desk->report);
}

void takt_desk_tidy(takt_desk *desk)
{
    if (is_idle(desk))
        takt_desk_leave(desk);
}
