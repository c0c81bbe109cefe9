/*
 * cluster.c: see cluster.h.
 */
#include "store/redis/cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOKS_MAX   6000 /* of 10 ms: later messages never come */
#define MEET_AGAIN  200
#define ORDER_LOOKS 600 /* longer than a server tries to take over */
#define OPTIONS_MAX 40

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

/* A node that had no time to answer the others may take the cluster for down. */
static void tell(const struct server *server, const char *words)
{
    const char *said = "it is dead";
    int looks = 0;

    while (server->process != 0 && (said = server_say(server, words)) != NULL &&
           strstr(said, "CLUSTERDOWN"))
        look_again(&looks, "a node stays down");
    if (strstr(said, "+OK") || strstr(said, "+NOKEY"))
        return;
    fprintf(stderr, "%s: %s\n", words, said);
    fail("a node refuses a command");
}

/* ---- making it ------------------------------------------------------------------------------- */

/* Ours, then those of the cluster.  Without replicas no node fails, and one that is slow must not
 * be taken for dead. */
static void fill_options(const struct cluster *cluster, const char *options[OPTIONS_MAX])
{
    const char *ours[] = {"--cluster-enabled",
                          "yes",
                          "--cluster-node-timeout",
                          cluster->count > SHARDS ? "1000" : "30000",
                          "--cluster-replica-validity-factor",
                          "0",
                          "--repl-ping-replica-period",
                          "1",
                          "--repl-diskless-sync-delay",
                          "0"};
    int count = sizeof ours / sizeof ours[0];

    memcpy(options, ours, sizeof ours);
    for (const char *const *at = cluster->options; at && *at && count < OPTIONS_MAX - 1; at++)
        options[count++] = *at;
    options[count] = NULL;
}

static void start_node(const struct cluster *cluster, struct server *node)
{
    const char *options[OPTIONS_MAX];

    fill_options(cluster, options);
    node->has_bus = true;
    server_start_tcp(node, false, options);
}

static void read_id(struct cluster *cluster, int node)
{
    const char *said = server_say(&cluster->nodes[node], "CLUSTER MYID");
    const char *id = strstr(said, "\r\n");

    snprintf(cluster->ids[node], sizeof cluster->ids[node], "%.40s", id ? id + 2 : "");
}

static void introduce(const struct cluster *cluster)
{
    char words[96];

    for (int i = 1; i < cluster->count; i++) {
        snprintf(words, sizeof words, "CLUSTER MEET 127.0.0.1 %d %d", cluster->nodes[i].port,
                 cluster->nodes[i].bus);
        tell(&cluster->nodes[0], words);
    }
}

/* A node forgets another that does not answer within the node timeout, as on a busy machine. */
static void meet(const struct cluster *cluster)
{
    char words[96];
    int looks = 0;

    introduce(cluster);
    snprintf(words, sizeof words, "cluster_known_nodes:%d\r", cluster->count);
    for (int i = 0; i < cluster->count; i++)
        while (!says(&cluster->nodes[i], "CLUSTER INFO", words)) {
            look_again(&looks, "the nodes do not meet");
            if (looks % MEET_AGAIN == 0)
                introduce(cluster);
        }
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
    cluster_start_each(cluster, replicas, options, NULL);
}

void cluster_start_each(struct cluster *cluster, bool replicas, const char *const *options,
                        void (*before)(const struct server *node, int index))
{
    char words[96];
    int size = 0, looks = 0;

    memset(cluster, 0, sizeof *cluster);
    cluster->count = replicas ? CLUSTER_NODES : SHARDS;
    cluster->options = options;
    for (int i = 0; i < cluster->count; i++) {
        server_directory(&cluster->nodes[i]);
        if (before != NULL)
            before(&cluster->nodes[i], i);
        start_node(cluster, &cluster->nodes[i]);
        read_id(cluster, i);
        snprintf(words, sizeof words, "CLUSTER SET-CONFIG-EPOCH %d", i + 1);
        tell(&cluster->nodes[i], words);
    }
    for (int i = 0; i < SHARDS; i++) {
        snprintf(words, sizeof words, "CLUSTER ADDSLOTSRANGE %d %d", i * CLUSTER_SLOTS / SHARDS,
                 (i + 1) * CLUSTER_SLOTS / SHARDS - 1);
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

/* The answer of one node. */
static void read_slots(const struct cluster *cluster, int node, struct cluster_slots *slots)
{
    char *text = (char *)(size_t)server_say(&cluster->nodes[node], "CLUSTER NODES"), *lines, *words;

    memset(slots, -1, sizeof *slots);
    for (char *line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
        int owner = -1, first, last;
        for (int i = 0; i < cluster->count; i++)
            if (strncmp(line, cluster->ids[i], 40) == 0)
                owner = i;
        line = strstr(line, "connected"); /* or disconnected; then its slots */
        for (char *word = line ? strtok_r(line, " \r", &words) : NULL; word && owner >= 0;
             word = strtok_r(NULL, " \r", &words)) {
            int count = sscanf(word, "%d-%d", &first, &last);
            for (int slot = first; count >= 1 && slot <= (count == 2 ? last : first); slot++)
                slots->nodes[slot] = (signed char)owner;
        }
    }
}

static bool agree(const struct cluster *cluster, struct cluster_slots *slots)
{
    struct cluster_slots other;
    bool read = false;

    for (int i = 0; i < cluster->count; i++) {
        if (cluster->nodes[i].process == 0)
            continue;
        read_slots(cluster, i, read ? &other : slots);
        if (read && memcmp(slots, &other, sizeof other) != 0)
            return false;
        read = true;
    }
    return read;
}

void cluster_await_agreement(const struct cluster *cluster, struct cluster_slots *slots)
{
    int looks = 0;

    while (!agree(cluster, slots))
        look_again(&looks, "the nodes do not agree about their slots");
}

void cluster_begin_move(const struct cluster *cluster, int slot, int from, int to)
{
    char words[160];

    snprintf(words, sizeof words, "CLUSTER SETSLOT %d IMPORTING %s", slot, cluster->ids[from]);
    tell(&cluster->nodes[to], words);
    snprintf(words, sizeof words, "CLUSTER SETSLOT %d MIGRATING %s", slot, cluster->ids[to]);
    tell(&cluster->nodes[from], words);
}

void cluster_move_key(const struct cluster *cluster, const char *key, int from, int to)
{
    char words[1024];

    snprintf(words, sizeof words, "MIGRATE 127.0.0.1 %d \"%s\" 0 5000", cluster->nodes[to].port,
             key);
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
        cluster_move_key(cluster, name, from, to);
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

int cluster_twin(int node)
{
    return (node + SHARDS) % CLUSTER_NODES;
}

bool cluster_is_primary(const struct cluster *cluster, int node)
{
    return says(&cluster->nodes[node], "INFO replication", "role:master");
}

static bool is_promoted(const struct cluster *cluster, int node)
{
    return cluster_is_primary(cluster, node) &&
           says(&cluster->nodes[node], "CLUSTER INFO", "cluster_state:ok");
}

int cluster_kill(struct cluster *cluster, int node)
{
    int twin = cluster_twin(node), looks = 0;

    server_kill(&cluster->nodes[node], SIGKILL);
    while (!is_promoted(cluster, twin))
        look_again(&looks, "no replica was promoted");
    return twin;
}

/* Orders a replica to take over, again if that fails: the others may not have voted in time. */
static void order(const struct cluster *cluster, int replica, const char *words)
{
    int looks = 0;

    while (!is_promoted(cluster, replica)) {
        if (looks % ORDER_LOOKS == 0)
            (void)server_say(&cluster->nodes[replica], words);
        look_again(&looks, words);
    }
}

int cluster_kill_and_promote(struct cluster *cluster, int node)
{
    server_kill(&cluster->nodes[node], SIGKILL);
    order(cluster, cluster_twin(node), "CLUSTER FAILOVER TAKEOVER");
    return cluster_twin(node);
}

void cluster_revive(struct cluster *cluster, int node)
{
    const char *options[OPTIONS_MAX];
    int looks = 0;

    fill_options(cluster, options);
    server_restart(&cluster->nodes[node], options);
    while (!says(&cluster->nodes[node], "INFO replication", "master_link_status:up"))
        look_again(&looks, "a node does not come back as a replica");
    await_state(cluster);
}

int cluster_fail_over(struct cluster *cluster, int node)
{
    int twin = cluster_twin(node), looks = 0;

    order(cluster, twin, "CLUSTER FAILOVER");
    while (!says(&cluster->nodes[node], "INFO replication", "master_link_status:up"))
        look_again(&looks, "the former primary does not follow");
    return twin;
}
