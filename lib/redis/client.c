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
    int slot;                    /* of the key; -1: there is none */
    takt_redis_command question; /* CLUSTER SLOTS */
    bool asking;                 /* ... is under way: not ready yet */
    bool moving;                 /* the connection is left for one to another node */
    takt_redis_slot_map map;     /* as it was told last */
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

static bool is_overdue(const takt_redis *redis)
{
    const takt_redis_command *oldest = takt_redis_connection_oldest(redis->connection);

    return oldest != NULL && takt_redis_is_ready(redis) &&
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
    if (!redis->closing && oldest != NULL && takt_redis_is_ready(redis))
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

/* The answer to CLUSTER SLOTS. An error comes from a server that is no cluster. */
static void on_located(takt_redis_command *command, const takt_reply *reply, int code)
{
    takt_redis *redis = command->data;
    takt_redis_address here = {.port = redis->url.port};
    const takt_redis_address *node = NULL;

    (void)code;
    if (reply == NULL || redis->closing)
        return;
    memcpy(here.host, redis->url.host, sizeof here.host);
    if (takt_redis_slot_map_read(&redis->map, reply, &here) == 0)
        node = takt_redis_slot_map_find(&redis->map, redis->slot);
    if (node == NULL || takt_redis_address_same(node, &here)) {
        tell_ready(redis);
        return;
    }
    redis->moving = true;
    takt_redis_connection_leave(redis->connection, false, TAKT_E_STORE,
                                "the key is on another node");
    set_address(redis, node);
}

static void on_ready(void *data)
{
    static const char *const words[] = {"CLUSTER", "SLOTS"};
    static const size_t sizes[] = {7, 5};
    takt_redis *redis = data;

    if (redis->slot < 0 || !redis->url.cluster || redis->url.primary[0] != '\0') {
        tell_ready(redis);
        return;
    }
    redis->question.answered = on_located;
    redis->question.data = redis;
    redis->asking =
        takt_redis_connection_send(redis->connection, &redis->question, 2, words, sizes);
    if (!redis->asking)
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

    redis->moving = redis->asking = false;
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
    opened->options.key = NULL;
    code = takt_redis_url_read(&opened->url, url, error);
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
    sent = sizes != NULL
               ? takt_redis_connection_send(redis->connection, command, count, arguments, sizes)
               : send_command(redis, command, count, arguments);
    if (!sent)
        return TAKT_E_NOMEM;
    if (command == NULL || redis->timeout_ns == 0)
        return 0;
    command->sent_ns = uv_hrtime();
    if (!uv_is_active((uv_handle_t *)&redis->timer))
        set_timer(redis, command->sent_ns + redis->timeout_ns);
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

int takt_redis_refused(takt_redis *redis, const takt_reply *reply, takt_error *error)
{
    char address[TAKT_REDIS_ADDRESS_SIZE];
    takt_redis_trouble trouble;
    bool word;

    takt_redis_judge(&trouble, reply->text, reply->size);
    word = trouble.word[0] != '\0';
    takt_redis_url_address(takt_redis_connection_server(redis->connection), address);
    takt_fail(error, trouble.code, "%s: %s%s%s%s", address, trouble.text, word ? " (" : "",
              trouble.word, word ? ")" : "");
    if (strcmp(trouble.word, "MOVED") == 0 && redis->slot >= 0) /* it is looked for again */
        trouble.reaction = TAKT_REDIS_RECONNECT;
    if (trouble.reaction == TAKT_REDIS_RECONNECT && !redis->closing)
        takt_redis_connection_leave(redis->connection, false, trouble.code, trouble.text);
    return trouble.code;
}
