/*
 * faults_cluster.c: faults of a cluster of six nodes: primaries are killed and come back as
 * replicas, replicas take over by order, every slot in use moves, and the clocks of the nodes
 * differ.
 *
 * $TAKT_FAULTS_PERCENT above 100 makes the storms longer. In the short ones the replica of a killed
 * node is ordered to take over, so that a busy machine promotes nobody by itself; in the long ones
 * the cluster finds out about it, and a promoted node must be used in time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/faults.h"
#include "faults/server_clock.h"
#include "redis/slot_map.h"

#define WORKERS  8
#define ANYWHERE 2
#define APART_US INT64_C(500000)
#define USED_US  INT64_C(2000000) /* from a promotion to the first call, in a long storm */

static const char *const patient[] = {"--cluster-node-timeout", "5000", NULL};

/* The longest time from a promotion to the first call that the promoted node was sent. */
static int64_t longest_to_first_us;

static bool is_long(void)
{
    return fleet_times(1) > 1;
}

static void begin(struct fleet *fleet, const char *options)
{
    cluster_start(&fleet->cluster, true, is_long() ? NULL : patient);
    snprintf(fleet->url, sizeof fleet->url, "%s%s", fleet->cluster.url, options);
}

/* ---- calls of a node ------------------------------------------------------------------------- */

static int64_t calls_of(const struct server *node)
{
    static const char name[] = "cmdstat_evalsha:calls=";
    const char *found = strstr(server_say(node, "INFO commandstats"), name);

    return found ? strtoll(found + strlen(name), NULL, 10) : 0;
}

/* A node has been promoted: waits until it has more calls than before. */
static void await_use(struct fleet *fleet, int node, int64_t calls)
{
    int64_t from_us = notes_monotonic_us(), took_us;

    while (calls_of(&fleet->cluster.nodes[node]) <= calls)
        fleet_pause(fleet, 5);
    took_us = notes_monotonic_us() - from_us;
    if (took_us > longest_to_first_us)
        longest_to_first_us = took_us;
}

/* ---- the parts of a storm -------------------------------------------------------------------- */

static int primary_of(const struct fleet *fleet, int shard)
{
    return cluster_is_primary(&fleet->cluster, shard) ? shard : cluster_twin(shard);
}

/* All nodes know all slots, and the replicas have the data of their primaries: any promoted node
 * has the data. */
static void settle(const struct fleet *fleet)
{
    struct cluster_slots slots;

    cluster_await_replicas(&fleet->cluster);
    cluster_await_agreement(&fleet->cluster, &slots);
    for (int shard = 0; shard < SHARDS; shard++)
        server_say(&fleet->cluster.nodes[primary_of(fleet, shard)], "WAIT 1 60000");
}

/* The replica lags from now on: it cannot log in at its primary. */
static void cut_off(const struct fleet *fleet, int node)
{
    server_say(&fleet->cluster.nodes[cluster_twin(node)], "CONFIG SET masterauth none");
    while (!strstr(server_say(&fleet->cluster.nodes[node], "INFO replication"),
                   "connected_slaves:0")) {
        server_say(&fleet->cluster.nodes[node], "CLIENT KILL TYPE replica");
        fleet_pause(fleet, 10);
    }
}

/* Awards made after the replica was cut off are lost with the node. Awards that wait for a replica
 * wait until the node is back as a replica. */
static void kill_one(struct fleet *fleet, int shard, bool durable)
{
    struct cluster *cluster = &fleet->cluster;
    int node = primary_of(fleet, shard), twin = cluster_twin(node);
    int64_t calls = calls_of(&cluster->nodes[twin]);

    settle(fleet);
    cut_off(fleet, node);
    fleet_await_grants(fleet, 100);
    if (!durable) {
        fleet->allowance.losses++;
        fleet->allowance.ahead_us = LOOKAHEAD_US;
    }
    if (is_long())
        cluster_kill(cluster, node);
    else
        cluster_kill_and_promote(cluster, node);
    server_say(&cluster->nodes[twin], "CONFIG SET masterauth \"\"");
    if (!durable)
        await_use(fleet, twin, calls);
    cluster_revive(cluster, node);
}

static void fail_over(struct fleet *fleet, int shard)
{
    int node = primary_of(fleet, shard), twin = cluster_twin(node);
    int64_t calls = calls_of(&fleet->cluster.nodes[twin]);

    settle(fleet);
    cluster_fail_over(&fleet->cluster, node);
    await_use(fleet, twin, calls);
}

static int slot_of(int limit, int key)
{
    char name[64], text[16] = "";

    if (limits[limit].keys > 1)
        snprintf(text, sizeof text, "%d", key);
    snprintf(name, sizeof name, "faults/%s/%s", limits[limit].name, text);
    return takt_redis_slot(name, strlen(name));
}

/* Each slot that has a ledger moves to the next shard; in a short storm those of the limits with
 * few keys. Returns how many.  All nodes know of a move before the next one: where one hears first
 * of a later epoch of the former owner, it believes the new one no longer. */
static int reshard(struct fleet *fleet)
{
    struct cluster_slots slots, known;
    int moved = 0;

    settle(fleet);
    cluster_await_agreement(&fleet->cluster, &slots);
    for (int limit = is_long() ? 0 : ANY_KEY + 1; limit < limit_count; limit++)
        for (int key = 0; key < limits[limit].keys; key++) {
            int slot = slot_of(limit, key), from = slots.nodes[slot];
            if (from < 0) /* moved already */
                continue;
            cluster_move(&fleet->cluster, slot, from, primary_of(fleet, (from + 1) % SHARDS));
            cluster_await_agreement(&fleet->cluster, &known);
            slots.nodes[slot] = -1;
            moved++;
        }
    return moved;
}

static void storm_over(struct fleet *fleet, const char *name, bool durable)
{
    int kills = fleet_times(1), moved = 0;

    longest_to_first_us = 0;
    fleet_work(fleet, WORKERS, ANYWHERE);
    fleet_await_grants(fleet, 200);
    for (int i = 0; i < kills; i++) {
        kill_one(fleet, i % SHARDS, durable);
        fleet_await_grants(fleet, 50);
        if (i == kills / 2)
            moved = reshard(fleet);
        if (i % 2 == 0)
            fail_over(fleet, (i + 1) % SHARDS);
        fleet_await_grants(fleet, 50);
    }
    (void)fleet_told(fleet); /* no event reports the loss of a node without ledgers */
    printf("# {\"fault\":\"%s\",\"kills\":%d,\"failovers\":%d,\"moved_slots\":%d,"
           "\"longest_from_promotion_to_use_ms\":%.1f}\n",
           name, kills, (kills + 1) / 2, moved, (double)longest_to_first_us / 1000);
    if (is_long() && longest_to_first_us > USED_US)
        fleet_fail("a promoted node was used only after %.1f s", (double)longest_to_first_us / 1e6);
    fleet_close(fleet, name);
}

static void storm_of_nodes(struct fleet *fleet, const char *name)
{
    begin(fleet, "");
    storm_over(fleet, name, false);
}

/* No rule may be broken at all: a promoted replica has every award that was used. */
static void durable_storm_of_nodes(struct fleet *fleet, const char *name)
{
    begin(fleet, "?replicas=1&replica_timeout=900ms");
    storm_over(fleet, name, true);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static void set_clock(const struct server *node, int index)
{
    atomic_store(server_clock_begin(node), (index - 1) * APART_US);
}

static void clocks_apart(struct fleet *fleet, const char *name)
{
    struct cluster *cluster = &fleet->cluster;

    cluster_start_each(cluster, false, patient, set_clock);
    server_clock_end();
    snprintf(fleet->url, sizeof fleet->url, "%s", cluster->url);
    for (int node = 0; node < SHARDS; node++) {
        int64_t off_us = server_clock_ahead_us(&cluster->nodes[node]) - (node - 1) * APART_US;
        if (off_us > 0 || off_us < -APART_US / 2)
            fleet_fail("the clock of node %d is %" PRId64 " us from where it was put", node,
                       off_us);
    }
    for (int limit = 0; limit < limit_count; limit++)
        for (int key = 0; key < limits[limit].keys; key++)
            atomic_store(&fleet->notes->shift_us[limits_ledger(limit, key)],
                         (cluster_owner(cluster, slot_of(limit, key)) - 1) * APART_US);
    fleet_work(fleet, 4, 4);
    fleet_await_grants(fleet, 2000);
    fleet_close(fleet, name);
}

const struct fault cluster_faults[] = {
    {"nodes whose clocks differ by 500 ms", clocks_apart},
    {NULL, NULL},
};

const struct fault heavy_faults[] = {
    {"nodes killed, failed over and resharded", storm_of_nodes},
    {"nodes killed, failed over and resharded, with replicas=1", durable_storm_of_nodes},
    {NULL, NULL},
};
