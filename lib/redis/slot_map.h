/*
 * slot_map.h: which node of a cluster has a key.
 *
 * A cluster has 16384 hash slots. CRC16 of a key, or of its part between braces, selects one, and
 * each slot has one node. The map comes from the answer to CLUSTER SLOTS, which all versions of
 * Redis and Valkey give; redirections (MOVED, ASK) name single slots. Pure.
 *
 * A node that names no address of its own is reached at the address at which it was asked.
 */
#ifndef TAKT_REDIS_SLOT_MAP_H
#define TAKT_REDIS_SLOT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redis/reply.h"
#include "redis/url.h"

#define TAKT_REDIS_SLOTS     16384
#define TAKT_REDIS_NODES_MAX 1024

typedef struct takt_redis_shard {
    takt_redis_address primary;
    int replicas;
} takt_redis_shard;

/* Zeros at first: no slot has a node. takt_redis_slot_map_close frees it. */
typedef struct takt_redis_slot_map {
    takt_redis_shard *shards;
    int shard_count;
    uint16_t *shard_of; /* by slot: index in `shards` plus 1; 0: no node has the slot */
    int covered;        /* slots that have a node */
} takt_redis_slot_map;

/* The slot of a key, 0 to TAKT_REDIS_SLOTS - 1. */
int takt_redis_slot(const char *key, size_t size);

/* Replaces the map by the answer to CLUSTER SLOTS of the node at `asked`. 0; TAKT_E_STORE: it is no
 * such answer; or TAKT_E_NOMEM. The map stays as it was on failure. */
int takt_redis_slot_map_read(takt_redis_slot_map *map, const takt_reply *reply,
                             const takt_redis_address *asked);

/* Reads a node of such an answer, [HOST, PORT, ...]; false: it is malformed. */
bool takt_redis_slot_node_read(takt_redis_address *address, const takt_reply *node,
                               const takt_redis_address *asked);

/* The node that has the slot; NULL: none is known. Valid until the map changes. */
const takt_redis_address *takt_redis_slot_map_find(const takt_redis_slot_map *map, int slot);

/* One slot has another node. False: no memory, or too many nodes. */
bool takt_redis_slot_map_set(takt_redis_slot_map *map, int slot, const takt_redis_address *node);

void takt_redis_slot_map_close(takt_redis_slot_map *map);

/* The place of a key, as an error reply states it. */
typedef struct takt_redis_redirection {
    bool ask; /* ASK: for this one call. MOVED: from now on */
    int slot;
    takt_redis_address node;
} takt_redis_redirection;

/* Reads "MOVED SLOT HOST:PORT" or "ASK SLOT HOST:PORT". False: it is neither, or malformed. */
bool takt_redis_redirection_read(takt_redis_redirection *redirection, const char *text, size_t size,
                                 const takt_redis_address *asked);

bool takt_redis_address_same(const takt_redis_address *a, const takt_redis_address *b);

#endif
