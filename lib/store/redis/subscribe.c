/*
 * subscribe.c: see subscribe.h.
 *
 * Decides which ledgers to listen to: those used in the last minute; if there are too many, the
 * first ones. On a new connection one subscription is tried first, to see which kind the server has
 * and our user may use; then the others follow, each in a command of its own: a cluster refuses
 * commands about several slots.
 *
 * A slot that leaves a node takes its subscriptions with it. The node says so (sunsubscribe), and
 * answers later subscriptions with MOVED. Such channels are deaf until they are reviewed.
 */
#include "store/redis/subscribe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/table.h"
#include "redis/connection.h"
#include "redis/slot_map.h"
#include "store/redis/key.h"

#define IDLE_MS 60000 /* a ledger not used for so long is unsubscribed */

/* The kind of subscription that works. */
enum kind { SHARDED, PLAIN, NONE };

static const struct {
    const char *subscribe, *unsubscribe, *subscribed, *unsubscribed, *message;
} words[] = {
    {"SSUBSCRIBE", "SUNSUBSCRIBE", "ssubscribe", "sunsubscribe", "smessage"},
    {"SUBSCRIBE", "UNSUBSCRIBE", "subscribe", "unsubscribe", "message"},
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
    bool deaf;               /* not subscribed to: its slot has moved */
    const char *limit, *key; /* in `name`, after the channel's own name */
    char name[];
};

static void send_command(takt_hints *hints, const char *word, const char *name, size_t size)
{
    const char *arguments[] = {word, name};
    size_t sizes[] = {strlen(word), size};

    /* without memory there are no hints */
    (void)takt_redis_connection_send(hints->connection, NULL, 2, arguments, sizes);
}

static bool listening(const takt_hints *hints)
{
    return takt_redis_connection_ready(hints->connection) && !hints->trying && hints->kind != NONE;
}

/* ---- which ledgers --------------------------------------------------------------------------- */

static void send_one(takt_hints *hints, const struct channel *channel, bool subscribe)
{
    if (listening(hints))
        send_command(hints,
                     subscribe ? words[hints->kind].subscribe : words[hints->kind].unsubscribe,
                     channel->entry.key, channel->entry.size);
}

static void forget(takt_hints *hints, struct channel *channel)
{
    takt_table_remove(&hints->table, &channel->entry);
    takt_list_remove(&channel->link);
    free(channel);
}

static void drop(takt_hints *hints, struct channel *channel)
{
    send_one(hints, channel, false);
    forget(hints, channel);
}

/* Drops the longest idle channel if it is idle for too long. */
static bool drop_idle(takt_hints *hints, uint64_t now_ms)
{
    struct channel *oldest = TAKT_HOLDER(hints->recent.next, struct channel, link);

    if (takt_list_empty(&hints->recent) || now_ms - oldest->asked_ms < IDLE_MS)
        return false;
    drop(hints, oldest);
    return true;
}

size_t takt_hints_drop_idle(takt_hints *hints)
{
    while (drop_idle(hints, uv_now(hints->loop)))
        ;
    return hints->table.count;
}

void takt_hints_review(takt_hints *hints,
                       bool (*stays)(void *data, const char *limit, const char *key, bool own))
{
    for (takt_link *at = hints->recent.next, *next; at != &hints->recent; at = next) {
        struct channel *channel = TAKT_HOLDER(at, struct channel, link);
        next = at->next;
        if (!stays(hints->options.data, channel->limit, channel->key, channel->own)) {
            drop(hints, channel);
        } else if (channel->deaf) {
            channel->deaf = false;
            send_one(hints, channel, true);
        }
    }
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
    added->deaf = false;
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
    (void)drop_idle(hints, now_ms);
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
    char name[TAKT_REDIS_KEY_SIZE];
    size_t size = takt_redis_key(name, hints->options.name_space, "", "", "");

    hints->kind = kind;
    hints->trying = true;
    send_command(hints, words[kind].subscribe, name, size);
}

static void subscribe_all(takt_hints *hints)
{
    for (takt_link *at = hints->recent.next; at != &hints->recent; at = at->next) {
        struct channel *channel = TAKT_HOLDER(at, struct channel, link);
        channel->deaf = false;
        send_one(hints, channel, true);
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

enum { NO_SLOT = -1, ALL_SLOTS = -2 };

/* The slot in an error of a subscription; NO_SLOT: the error names none. */
static int deaf_slot(const takt_reply *reply)
{
    static const takt_redis_address nobody = {"-", 1};
    static const char down[] = "CLUSTERDOWN";
    takt_redis_redirection redirection;

    if (reply->type != TAKT_REPLY_ERROR)
        return NO_SLOT;
    if (takt_redis_redirection_read(&redirection, reply->text, reply->size, &nobody))
        return redirection.slot;
    return strncmp(reply->text, down, strlen(down)) == 0 ? ALL_SLOTS : NO_SLOT;
}

static void tell_moved(takt_hints *hints)
{
    if (hints->options.on_moved)
        hints->options.on_moved(hints->options.data);
}

/* The channels of a slot are not heard here. */
static void go_deaf(takt_hints *hints, int slot)
{
    for (takt_link *at = hints->recent.next; at != &hints->recent; at = at->next) {
        struct channel *channel = TAKT_HOLDER(at, struct channel, link);
        channel->deaf |=
            slot == ALL_SLOTS || takt_redis_slot(channel->entry.key, channel->entry.size) == slot;
    }
    tell_moved(hints);
}

static struct channel *find(takt_hints *hints, const takt_reply *name)
{
    takt_entry *entry = takt_table_find(&hints->table, name->text, name->size);

    return entry ? TAKT_HOLDER(entry, struct channel, entry) : NULL;
}

/* The server has ended a subscription: we have forgotten those that we end. */
static void on_unsubscribed(takt_hints *hints, struct channel *channel)
{
    if (channel == NULL)
        return;
    channel->deaf = true;
    tell_moved(hints);
}

/* Reads ["message", CHANNEL, TEXT], or the answer to a subscription: ["subscribe", CHANNEL, COUNT].
 * Wake-ups sent before the subscription were missed, so the subscription counts as one. */
static void on_pushed(void *data, const takt_reply *reply)
{
    takt_hints *hints = data;
    struct channel *channel;
    bool sent, is_said;

    if (hints->trying) { /* the channel that is tried may belong to another node */
        on_tried(hints, reply->type == TAKT_REPLY_ARRAY || deaf_slot(reply) != NO_SLOT);
        return;
    }
    if (deaf_slot(reply) != NO_SLOT) {
        go_deaf(hints, deaf_slot(reply));
        return;
    }
    if (hints->kind == NONE || reply->type != TAKT_REPLY_ARRAY || reply->count != 3 ||
        reply[2].type != TAKT_REPLY_STRING)
        return;
    channel = find(hints, &reply[2]);
    if (is_word(&reply[1], words[hints->kind].unsubscribed)) {
        on_unsubscribed(hints, channel);
        return;
    }
    sent = is_word(&reply[1], words[hints->kind].message);
    if (!sent && !is_word(&reply[1], words[hints->kind].subscribed))
        return;
    is_said = sent && reply[3].type == TAKT_REPLY_STRING;
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
