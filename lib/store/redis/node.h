/*
 * node.h: one server of a store: its connections, its scripts, and the jobs that wait for it.
 *
 * A store of one server has one node. In a cluster each node that is used has another one; its
 * connections are made at the first use, and closed when it has not been used for a while. What
 * happens to a node is told to the store by takt_redis_node_events.
 */
#ifndef TAKT_STORE_REDIS_NODE_H
#define TAKT_STORE_REDIS_NODE_H

#include <uv.h>

#include "redis/connection.h"
#include "redis/slot_map.h"
#include "store/redis/durable.h"
#include "store/redis/script.h"
#include "store/redis/subscribe.h"
#include "store/store.h"

typedef struct takt_redis_node takt_redis_node;

/* SCRIPT LOAD of one script. */
typedef struct takt_redis_load {
    takt_redis_command command;
    bool under_way;
    int refused; /* 0, or why it cannot be loaded on this connection */
    const char *refused_text;
} takt_redis_load;

typedef struct takt_redis_node_events {
    void (*ready)(takt_redis_node *node);
    /* node->code and node->text tell the reason. */
    void (*lost)(takt_redis_node *node);
    /* Its connections are closed: all of them, or because it was not used. */
    void (*closed)(takt_redis_node *node);
} takt_redis_node_events;

/* What the nodes of a store share. */
typedef struct takt_redis_node_options {
    uv_loop_t *loop;
    const takt_redis_url *url;
    takt_tls_trust *trust; /* NULL without TLS */
    uint64_t timeout_ms;
    uint64_t unused_ms; /* when the connections of an unused node are closed */
    const takt_redis_node_events *events;
    const takt_durable_events *durable_events;
    void *data;
} takt_redis_node_options;

struct takt_redis_node {
    const takt_redis_node_options *options;
    takt_link link; /* the store's */
    int number;     /* takt_store_call.server */
    takt_redis_address address;
    int seed;                          /* of number 0: which seed of the URL it is */
    takt_redis_url *url;               /* of the connections; NULL: there are none */
    takt_redis_connection *connection; /* NULL: not connected, or closing */
    takt_durable *durable;             /* NULL: awards do not wait for replicas */
    takt_hints *hints;                 /* NULL until the first claim was answered */
    takt_redis_load loads[TAKT_SCRIPTS];
    takt_link waiting; /* jobs not sent to a connection yet */
    uint64_t used_ms;  /* when the last job was sent */
    bool was_ready;    /* the present connection was ready */
    bool down;         /* the last attempt to connect failed */
    bool told;         /* ... and a call has failed with the reason */
    bool lost;         /* no connection was ready since one was lost or could not be made */
    int code;          /* the reason, as a code, ... */
    char text[TAKT_ERROR_TEXT_SIZE]; /* ... and as a text */
    int left;                        /* connections that are closing */
};

/* Begins without a connection. NULL: no memory. */
takt_redis_node *takt_redis_node_new(const takt_redis_node_options *options, int number,
                                     const takt_redis_address *address);
void takt_redis_node_free(takt_redis_node *node); /* closed */

/* Begins to connect, unless the node is connected or connecting. False: no memory. While its former
 * connections close, it is true, and closed() is the moment to call it again. */
bool takt_redis_node_connect(takt_redis_node *node);

bool takt_redis_node_ready(const takt_redis_node *node);

/* The `closed` of the node's hints. */
void takt_redis_node_part_closed(void *node);

/* Closes the connections; commands under way fail. closed() follows if there were any: the result
 * is true. */
bool takt_redis_node_close(takt_redis_node *node);

#endif
