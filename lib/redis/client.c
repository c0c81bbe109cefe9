/*
 * client.c: see client.h. Decides how long to wait for an answer, and in a cluster which node to
 * connect to; connection.c does the rest.
 */
#include "redis/client.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/fail.h"
#include "redis/connection.h"
#include "redis/reply_error.h"
#include "redis/slot_map.h"

#define TIMEOUT_US      INT64_C(1000000) /* the default */
#define BYTES_MAX       (64 * 1024 * 1024)
#define VALUES_MAX      65536
#define ARGUMENTS_LOCAL 32 /* argument counts up to this keep their sizes on the stack */
#define HANDLES         3

struct takt_redis {
    takt_redis_url url;
    takt_tls_trust *trust; /* NULL without TLS */
    takt_redis_connection *connection;
    uv_timer_t timer;    /* runs when the oldest command may be overdue */
    uv_async_t anchor;   /* keeps the loop alive */
    uint64_t timeout_ns; /* 0: no time-out */
    takt_redis_options options;
    char *key;                   /* NULL: there is none */
    int slot;                    /* of the key; -1: there is none */
    takt_redis_command question; /* CLUSTER SLOTS, or whether a node still has the key */
    bool asking;                 /* ... is under way: not ready yet */
    bool moving;                 /* the connection is closed in favour of one to another node */
    bool asks;                   /* it is to a node that the slot is moving to: ASKING */
    bool in_transaction;         /* MULTI was sent, EXEC was not */
    takt_redis_slot_map map;     /* as last reported */
    unsigned turns;              /* attempts to connect that have failed in a row */
    bool closing;
    int left; /* handles to close: the timer, the anchor, the connection */
};

/* ---- time ------------------------------------------------------------------------------------ */

static void on_timer(uv_timer_t *timer);

static void set_timer(takt_redis *redis, uint64_t due_ns)
{
    uint64_t now_ns = uv_hrtime();

    uv_update_time(redis->timer.loop);
    uv_timer_start(&redis->timer, on_timer, due_ns > now_ns ? (due_ns - now_ns) / 1000000 + 1 : 0,
                   0);
}

/* A command was sent: its time-out begins. */
static void note_sent(takt_redis *redis, takt_redis_command *command)
{
    command->sent_ns = uv_hrtime();
    if (redis->timeout_ns != 0 && !uv_is_active((uv_handle_t *)&redis->timer))
        set_timer(redis, command->sent_ns + redis->timeout_ns);
}

/* No longer greeting, which the connection times itself. */
static bool is_greeted(const takt_redis *redis)
{
    return !redis->closing && takt_redis_connection_ready(redis->connection);
}

static bool is_overdue(const takt_redis *redis)
{
    const takt_redis_command *oldest = takt_redis_connection_oldest(redis->connection);

    return oldest != NULL && is_greeted(redis) &&
           uv_hrtime() - oldest->sent_ns >= redis->timeout_ns;
}

/* Answers come in order: if the oldest command is in time, all are. */
static void on_timer(uv_timer_t *timer)
{
    takt_redis *redis = timer->data;
    const takt_redis_command *oldest;

    /* if this program was busy, the answer may have arrived already */
    if (is_overdue(redis))
        takt_redis_connection_drain(redis->connection);
    if (is_overdue(redis))
        takt_redis_connection_leave(redis->connection, true, TAKT_E_STORE_TIMEOUT,
                                    "it does not answer in time");
    oldest = takt_redis_connection_oldest(redis->connection);
    if (oldest != NULL && is_greeted(redis))
        set_timer(redis, oldest->sent_ns + redis->timeout_ns);
}

/* ---- the connection -------------------------------------------------------------------------- */

static void tell_ready(takt_redis *redis)
{
    redis->asking = false;
    redis->turns = 0;
    if (redis->options.on_ready != NULL)
        redis->options.on_ready(redis->options.data);
}

static void set_address(takt_redis *redis, const takt_redis_address *address)
{
    if (redis->url.transport == TAKT_REDIS_UNIX)
        redis->url.transport = TAKT_REDIS_TCP;
    memcpy(redis->url.host, address->host, sizeof redis->url.host);
    redis->url.port = address->port;
}

static takt_redis_address here_of(const takt_redis *redis)
{
    takt_redis_address here = {.port = redis->url.port};

    memcpy(here.host, redis->url.host, sizeof here.host);
    return here;
}

static void move_to(takt_redis *redis, const takt_redis_address *node)
{
    redis->moving = true;
    takt_redis_connection_leave(redis->connection, false, TAKT_E_STORE,
                                "the key is on another node");
    set_address(redis, node);
}

/* The answer of the node that has the slot to a command about the key. A slot moves key by key, and
 * commands about a key that was moved already are for the other node. */
static void on_looked(takt_redis_command *command, const takt_reply *reply, int code)
{
    takt_redis *redis = command->data;
    takt_redis_address here = here_of(redis);
    takt_redis_redirection redirection;

    (void)code;
    if (reply == NULL || redis->closing)
        return;
    if (reply->type == TAKT_REPLY_ERROR &&
        takt_redis_redirection_read(&redirection, reply->text, reply->size, &here) &&
        redirection.ask) {
        move_to(redis, &redirection.node);
        redis->asks = true;
    } else {
        tell_ready(redis);
    }
}

/* False: not sent. */
static bool look_for_key(takt_redis *redis)
{
    const char *words[] = {"XRANGE", redis->key, "+", "-"}; /* an empty range */
    size_t sizes[] = {6, strlen(redis->key), 1, 1};

    redis->question.answered = on_looked;
    if (!takt_redis_connection_send(redis->connection, &redis->question, 4, words, sizes))
        return false;
    note_sent(redis, &redis->question);
    return true;
}

/* The answer to CLUSTER SLOTS. An error comes from a server that is no cluster. */
static void on_located(takt_redis_command *command, const takt_reply *reply, int code)
{
    takt_redis *redis = command->data;
    takt_redis_address here = here_of(redis);
    const takt_redis_address *node = NULL;

    (void)code;
    if (reply == NULL || redis->closing)
        return;
    if (takt_redis_slot_map_read(&redis->map, reply, &here) == 0)
        node = takt_redis_slot_map_find(&redis->map, redis->slot);
    if (node != NULL && !takt_redis_address_same(node, &here))
        move_to(redis, node);
    else if (node == NULL || !look_for_key(redis))
        tell_ready(redis);
}

static void on_ready(void *data)
{
    static const char *const words[] = {"CLUSTER", "SLOTS"};
    static const size_t sizes[] = {7, 5};
    takt_redis *redis = data;

    if (redis->slot < 0 || !redis->url.cluster || redis->url.primary[0] != '\0' || redis->asks) {
        tell_ready(redis);
        return;
    }
    redis->question.answered = on_located;
    redis->question.data = redis;
    redis->asking =
        takt_redis_connection_send(redis->connection, &redis->question, 2, words, sizes);
    if (redis->asking)
        note_sent(redis, &redis->question);
    else
        tell_ready(redis);
}

/* The next of the hosts of the URL and the nodes that were known. */
static void turn(takt_redis *redis)
{
    unsigned hosts = (unsigned)redis->url.seed_count;
    unsigned count = hosts + (unsigned)redis->map.shard_count;
    unsigned at;

    if (redis->slot < 0 || redis->url.primary[0] != '\0' || count < 2)
        return;
    at = redis->turns++ % count;
    set_address(redis, at < hosts ? &redis->url.seeds[at] : &redis->map.shards[at - hosts].primary);
}

static void on_lost(void *data, int code, const char *text)
{
    takt_redis *redis = data;
    bool moving = redis->moving;

    redis->moving = redis->asking = redis->asks = redis->in_transaction = false;
    if (moving)
        return;
    turn(redis);
    if (redis->options.on_lost != NULL)
        redis->options.on_lost(redis->options.data, code, text);
}

static void on_pushed(void *data, const takt_reply *reply)
{
    takt_redis *redis = data;

    redis->options.on_pushed(redis->options.data, reply);
}

static void free_redis(takt_redis *redis)
{
    takt_tls_trust_close(redis->trust);
    takt_redis_url_close(&redis->url);
    takt_redis_slot_map_close(&redis->map);
    free(redis->key);
    free(redis);
}

const takt_redis_url *takt_redis_server(const takt_redis *redis)
{
    return takt_redis_connection_server(redis->connection);
}

static void closed_one(takt_redis *redis)
{
    takt_redis_options options = redis->options;

    if (--redis->left > 0)
        return;
    free_redis(redis);
    if (options.on_closed != NULL)
        options.on_closed(options.data);
}

static void on_connection_closed(void *data)
{
    closed_one(data);
}

static void on_handle_closed(uv_handle_t *handle)
{
    closed_one(handle->data);
}

static const takt_redis_connection_events events = {on_ready, on_lost, NULL, on_connection_closed};
static const takt_redis_connection_events events_with_pushed = {on_ready, on_lost, on_pushed,
                                                                on_connection_closed};

/* ---- opening and closing --------------------------------------------------------------------- */

static takt_redis_connection *connect_with(takt_redis *redis, uv_loop_t *loop)
{
    const takt_redis_options *options = &redis->options;
    uint64_t greeting_us = (uint64_t)(options->timeout_us > 0 ? options->timeout_us : TIMEOUT_US);
    takt_resp_max max = {TAKT_RESP_DEPTH_ANY, VALUES_MAX, BYTES_MAX, TAKT_E_STORE_SPACE};

    if (options->reply_values_max > 0)
        max.nodes = options->reply_values_max;
    if (options->reply_bytes_max > 0)
        max.bytes =
            options->reply_bytes_max < INT64_MAX ? (int64_t)options->reply_bytes_max : INT64_MAX;
    return takt_redis_connection_open(loop, &redis->url, redis->trust, &max, greeting_us / 1000 + 1,
                                      options->on_pushed != NULL ? &events_with_pushed : &events,
                                      redis);
}

static int open_connection(takt_redis *redis, uv_loop_t *loop, takt_error *error)
{
    if (uv_async_init(loop, &redis->anchor, NULL) != 0)
        return takt_fail(error, TAKT_E_SYSTEM, "no descriptor for a connection: %s",
                         takt_strerror(TAKT_E_SYSTEM));
    redis->connection = connect_with(redis, loop);
    if (redis->connection == NULL) {
        redis->left = 1;
        redis->options.on_closed = NULL;
        uv_close((uv_handle_t *)&redis->anchor, on_handle_closed); /* frees the client */
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a connection");
    }
    uv_timer_init(loop, &redis->timer);
    return 0;
}

int takt_redis_open(takt_redis **redis, uv_loop_t *loop, const char *url,
                    const takt_redis_options *options, takt_error *error)
{
    takt_redis *opened = calloc(1, sizeof *opened);
    int64_t timeout_us = options->timeout_us != 0 ? options->timeout_us : TIMEOUT_US;
    int code;

    if (opened == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a connection");
    opened->options = *options;
    opened->timeout_ns = timeout_us > 0 ? (uint64_t)timeout_us * 1000 : 0;
    opened->timer.data = opened->anchor.data = opened;
    opened->slot = options->key ? takt_redis_slot(options->key, strlen(options->key)) : -1;
    opened->key = options->key ? strdup(options->key) : NULL;
    opened->options.key = NULL;
    code = takt_redis_url_read(&opened->url, url, error);
    if (code == 0 && options->key && opened->key == NULL)
        code = takt_fail(error, TAKT_E_NOMEM, "no memory for a connection");
    if (code == 0 && options->at)
        set_address(opened, options->at);
    opened->options.at = NULL;
    if (code == 0)
        code = takt_redis_url_find_password(&opened->url, error);
    if (code == 0 && opened->url.transport == TAKT_REDIS_TLS)
        code = takt_tls_trust_open(&opened->trust, &opened->url, error);
    if (code == 0)
        code = open_connection(opened, loop, error);
    if (code == 0)
        *redis = opened;
    else if (opened->left == 0)
        free_redis(opened);
    return code;
}

void takt_redis_close(takt_redis *redis)
{
    if (redis == NULL || redis->closing)
        return;
    redis->closing = true;
    redis->left = HANDLES;
    uv_close((uv_handle_t *)&redis->timer, on_handle_closed);
    uv_close((uv_handle_t *)&redis->anchor, on_handle_closed);
    takt_redis_connection_close(redis->connection);
}

/* ---- commands -------------------------------------------------------------------------------- */

int takt_redis_is_ready(const takt_redis *redis)
{
    return !redis->closing && !redis->asking && takt_redis_connection_ready(redis->connection);
}

static void on_asked(takt_redis_command *command, const takt_reply *reply, int code)
{
    (void)reply; /* the command behind it fails as well */
    (void)code;
    free(command);
}

/* Makes a node serve the next command, or the next transaction, although the slot is still on its
 * way there. */
static bool say_asking(takt_redis *redis)
{
    static const char *const word[] = {"ASKING"};
    static const size_t size[] = {6};
    takt_redis_command *asking = calloc(1, sizeof *asking);

    if (asking == NULL)
        return false;
    asking->answered = on_asked;
    if (!takt_redis_connection_send(redis->connection, asking, 1, word, size)) {
        free(asking);
        return false;
    }
    note_sent(redis, asking);
    return true;
}

static bool prepare(takt_redis *redis, const char *word, size_t size)
{
    if (!redis->asks)
        return true;
    if (!redis->in_transaction && !say_asking(redis))
        return false;
    if (size == 5 && memcmp(word, "MULTI", 5) == 0)
        redis->in_transaction = true;
    else if (size == 4 && memcmp(word, "EXEC", 4) == 0)
        redis->in_transaction = false;
    return true;
}

static bool send_command(takt_redis *redis, takt_redis_command *command, int count,
                         const char *const *arguments)
{
    size_t local[ARGUMENTS_LOCAL];
    size_t *sizes = count <= ARGUMENTS_LOCAL ? local : malloc((size_t)count * sizeof *sizes);
    bool sent;

    if (sizes == NULL)
        return false;
    for (int i = 0; i < count; i++)
        sizes[i] = strlen(arguments[i]);
    sent = takt_redis_connection_send(redis->connection, command, count, arguments, sizes);
    if (sizes != local)
        free(sizes);
    return sent;
}

int takt_redis_send(takt_redis *redis, takt_redis_command *command, int count,
                    const char *const *arguments, const size_t *sizes)
{
    bool sent;

    if (!takt_redis_is_ready(redis))
        return TAKT_E_STORE;
    if (!prepare(redis, arguments[0], sizes != NULL ? sizes[0] : strlen(arguments[0])))
        return TAKT_E_NOMEM;
    sent = sizes != NULL
               ? takt_redis_connection_send(redis->connection, command, count, arguments, sizes)
               : send_command(redis, command, count, arguments);
    if (!sent)
        return TAKT_E_NOMEM;
    if (command != NULL)
        note_sent(redis, command);
    return 0;
}

void takt_redis_flush(takt_redis *redis)
{
    if (!redis->closing)
        takt_redis_connection_flush(redis->connection);
}

void takt_redis_reset(takt_redis *redis, int code, const char *text)
{
    if (!redis->closing)
        takt_redis_connection_leave(redis->connection, true, code, text);
}

/* A slot has moved, or is moving: the key is looked for again. */
static void follow(takt_redis *redis, takt_redis_trouble *trouble)
{
    if (!redis->url.cluster ||
        (strcmp(trouble->word, "MOVED") != 0 && strcmp(trouble->word, "ASK") != 0))
        return;
    trouble->text = "the key is on another node of the cluster, or on its way to one";
    if (redis->key != NULL)
        trouble->reaction = TAKT_REDIS_RECONNECT;
}

int takt_redis_refused(takt_redis *redis, const takt_reply *reply, takt_error *error)
{
    char address[TAKT_REDIS_ADDRESS_SIZE];
    takt_redis_trouble trouble;
    bool word;

    takt_redis_judge(&trouble, reply->text, reply->size);
    follow(redis, &trouble);
    word = trouble.word[0] != '\0';
    takt_redis_url_address(takt_redis_connection_server(redis->connection), address);
    takt_fail(error, trouble.code, "%s: %s%s%s%s", address, trouble.text, word ? " (" : "",
              trouble.word, word ? ")" : "");
    if (trouble.reaction == TAKT_REDIS_RECONNECT && !redis->closing)
        takt_redis_connection_leave(redis->connection, false, trouble.code, trouble.text);
    return trouble.code;
}
