/*
 * listen.c: decides which ledgers a store listens to for hints, at which node, and hands each hint
 * on. subscribe.h handles the channels.
 */
#include "store/redis/redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void takt_redis_sign(const takt_redis_store *store, char text[TAKT_REDIS_SIGN_SIZE])
{
    snprintf(text, TAKT_REDIS_SIGN_SIZE, "%" PRIx64, store->worker);
    if (store->worker == 0)
        *text = '\0';
}

static void on_hint(void *data, const char *limit, const char *key, bool own, const char *by,
                    size_t by_size)
{
    const takt_redis_node *node = data;
    takt_redis_store *store = node->options->data;
    char sign[TAKT_REDIS_SIGN_SIZE];

    takt_redis_sign(store, sign);
    if (store->closing ||
        (by_size > 0 && by_size == strlen(sign) && memcmp(by, sign, by_size) == 0))
        return;
    if (!own)
        store->options.on_hint(store->options.data, limit, key);
    else if (store->options.on_wake)
        store->options.on_wake(store->options.data, limit, key);
}

/* Whether a ledger may tell a worker to claim: a permit has come free, or its waiters must leave
 * the line. */
static bool wakes_workers(const takt_numbers *numbers)
{
    return numbers->concurrency > 0 || takt_numbers_drops(numbers);
}

/* A channel is no longer heard at the node. */
static void on_moved(void *data)
{
    const takt_redis_node *node = data;
    takt_redis_store *store = node->options->data;

    takt_redis_cluster_doubt(&store->cluster);
}

static void listen_at(takt_redis_store *store, takt_redis_node *node, const char *limit,
                      const char *key, uint64_t worker)
{
    takt_hints_options options = {.name_space = store->name_space,
                                  .on_hint = on_hint,
                                  .on_moved = on_moved,
                                  .closed = takt_redis_node_part_closed,
                                  .data = node};

    if (node->hints == NULL && node->connection != NULL) {
        node->hints = takt_hints_open(store->loop, node->connection, &options);
        if (node->hints != NULL && !takt_redis_node_ready(node))
            takt_hints_hold(node->hints, true);
    }
    if (node->hints != NULL)
        takt_hints_want(node->hints, limit, key, worker);
}

takt_redis_node *takt_redis_node_of(takt_redis_store *store, const char *limit, const char *key)
{
    char name[TAKT_REDIS_KEY_SIZE];
    size_t size = store->cluster.found ? takt_redis_key(name, store->name_space, limit, key, "")
                                       : 0; /* one server has all */

    return takt_redis_cluster_node_of(&store->cluster, name, size);
}

void takt_redis_listen(takt_redis_store *store, const takt_store_call *call)
{
    takt_redis_node *node;

    if (!store->url.hints || store->options.on_hint == NULL)
        return;
    node = takt_redis_node_of(store, call->limit->name, call->key);
    if (node == NULL)
        return;
    listen_at(store, node, call->limit->name, call->key,
              wakes_workers(call->numbers) ? store->worker : 0);
    for (int i = 0; i < call->inner_count; i++) /* their ledgers are on the same node */
        listen_at(store, node, call->inner[i].limit->name, call->inner[i].key,
                  wakes_workers(call->inner[i].numbers) ? store->worker : 0);
}

/* Whether the node still has the ledger; if not, its new node is listened to. */
static bool stays(void *data, const char *limit, const char *key, bool own)
{
    takt_redis_node *node = data;
    takt_redis_store *store = node->options->data;
    takt_redis_node *now = takt_redis_node_of(store, limit, key);

    if (now != NULL && now != node)
        listen_at(store, now, limit, key, own ? store->worker : 0);
    return now == node || now == NULL; /* it keeps its place until a node has it */
}

void takt_redis_listen_elsewhere(takt_redis_store *store)
{
    for (takt_link *at = store->cluster.nodes.next; at != &store->cluster.nodes; at = at->next) {
        takt_redis_node *node = TAKT_HOLDER(at, takt_redis_node, link);
        if (node->hints != NULL)
            takt_hints_review(node->hints, stays);
    }
}
