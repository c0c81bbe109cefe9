/*
 * cluster.h: a Redis Cluster of a test's own, on ports of the loopback: three primaries with a
 * third of the slots each, and if asked for a replica of each.  It dies with the test.
 */
#ifndef TAKT_TESTS_STORE_REDIS_CLUSTER_H
#define TAKT_TESTS_STORE_REDIS_CLUSTER_H

#include "store/redis/server.h"

#define SHARDS        3
#define CLUSTER_NODES (2 * SHARDS)

struct cluster {
    struct server nodes[CLUSTER_NODES]; /* the primaries, then their replicas in the same order */
    int count;
    char ids[CLUSTER_NODES][48];
    char url[160]; /* of all primaries */
};

/* Starts it, with these options behind ours (NULL at the end, or NULL), and returns when all slots
 * are served and all replicas follow. */
void cluster_start(struct cluster *cluster, bool replicas, const char *const *options);
void cluster_stop(struct cluster *cluster);

/* The slot of a key, as the servers have it. */
int cluster_slot(const struct cluster *cluster, const char *key);

/* The living node that has the slot, as it says itself; -1: none does. */
int cluster_owner(const struct cluster *cluster, int slot);

/* Begins to move a slot; some keys; all keys that are left, and the end of the move. */
void cluster_begin_move(const struct cluster *cluster, int slot, int from, int to);
void cluster_move_keys(const struct cluster *cluster, int slot, int from, int to);
void cluster_end_move(const struct cluster *cluster, int slot, int from, int to);
void cluster_move(const struct cluster *cluster, int slot, int from, int to); /* all of that */

/* Kills a node; returns when another one has its slots.  cluster_revive: it is started again, and
 * follows the other one. */
int cluster_kill(struct cluster *cluster, int node);
void cluster_revive(struct cluster *cluster, int node);

/* CLUSTER FAILOVER to the replica of a node; returns it when it has the slots. */
int cluster_fail_over(struct cluster *cluster, int node);

/* Returns when each node that is a replica follows its primary. */
void cluster_await_replicas(const struct cluster *cluster);

#endif
