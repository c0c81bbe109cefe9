/*
 * relay.c: see relay.h.  Opens and closes the relays of an agent, and reads what programs send.
 */
#include "relay/relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/integers.h"
#include "core/ledger.h"

#define LIMITS_MAX 100000 /* that one program may define */

/* ---- opening and closing ------------------------------------------------------------- */

int takt_relays_open(takt_relays **relays, takt_client *client, const char *name_space)
{
    takt_relays *opened = calloc(1, sizeof *opened);

    if (opened == NULL || takt_table_init(&opened->counters, uv_hrtime()) < 0) {
        free(opened);
        return TAKT_E_NOMEM;
    }
    opened->client = client;
    snprintf(opened->name_space, sizeof opened->name_space, "%s", name_space);
    takt_list_init(&opened->relays);
    takt_report_begin(opened);
    takt_relay_call_probe(client);
    *relays = opened;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    takt_relays *relays = handle->data;

    if (--relays->handles > 0)
        return;
    free(relays);
}

void takt_relays_close(takt_relays *relays)
{
    if (relays == NULL)
        return;
    while (!takt_list_empty(&relays->relays))
        takt_relay_close(TAKT_HOLDER(relays->relays.next, takt_relay, link));
    takt_table_close(&relays->counters);
    relays->handles = 2;
    uv_close((uv_handle_t *)&relays->turn, on_closed);
    uv_close((uv_handle_t *)&relays->look, on_closed);
}

int takt_relays_event(takt_relays *relays, const takt_event *event)
{
    return relays != NULL && event->type == TAKT_EVENT_PERMIT_LOST && takt_deal_lost(event->permit);
}

size_t takt_relays_held(const takt_relays *relays)
{
    return relays != NULL ? relays->held : 0;
}

size_t takt_relays_waiting(const takt_relays *relays, takt_relays_visit visit, void *data)
{
    int64_t all = 0;

    for (size_t i = 0; relays != NULL && i < relays->counters.used; i++)
        for (takt_entry *entry = relays->counters.buckets[i]; entry != NULL; entry = entry->next) {
            const takt_counter *counter = TAKT_HOLDER(entry, takt_counter, entry);
            int64_t waiting = 0;
            for (int class = 0; class < counter->class_count; class ++)
                waiting += counter->classes[class].wanted;
            for (int level = 0; waiting > 0 && visit != NULL && level < counter->said.count;
                 level++)
                visit(data, counter->said.limits[level]->name, counter->said.keys[level]);
            all += waiting;
        }
    return (size_t)all;
}

void takt_relays_drain(takt_relays *relays)
{
    relays->draining = true;
    for (size_t i = 0; i < relays->counters.used; i++)
        for (takt_entry *entry = relays->counters.buckets[i]; entry != NULL; entry = entry->next)
            takt_deal_drain(TAKT_HOLDER(entry, takt_counter, entry));
}

int takt_relay_open(takt_relay **relay, takt_relays *relays, takt_relay_send send, void *data)
{
    takt_relay *opened = calloc(1, sizeof *opened);

    if (opened == NULL || takt_table_init(&opened->desks, uv_hrtime()) < 0) {
        free(opened);
        return TAKT_E_NOMEM;
    }
    opened->relays = relays;
    opened->send = send;
    opened->data = data;
    takt_list_init(&opened->calls);
    takt_list_append(&relays->relays, &opened->link);
    *relay = opened;
    return 0;
}

void takt_relay_close(takt_relay *relay)
{
    takt_entry *entry;

    if (relay == NULL)
        return;
    takt_relay_call_leave(relay);
    while ((entry = takt_table_any(&relay->desks)) != NULL)
        takt_desk_leave(TAKT_HOLDER(entry, takt_desk, entry));
    takt_table_close(&relay->desks);
    takt_list_remove(&relay->link);
    free(relay->limits);
    free(relay);
}

int takt_relay_is_busy(const takt_relay *relay)
{
    return relay != NULL && relay->call_count >= TAKT_RELAY_CALLS_MAX;
}

/* The number that a word is; 0: it is none. */
static int64_t number_of(const char *word, size_t size)
{
    takt_reader reader = {word, word + size, false};
    int64_t number = takt_read_int(&reader, 1, INT64_MAX);

    return takt_read_done(&reader) ? number : 0;
}

/* ---- limits -------------------------------------------------------------------------- */

/* The limit of that name and these numbers: that of another program, or a new one. NULL: the
 * numbers are malformed, or there is no memory. */
static takt_brought_limit *limit_of(takt_client *client, const char *name, const char *written,
                                    size_t size)
{
    takt_brought_limit *limit;
    takt_numbers numbers;

    for (limit = client->brought; limit != NULL; limit = limit->next)
        if (strcmp(limit->limit.name, name) == 0 && limit->size == size &&
            memcmp(limit->written, written, size) == 0)
            return limit;
    if (!takt_relay_read_numbers(&numbers, written, size))
        return NULL;
    limit = calloc(1, sizeof *limit + size);
    if (limit == NULL)
        return NULL;
    memcpy(limit->limit.name, name, strlen(name) + 1);
    memcpy(limit->written, written, size);
    limit->size = size;
    limit->limit.numbers = numbers;
    limit->limit.priority = TAKT_PRIORITY_DEFAULT;
    limit->limit.on_store_failure = TAKT_ON_STORE_FAILURE_CLOSED; /* the programs decide */
    limit->limit.mode = TAKT_MODE_ENFORCE;
    limit->next = client->brought;
    client->brought = limit;
    return limit;
}

/* The ids of a connection follow each other. */
static bool define(takt_relay *relay, const char *const *words, const size_t *sizes)
{
    char name[TAKT_NAME_SIZE_MAX + 1] = "";
    takt_brought_limit *limit;

    if (sizes[3] == 0 || sizes[3] > TAKT_NAME_SIZE_MAX || memchr(words[3], '\0', sizes[3]) ||
        relay->limit_count == LIMITS_MAX || number_of(words[2], sizes[2]) != relay->limit_count + 1)
        return false;
    memcpy(name, words[3], sizes[3]);
    limit = limit_of(relay->relays->client, name, words[4], sizes[4]);
    if (limit == NULL)
        return false;
    if (relay->limit_count == relay->limit_room) {
        int64_t room = relay->limit_room > 0 ? 2 * relay->limit_room : 8;
        takt_brought_limit **grown = realloc(relay->limits, (size_t)room * sizeof *grown);
        if (grown == NULL)
            return false;
        relay->limits = grown;
        relay->limit_room = room;
    }
    relay->limits[relay->limit_count++] = limit;
    return true;
}

/* ---- statements ---------------------------------------------------------------------- */

static int read_wants(takt_reader *reader, takt_relay_class *wants)
{
    int count = 0;

    while (!reader->bad && reader->at < reader->end && count < TAKT_RELAY_CLASSES_MAX) {
        wants[count].count = takt_relay_read(reader, 1, INT32_MAX);
        wants[count].kind = takt_relay_read_kind(reader);
        count++;
    }
    return count;
}

static void drop_seen(takt_desk *desk, int64_t seen)
{
    int kept = 0;

    for (int i = 0; i < desk->unseen_count; i++)
        if (desk->unseen[i].index > seen)
            desk->unseen[kept++] = desk->unseen[i];
    desk->unseen_count = kept;
}

static bool state(takt_relay *relay, const char *const *words, const size_t *sizes)
{
    takt_relay_class wants[TAKT_RELAY_CLASSES_MAX];
    takt_reader reader = {words[4], words[4] + sizes[4], false};
    int64_t seq = takt_relay_read(&reader, 0, INT64_MAX);
    int64_t seen = takt_relay_read(&reader, 0, INT64_MAX);
    int64_t holding = takt_relay_read(&reader, 0, TAKT_EXACT_MAX);
    int64_t weight = takt_relay_read(&reader, 0, TAKT_TENANT_WEIGHT_MAX);
    takt_inside inside = (takt_inside)takt_relay_read(&reader, 0, TAKT_INSIDE_WITHIN);
    int count = read_wants(&reader, wants);
    takt_desk *desk;

    if (!takt_read_done(&reader))
        return false;
    desk = takt_desk_at(relay, words[2], sizes[2], words[3], sizes[3], count == 0 && holding == 0);
    if (desk == NULL)
        return false;
    drop_seen(desk, seen);
    if (count > 0) {
        desk->counter->weight = (int32_t)weight;
        desk->counter->said.inside = inside;
    }
    desk->stated = ++relay->relays->stated;
    desk->seq = seq;
    if (count > 0 && relay->relays->draining) {
        desk->failed = TAKT_E_STORE;
        count = 0;
    }
    if (takt_desk_state(desk, wants, count, holding) < 0)
        desk->failed = TAKT_E_NOMEM;
    if (desk->failed != 0) {
        takt_report_ask(desk);
    } else if (seq > 0) {
        takt_report_ask_later(desk);
    } else {
        takt_desk_tidy(desk);
    }
    return true;
}

/* ---- commands ------------------------------------------------------------------------ */

static int open_relay(takt_relay *relay, const char *const *words, const size_t *sizes,
                      takt_error *error)
{
    const takt_clock *clock = &relay->relays->client->scheduler.servers.first.clock;
    const char *name_space = relay->relays->name_space;
    int64_t now_us = takt_timer_now();
    char text[64];
    takt_writer writer = {text, text + sizeof text, false};
    const char *answer[] = {"open", text};
    size_t answer_sizes[] = {4, 0};

    if (number_of(words[2], sizes[2]) != TAKT_RELAY_VERSION)
        return takt_fail(error, TAKT_E_INVALID,
                         "the versions of this agent and the program are incompatible: update the "
                         "older one");
    if (sizes[3] != strlen(name_space) || memcmp(words[3], name_space, sizes[3]) != 0)
        return takt_fail(error, TAKT_E_INVALID,
                         "this agent serves the namespace \"%s\", but the program's is \"%.*s\": "
                         "name the same one in both policies, or use an agent of that namespace",
                         name_space, (int)takt_min((int64_t)sizes[3], TAKT_NAME_SIZE_MAX),
                         words[3]);
    relay->opened = true;
    takt_relay_write(&writer, now_us);
    takt_relay_write(&writer, clock->known ? takt_clock_store(clock, now_us) : 0);
    answer_sizes[1] = (size_t)(writer.at - text);
    takt_report_send(relay, 2, answer, answer_sizes);
    return 0;
}

static bool is_named(const char *word, size_t size, const char *name)
{
    return size == strlen(name) && memcmp(word, name, size) == 0;
}

int takt_relay_command(takt_relay *relay, int count, const char *const *words, const size_t *sizes,
                       takt_error *error)
{
    bool understood = false;

    if (count == 4 && is_named(words[1], sizes[1], "OPEN"))
        return open_relay(relay, words, sizes, error);
    if (!relay->opened)
        return takt_fail(error, TAKT_E_INVALID,
                         "RELAY is for programs whose store is \"agent:\", and begins with OPEN");
    if (count == 5 && is_named(words[1], sizes[1], "WANT"))
        understood = state(relay, words, sizes);
    else if (count == 5 && is_named(words[1], sizes[1], "LIMIT"))
        understood = define(relay, words, sizes);
    else if (count >= 4)
        understood = takt_relay_call(relay, count, words, sizes);
    return understood ? 0
                      : takt_fail(error, TAKT_E_INVALID,
                                  "RELAY: a malformed message; is the "
                                  "program of another version?");
}
