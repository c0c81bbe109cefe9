/*
 * cluster.c: see cluster.h.
 */
#include "store/redis/cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS     16384
#define LOOKS_MAX 6000 /* of 10 ms: what does not come by then never comes */

static void fail(const char *what)
{
    fprintf(stderr, "the cluster: %s\n", what);
    abort();
}

/* Servers tell nothing when they have changed: they are looked at again and again. */
static void look_again(int *looks, const char *what)
{
    struct timespec pause = {0, 10000000};

    if (++*looks == LOOKS_MAX)
        fail(what);
    nanosleep(&pause, NULL);
}

static bool says(const struct server *server, const char *words, const char *part)
{
    return server->process != 0 && strstr(server_say(server, words), part) != NULL;
}

static void tell(const struct server *server, const char *words)
{
    if (!says(server, words, "+OK"))
        fail(words);
}

/* ---- making it ------------------------------------------------------------------------------- */

static void start_node(struct server *node, const char *const *options)
{
    char port[16];
    const char *all[32] = {"--cluster-enabled",
                           "yes",
                           "--cluster-node-timeout",
                           "1000",
                           "--cluster-port",
                           port,
                           "--cluster-replica-validity-factor",
                           "0",
                           "--repl-ping-replica-period",
                           "1",
                           "--repl-diskless-sync-delay",
                           "0"};
    int count = 12;

    while (options != NULL && *options != NULL && count < 31)
        all[count++] = *options++;
    all[count] = NULL;
    snprintf(port, sizeof port, "%d", free_port());
    server_start_tcp(node, false, all);
    node->bus = atoi(port);
}

static void read_id(struct cluster *cluster, int node)
{
    const char *said = server_say(&cluster->nodes[node], "CLUSTER MYID");
    const char *id = strstr(said, "\r\n");

    snprintf(cluster->ids[node], sizeof cluster->ids[node], "%.40s", id ? id + 2 : "");
}

static void meet(struct cluster *cluster)
{
    char words[96];
    int looks = 0;

    for (int i = 1; i < cluster->count; i++) {
        snprintf(words, sizeof words, "CLUSTER MEET 127.0.0.1 %d %d", cluster->nodes[i].port,
                 cluster->nodes[i].bus);
        tell(&cluster->nodes[0], words);
    }
    snprintf(words, sizeof words, "cluster_known_nodes:%d\r", cluster->count);
    for (int i = 0; i < cluster->count; i++)
        while (!says(&cluster->nodes[i], "CLUSTER INFO", words))
            look_again(&looks, "the nodes do not meet");
}

static void await_state(const struct cluster *cluster)
{
    int looks = 0;

    for (int i = 0; i < cluster->count; i++)
        while (!says(&cluster->nodes[i], "CLUSTER INFO", "cluster_state:ok"))
            look_again(&looks, "not all slots are served");
}

void cluster_await_replicas(const struct cluster *cluster)
{
    int looks = 0;

    for (int i = 0; i < cluster->count; i++)
        while (cluster->nodes[i].process != 0 &&
               !says(&cluster->nodes[i], "INFO replication", "role:master") &&
               !says(&cluster->nodes[i], "INFO replication", "master_link_status:up"))
            look_again(&looks, "a replica does not follow");
}

void cluster_start(struct cluster *cluster, bool replicas, const char *const *options)
{
    char words[96];
    int size = 0, looks = 0;

    memset(cluster, 0, sizeof *cluster);
    cluster->count = replicas ? CLUSTER_NODES : SHARDS;
    for (int i = 0; i < cluster->count; i++) {
        server_directory(&cluster->nodes[i]);
        start_node(&cluster->nodes[i], options);
        read_id(cluster, i);
        snprintf(words, sizeof words, "CLUSTER SET-CONFIG-EPOCH %d", i + 1);
        tell(&cluster->nodes[i], words);
    }
    for (int i = 0; i < SHARDS; i++) {
        snprintf(words, sizeof words, "CLUSTER ADDSLOTSRANGE %d %d", i * SLOTS / SHARDS,
                 (i + 1) * SLOTS / SHARDS - 1);
        tell(&cluster->nodes[i], words);
        size += snprintf(cluster->url + size, sizeof cluster->url - (size_t)size, "%s127.0.0.1:%d",
                         i > 0 ? "," : "redis://", cluster->nodes[i].port);
    }
    meet(cluster);
    for (int i = SHARDS; i < cluster->count; i++) {
        snprintf(words, sizeof words, "CLUSTER REPLICATE %s", cluster->ids[i - SHARDS]);
        while (!says(&cluster->nodes[i], words, "+OK"))
            look_again(&looks, words);
    }
    await_state(cluster);
    cluster_await_replicas(cluster);
}

void cluster_stop(struct cluster *cluster)
{
    for (int i = 0; i < cluster->count; i++)
        server_stop(&cluster->nodes[i]);
}

/* ---- slots ----------------------------------------------------------------------------------- */

int cluster_slot(const struct cluster *cluster, const char *key)
{
    char words[256];

    snprintf(words, sizeof words, "CLUSTER KEYSLOT %s", key);
    return atoi(server_say(&cluster->nodes[0], words) + 1);
}

/* Whether the line of CLUSTER NODES about the node itself lists the slot. */
static bool has_slot(const struct server *node, int slot)
{
    char *line = strstr((char *)(size_t)server_say(node, "CLUSTER NODES"), "myself,master");
    char *end = line ? strchr(line, '\n') : NULL;

    if (!end)
        return false;
    *end = '\0';
    line = strstr(line, "connected");
    for (char *word = strtok(line, " \r"); word; word = strtok(NULL, " \r")) {
        int first, last, count = sscanf(word, "%d-%d", &first, &last);
        if (count >= 1 && word[0] != '[' && slot >= first && slot <= (count == 2 ? last : first))
            return true;
    }
    return false;
}

int cluster_owner(const struct cluster *cluster, int slot)
{
    for (int i = 0; i < cluster->count; i++)
        if (cluster->nodes[i].process != 0 && has_slot(&cluster->nodes[i], slot))
            return i;
    return -1;
}

void cluster_begin_move(const struct cluster *cluster, int slot, int from, int to)
{
    char words[160];

    snprintf(words, sizeof words, "CLUSTER SETSLOT %d IMPORTING %s", slot, cluster->ids[from]);
    tell(&cluster->nodes[to], words);
    snprintf(words, sizeof words, "CLUSTER SETSLOT %d MIGRATING %s", slot, cluster->ids[to]);
    tell(&cluster->nodes[from], words);
}

void cluster_move_keys(const struct cluster *cluster, int slot, int from, int to)
{
    char words[1024], name[512];
    const char *said, *at;

    for (;;) {
        snprintf(words, sizeof words, "CLUSTER GETKEYSINSLOT %d 1", slot);
        said = server_say(&cluster->nodes[from], words);
        at = strstr(said, "\r\n$") ? strstr(strstr(said, "\r\n$") + 3, "\r\n") : NULL;
        if (!at || sscanf(at, " %511s", name) != 1)
            return;
        snprintf(words, sizeof words, "MIGRATE 127.0.0.1 %d \"%s\" 0 5000", cluster->nodes[to].port,
                 name);
        if (says(&cluster->nodes[from], words, "-"))
            fail("a key cannot be moved");
    }
}

/* The other nodes hear of it from these two. A message that was under way may claim the slot for
 * its former node once more. */
void cluster_end_move(const struct cluster *cluster, int slot, int from, int to)
{
    char words[160];
    int looks = 0;

    cluster_move_keys(cluster, slot, from, to);
    snprintf(words, sizeof words, "CLUSTER SETSLOT %d NODE %s", slot, cluster->ids[to]);
    for (;;) {
        tell(&cluster->nodes[to], words);
        tell(&cluster->nodes[from], words);
        if (has_slot(&cluster->nodes[to], slot) && !has_slot(&cluster->nodes[from], slot))
            return;
        look_again(&looks, "a slot does not move");
    }
}

void cluster_move(const struct cluster *cluster, int slot, int from, int to)
{
    cluster_begin_move(cluster, slot, from, to);
    cluster_end_move(cluster, slot, from, to);
}

/* ---- nodes that fail ------------------------------------------------------------------------- */

/* The other node of its shard. */
static int twin_of(int node)
{
    return (node + SHARDS) % CLUSTER_NODES;
}

static void await_promoted(const struct cluster *cluster, int node)
{
    int looks = 0;

    while (!says(&cluster->nodes[node], "INFO replication", "role:master") ||
           !says(&cluster->nodes[node], "CLUSTER INFO", "cluster_state:ok"))
        look_again(&looks, "no replica was promoted");
}

int cluster_kill(struct cluster *cluster, int node)
{
    server_kill(&cluster->nodes[node], SIGKILL);
    await_promoted(cluster, twin_of(node));
    return twin_of(node);
}

void cluster_revive(struct cluster *cluster, int node)
{
    char port[16];
    const char *options[] = {"--cluster-enabled",
                             "yes",
                             "--cluster-node-timeout",
                             "1000",
                             "--cluster-port",
                             port,
                             "--cluster-replica-validity-factor",
                             "0",
                             "--repl-ping-replica-period",
                             "1",
                             "--repl-diskless-sync-delay",
                             "0",
                             NULL};
    int looks = 0;

    snprintf(port, sizeof port, "%d", cluster->nodes[node].bus);
    server_restart(&cluster->nodes[node], options);
    while (!says(&cluster->nodes[node], "INFO replication", "master_link_status:up"))
        look_again(&looks, "a node does not come back as a replica");
    await_state(cluster);
}

int cluster_fail_over(struct cluster *cluster, int node)
{
    int twin = twin_of(node), looks = 0;

    tell(&cluster->nodes[twin], "CLUSTER FAILOVER");
    await_promoted(cluster, twin);
    while (!says(&cluster->nodes[node], "INFO replication", "master_link_status:up"))
        look_again(&looks, "the former primary does not follow");
    return twin;
}
