/*
 * node.c: see node.h.
 */
#include "store/redis/node.h"

#include <stdlib.h>
#include <string.h>

/* The answer to CLUSTER SLOTS is longer than those of the scripts. */
static const takt_resp_max reply_max = {TAKT_RESP_DEPTH_MAX, 65536, TAKT_RESP_BYTES_MAX,
                                        TAKT_E_STORE};

takt_redis_node *takt_redis_node_new(const takt_redis_node_options *options, int number,
                                     const takt_redis_address *address)
{
    takt_redis_node *node = calloc(1, sizeof *node);

    if (node == NULL)
        return NULL;
    node->options = options;
    node->number = number;
    node->address = *address;
    takt_list_init(&node->waiting);
    takt_list_init(&node->link);
    return node;
}

static void free_url(takt_redis_node *node)
{
    if (node->url != NULL)
        takt_redis_url_close(node->url);
    free(node->url);
    node->url = NULL;
}

void takt_redis_node_free(takt_redis_node *node)
{
    free_url(node);
    free(node);
}

bool takt_redis_node_ready(const takt_redis_node *node)
{
    return node->connection != NULL && takt_redis_connection_ready(node->connection);
}

/* A server that has forgotten the script, or another one. */
static void forget_scripts(takt_redis_node *node)
{
    for (int script = 0; script < TAKT_SCRIPTS; script++) {
        node->loads[script].under_way = false;
        node->loads[script].refused = 0;
    }
}

static void on_ready(void *data)
{
    takt_redis_node *node = data;

    node->was_ready = true;
    node->down = node->told = node->lost = false;
    if (node->hints != NULL)
        takt_hints_hold(node->hints, false);
    forget_scripts(node);
    node->options->events->ready(node);
}

/* Of several seeds the next one is tried. */
static void turn_seed(takt_redis_node *node)
{
    const takt_redis_url *url = node->options->url;

    if (node->number != 0 || !takt_redis_url_lists_nodes(url))
        return;
    node->seed = (node->seed + 1) % url->seed_count;
    node->address = url->seeds[node->seed];
    memcpy(node->url->host, node->address.host, sizeof node->url->host);
    node->url->port = node->address.port;
}

static void on_lost(void *data, int code, const char *text)
{
    takt_redis_node *node = data;

    if (node->hints != NULL)
        takt_hints_hold(node->hints, true);
    node->code = code;
    node->lost = true;
    memcpy(node->text, text, strlen(text) + 1);
    node->options->events->lost(node);
    node->was_ready = false;
    turn_seed(node);
}

void takt_redis_node_part_closed(void *data)
{
    takt_redis_node *node = data;

    if (--node->left > 0)
        return;
    free_url(node);
    node->options->events->closed(node);
}

static const takt_redis_connection_events connection_events = {on_ready, on_lost, NULL,
                                                               takt_redis_node_part_closed};

/* The store's URL with the address of this node. A node that is named by a node on this host's
 * socket is reached by TCP. */
static takt_redis_url *url_of(const takt_redis_node *node)
{
    takt_redis_url *url = malloc(sizeof *url);

    if (url == NULL)
        return NULL;
    *url = *node->options->url;
    if (node->number != 0 && url->transport == TAKT_REDIS_UNIX)
        url->transport = TAKT_REDIS_TCP;
    memcpy(url->host, node->address.host, sizeof url->host);
    url->port = node->address.port;
    return url;
}

/* False: no memory. */
static bool open_durable(takt_redis_node *node)
{
    const takt_redis_node_options *options = node->options;

    if (options->url->replicas == 0)
        return true;
    node->durable = takt_durable_open(options->loop, options->url->replicas,
                                      options->url->replica_timeout_ms, options->durable_events);
    return node->durable != NULL;
}

bool takt_redis_node_connect(takt_redis_node *node)
{
    const takt_redis_node_options *options = node->options;

    if (node->connection != NULL || node->left > 0)
        return true;
    node->url = url_of(node);
    if (node->url != NULL && open_durable(node))
        node->connection =
            takt_redis_connection_open(options->loop, node->url, options->trust, &reply_max,
                                       options->timeout_ms, &connection_events, node);
    if (node->durable != NULL)
        takt_durable_use(node->durable, node->connection);
    if (node->connection == NULL && node->durable != NULL)
        takt_durable_close(node->durable, NULL, NULL);
    if (node->connection == NULL) {
        node->durable = NULL;
        free_url(node);
    }
    node->was_ready = false;
    node->used_ms = uv_now(options->loop);
    return node->connection != NULL;
}

bool takt_redis_node_close(takt_redis_node *node)
{
    takt_redis_connection *connection = node->connection;
    takt_durable *durable = node->durable;
    takt_hints *hints = node->hints;

    if (connection == NULL)
        return node->left > 0;
    node->connection = NULL;
    node->hints = NULL;
    node->durable = NULL;
    node->left = 1 + (hints != NULL) + (durable != NULL);
    node->down = node->told = node->lost = false;
    if (hints != NULL)
        takt_hints_close(hints);
    takt_redis_connection_close(connection);
    if (durable != NULL)
        takt_durable_close(durable, takt_redis_node_part_closed, node);
    return true;
}
