/*
 * cluster.h: a Redis Cluster of a test's own, on ports of the loopback: three primaries with a
 * third of the slots each, and if asked for a replica of each.  It dies with the test.
 */
#ifndef TAKT_TESTS_STORE_REDIS_CLUSTER_H
#define TAKT_TESTS_STORE_REDIS_CLUSTER_H

#include "store/redis/server.h"

#define SHARDS        3
#define CLUSTER_NODES (2 * SHARDS)
#define CLUSTER_SLOTS 16384

struct cluster {
    struct server nodes[CLUSTER_NODES]; /* the primaries, then their replicas in the same order */
    int count;
    char ids[CLUSTER_NODES][48];
    char url[160]; /* of all primaries */
    const char *const *options;
};

/* The node of each slot; -1: none. */
struct cluster_slots {
    signed char nodes[CLUSTER_SLOTS];
};

/* Starts it, with these options behind ours (NULL at the end, or NULL), and returns when all slots
 * are served and all replicas follow.  The options stay the caller's. */
void cluster_start(struct cluster *cluster, bool replicas, const char *const *options);
void cluster_stop(struct cluster *cluster);

/* The same; before() is called before each node is started. */
void cluster_start_each(struct cluster *cluster, bool replicas, const char *const *options,
                        void (*before)(const struct server *node, int index));

/* The slot of a key, as the servers compute it. */
int cluster_slot(const struct cluster *cluster, const char *key);

/* The living node that has the slot by its own map; -1: none. */
int cluster_owner(const struct cluster *cluster, int slot);

/* Begins to move a slot; one key; all keys that are left, and the end of the move. */
void cluster_begin_move(const struct cluster *cluster, int slot, int from, int to);
void cluster_move_key(const struct cluster *cluster, const char *key, int from, int to);
void cluster_move_keys(const struct cluster *cluster, int slot, int from, int to);
void cluster_end_move(const struct cluster *cluster, int slot, int from, int to);
void cluster_move(const struct cluster *cluster, int slot, int from, int to); /* all of that */

/* The other node of a node's shard, and whether a node is a primary now. */
int cluster_twin(int node);
bool cluster_is_primary(const struct cluster *cluster, int node);

/* Kills a node; returns its twin when that has its slots, which the cluster decides, or which the
 * twin is ordered to take at once.  cluster_revive: the node is started again, and follows the
 * other one. */
int cluster_kill(struct cluster *cluster, int node);
int cluster_kill_and_promote(struct cluster *cluster, int node);
void cluster_revive(struct cluster *cluster, int node);

/* CLUSTER FAILOVER to the replica of a node; returns it when it has the slots. */
int cluster_fail_over(struct cluster *cluster, int node);

/* Returns when all living nodes name the same node for each slot: these. */
void cluster_await_agreement(const struct cluster *cluster, struct cluster_slots *slots);

/* Returns when each node that is a replica follows its primary. */
void cluster_await_replicas(const struct cluster *cluster);

#endif
