/*
 * subscribe.c: see subscribe.h.
 *
 * Decides which ledgers to listen to: those used in the last minute; if there are too many, the
 * first ones. On a new connection one subscription is tried first, to see which kind the server has
 * and our user may use; then the others follow.
 */
#include "store/redis/subscribe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/table.h"
#include "redis/connection.h"
#include "store/redis/key.h"

#define IDLE_MS 60000 /* a ledger not used for so long is unsubscribed */
#define BATCH   64    /* channels in one command */

/* The kind of subscription that works. */
enum kind { SHARDED, PLAIN, NONE };

static const struct {
    const char *subscribe, *unsubscribe, *subscribed, *message;
} words[] = {
    {"SSUBSCRIBE", "SUNSUBSCRIBE", "ssubscribe", "smessage"},
    {"SUBSCRIBE", "UNSUBSCRIBE", "subscribe", "message"},
};

struct takt_hints {
    takt_redis_connection *connection;
    uv_loop_t *loop;
    takt_hints_options options;
    takt_table table; /* channels by name */
    takt_link recent; /* the same channels, the longest idle first */
    enum kind kind;
    bool trying; /* the kind is unknown until the first subscription is answered */
    bool closing;
};

/* The channel of a ledger, or that of this worker on a ledger. */
struct channel {
    takt_entry entry;
    takt_link link; /* in recent */
    uint64_t asked_ms;
    bool own;
    const char *limit, *key; /* in `name`, after the channel's own name */
    char name[];
};

static void send_command(takt_hints *hints, const char *word, int count, const char *const *names,
                         const size_t *sizes)
{
    const char *arguments[1 + BATCH] = {word};
    size_t lengths[1 + BATCH] = {strlen(word)};

    memcpy(arguments + 1, names, (size_t)count * sizeof *names);
    memcpy(lengths + 1, sizes, (size_t)count * sizeof *sizes);
    /* without memory there are no hints */
    (void)takt_redis_connection_send(hints->connection, NULL, 1 + count, arguments, lengths);
}

static bool listening(const takt_hints *hints)
{
    return takt_redis_connection_ready(hints->connection) && !hints->trying && hints->kind != NONE;
}

/* ---- which ledgers --------------------------------------------------------------------------- */

static void send_one(takt_hints *hints, const struct channel *channel, bool subscribe)
{
    const char *name = channel->entry.key;

    if (listening(hints))
        send_command(hints,
                     subscribe ? words[hints->kind].subscribe : words[hints->kind].unsubscribe, 1,
                     &name, &channel->entry.size);
}

static void forget(takt_hints *hints, struct channel *channel)
{
    takt_table_remove(&hints->table, &channel->entry);
    takt_list_remove(&channel->link);
    free(channel);
}

/* Drops the longest idle channel if it is idle for too long. */
static void drop_idle(takt_hints *hints, uint64_t now_ms)
{
    struct channel *oldest = TAKT_HOLDER(hints->recent.next, struct channel, link);

    if (takt_list_empty(&hints->recent) || now_ms - oldest->asked_ms < IDLE_MS)
        return;
    send_one(hints, oldest, false);
    forget(hints, oldest);
}

static struct channel *add(takt_hints *hints, const char *name, size_t size, const char *limit,
                           const char *key, bool own)
{
    size_t limit_size = strlen(limit) + 1, key_size = strlen(key) + 1;
    struct channel *added = malloc(sizeof *added + size + limit_size + key_size);

    if (added == NULL)
        return NULL;
    memcpy(added->name, name, size);
    added->limit = memcpy(added->name + size, limit, limit_size);
    added->key = memcpy(added->name + size + limit_size, key, key_size);
    added->own = own;
    added->entry.key = added->name;
    added->entry.size = size;
    takt_table_add(&hints->table, &added->entry);
    takt_list_append(&hints->recent, &added->link);
    send_one(hints, added, true);
    return added;
}

/* Listens to the channel with the ledger's name and `rest`. */
static void want(takt_hints *hints, const char *limit, const char *key, const char *rest)
{
    char name[TAKT_REDIS_KEY_SIZE];
    size_t size = takt_redis_key(name, hints->options.name_space, limit, key, rest);
    uint64_t now_ms = uv_now(hints->loop);
    takt_entry *entry;
    struct channel *wanted;

    if (size == 0)
        return;
    drop_idle(hints, now_ms);
    entry = takt_table_find(&hints->table, name, size);
    if (entry != NULL)
        wanted = TAKT_HOLDER(entry, struct channel, entry);
    else if (hints->table.count < TAKT_HINTS_MAX)
        wanted = add(hints, name, size, limit, key, rest[0] != '\0');
    else
        return;
    if (wanted == NULL)
        return;
    wanted->asked_ms = now_ms;
    takt_list_remove(&wanted->link);
    takt_list_append(&hints->recent, &wanted->link);
}

void takt_hints_want(takt_hints *hints, const char *limit, const char *key, uint64_t worker)
{
    char rest[18];

    if (hints->closing)
        return;
    want(hints, limit, key, "");
    snprintf(rest, sizeof rest, ":%" PRIx64, worker);
    if (worker != 0)
        want(hints, limit, key, rest);
}

/* ---- the connection -------------------------------------------------------------------------- */

/* Subscribes to the channel of a ledger that cannot exist: no limit's name is empty. */
static void try_kind(takt_hints *hints, enum kind kind)
{
    char channel_name[TAKT_REDIS_KEY_SIZE];
    const char *name = channel_name;
    size_t size = takt_redis_key(channel_name, hints->options.name_space, "", "", "");

    hints->kind = kind;
    hints->trying = true;
    send_command(hints, words[kind].subscribe, 1, &name, &size);
}

static void subscribe_all(takt_hints *hints)
{
    const char *names[BATCH];
    size_t sizes[BATCH];
    int count = 0;

    for (takt_link *at = hints->recent.next; at != &hints->recent; at = at->next) {
        struct channel *channel = TAKT_HOLDER(at, struct channel, link);
        names[count] = channel->entry.key;
        sizes[count++] = channel->entry.size;
        if (count == BATCH || at->next == &hints->recent) {
            send_command(hints, words[hints->kind].subscribe, count, names, sizes);
            count = 0;
        }
    }
}

static void on_ready(void *data)
{
    try_kind(data, SHARDED);
}

static void on_lost(void *data, int code, const char *text)
{
    /* the store's own connection reports it, and the next attempt is under way */
    (void)data;
    (void)code;
    (void)text;
}

/* The answer to the first subscription. */
static void on_tried(takt_hints *hints, bool granted)
{
    hints->trying = false;
    if (granted)
        subscribe_all(hints);
    else if (hints->kind == SHARDED)
        try_kind(hints, PLAIN);
    else
        hints->kind = NONE;
}

static bool is_word(const takt_reply *reply, const char *word)
{
    return reply->type == TAKT_REPLY_STRING && reply->size == strlen(word) &&
           memcmp(reply->text, word, reply->size) == 0;
}

/* Reads ["message", CHANNEL, TEXT], or the answer to a subscription: ["subscribe", CHANNEL, COUNT].
 * Wake-ups sent before the subscription were missed, so the subscription counts as one. */
static void on_pushed(void *data, const takt_reply *reply)
{
    takt_hints *hints = data;
    takt_entry *entry;
    struct channel *channel;
    bool sent, is_said;

    if (hints->trying) {
        on_tried(hints, reply->type == TAKT_REPLY_ARRAY);
        return;
    }
    if (hints->kind == NONE || reply->type != TAKT_REPLY_ARRAY || reply->count != 3 ||
        reply[2].type != TAKT_REPLY_STRING)
        return;
    sent = is_word(&reply[1], words[hints->kind].message);
    if (!sent && !is_word(&reply[1], words[hints->kind].subscribed))
        return;
    is_said = sent && reply[3].type == TAKT_REPLY_STRING;
    entry = takt_table_find(&hints->table, reply[2].text, reply[2].size);
    channel = entry ? TAKT_HOLDER(entry, struct channel, entry) : NULL;
    if (channel && (sent || channel->own))
        hints->options.on_hint(hints->options.data, channel->limit, channel->key, channel->own,
                               is_said ? reply[3].text : "", is_said ? reply[3].size : 0);
}

static void on_closed(void *data)
{
    takt_hints *hints = data;
    takt_hints_options options = hints->options;

    while (!takt_list_empty(&hints->recent))
        forget(hints, TAKT_HOLDER(hints->recent.next, struct channel, link));
    takt_table_close(&hints->table);
    free(hints);
    options.closed(options.data);
}

static const takt_redis_connection_events connection_events = {on_ready, on_lost, on_pushed,
                                                               on_closed};

takt_hints *takt_hints_open(uv_loop_t *loop, takt_redis_connection *beside,
                            const takt_hints_options *options)
{
    takt_hints *hints = calloc(1, sizeof *hints);

    if (hints == NULL)
        return NULL;
    hints->loop = loop;
    hints->options = *options;
    takt_list_init(&hints->recent);
    if (takt_table_init(&hints->table, uv_hrtime() ^ (uint64_t)(uintptr_t)hints) < 0)
        goto free_hints;
    hints->connection = takt_redis_connection_open_beside(beside, NULL, &connection_events, hints);
    if (hints->connection == NULL)
        goto close_table;
    return hints;

close_table:
    takt_table_close(&hints->table);
free_hints:
    free(hints);
    return NULL;
}

void takt_hints_hold(takt_hints *hints, bool held)
{
    takt_redis_connection_hold(hints->connection, held);
}

void takt_hints_close(takt_hints *hints)
{
    hints->closing = true;
    takt_redis_connection_close(hints->connection);
}
