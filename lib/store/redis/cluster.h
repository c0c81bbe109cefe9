/*
 * cluster.h: the nodes of a store, and which of them has a ledger.
 *
 * A store is one server until that answers that it is a node of a cluster (MOVED, ASK,
 * CLUSTERDOWN): then the slot map is read (CLUSTER SLOTS), and each call goes to the node that has
 * its slot. The map is read again after MOVED and after a lost connection, one reading at a time
 * and at most one a second; while the node of a slot is away, about every second.
 *
 * A job that no node can do at present (CLUSTERDOWN, LOADING, a slot without a node) pauses, for
 * 20, 40 ... 200 ms, until its time-out; so does one whose keys are on two nodes (TRYAGAIN), as
 * split.h decides.
 */
#ifndef TAKT_STORE_REDIS_CLUSTER_H
#define TAKT_STORE_REDIS_CLUSTER_H

#include "store/redis/node.h"
#include "store/redis/split.h"

typedef struct takt_redis_cluster_events {
    /* The map has changed: jobs that wait for a node may belong to another one. */
    void (*changed)(void *data);
    /* No ledger is on that server from now on. */
    void (*gone)(void *data, int number);
    /* The pause of a job is over. */
    void (*resumed)(void *data, takt_link *job);
} takt_redis_cluster_events;

/* A link of a list of pausing jobs. */
typedef struct takt_redis_pause {
    takt_link link;
    uint64_t until_ms;
    int count; /* pauses of the job so far */
    int slot;  /* split, which the job waits for; -1: none */
} takt_redis_pause;

typedef struct takt_redis_cluster {
    takt_redis_node_options options;
    const takt_redis_cluster_events *events;
    takt_redis_node *home; /* number 0: the server of the URL, and those to ask first */
    takt_link nodes;       /* all, home first */
    int numbers;           /* the highest number in use */
    int nowhere;           /* the number for slots without a node; 0: not needed yet */
    int between;           /* the same for slots that stay split */
    bool found;            /* it is a cluster */
    bool mapped;           /* the map has been read */
    takt_redis_slot_map map;

    uv_timer_t timer;
    takt_link pausing;
    takt_redis_splits splits;
    uint64_t random;
    takt_redis_command reading; /* CLUSTER SLOTS */
    takt_redis_node *read_from; /* NULL: no reading is under way */
    bool wanted;                /* the map is to be read */
    uint64_t not_before_ms;     /* the next reading */
    uint64_t read_until_ms;     /* the time-out of the present one */
    uint64_t tidy_ms;           /* when unused nodes are looked for */
    bool closing;
} takt_redis_cluster;

/* 0 or TAKT_E_NOMEM. `cluster->options` is set. */
int takt_redis_cluster_open(takt_redis_cluster *cluster, const takt_redis_cluster_events *events);

/* The node that has a key, connected or connecting; NULL: the slot has no node, or there is no
 * memory. */
takt_redis_node *takt_redis_cluster_node_of(takt_redis_cluster *cluster, const char *key,
                                            size_t size);

/* The number of a ledger without a node, or between two nodes. */
int takt_redis_cluster_nowhere(takt_redis_cluster *cluster);
int takt_redis_cluster_between(takt_redis_cluster *cluster);

/* Takes in a redirection. Returns the node that it names; NULL: no memory. */
takt_redis_node *takt_redis_cluster_redirect(takt_redis_cluster *cluster,
                                             const takt_redis_redirection *redirection);

/* The map may be out of date. */
void takt_redis_cluster_doubt(takt_redis_cluster *cluster);

/* A node is ready: it can be asked. */
void takt_redis_cluster_ready(takt_redis_cluster *cluster);

void takt_redis_cluster_pause(takt_redis_cluster *cluster, takt_redis_pause *pause);

/* The same for a job whose slot is split; `workers` as for takt_redis_splits_add. */
void takt_redis_cluster_pause_split(takt_redis_cluster *cluster, takt_redis_pause *pause, int slot,
                                    int64_t workers);

/* A job is about to be sent. True: it is too early for another call about its slot, and the job
 * pauses. */
bool takt_redis_cluster_holds(takt_redis_cluster *cluster, takt_redis_pause *pause, int slot);

/* A call about the slot was served, or the slot has moved: jobs need not wait for it. */
void takt_redis_cluster_whole(takt_redis_cluster *cluster, int slot);

/* Ends the readings and the pauses, and closes all nodes. Returns how many closed() follow; the
 * timer is the caller's to close. takt_redis_cluster_free comes last. */
int takt_redis_cluster_close(takt_redis_cluster *cluster);
void takt_redis_cluster_free(takt_redis_cluster *cluster);

#endif
