/*
 * redis_cluster.c: see redis_cluster.h. Asks one node after the other; a node that does not answer
 * is a warning, since takt uses the others meanwhile.
 */
#include "doctor/redis_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time_text.h"
#include "doctor/redis_ask.h"
#include "redis/slot_map.h"
#include "store/record.h"

#define APART_US    INT64_C(100000) /* a smaller difference of clocks is ignored */
#define FAR_US      INT64_C(1000000)
#define SETTING_MAX 16
#define NAMES_SIZE  400

struct node {
    takt_redis_address address;
    int primary; /* the index of its primary: its own if it is one */
    int slots;   /* of a primary */
    /* Between which values its clock is ahead of ours. */
    int64_t ahead_least_us, ahead_most_us;
    bool timed;
    char min_replicas[SETTING_MAX]; /* "": not read */
};

struct cluster {
    takt_checkup *checkup;
    const takt_redis_url *url;
    takt_tls_trust *trust;
    takt_redis_url *node_url; /* of the node that is asked: too large for some stacks */
    takt_redis_address home;
    struct node *nodes;
    int count, slots;
    bool no_memory, no_address, mapped, may_not_map, may_not_ask;
    char coverage[SETTING_MAX]; /* cluster-require-full-coverage; "": not read */
    struct node *asked;
    int64_t asked_at_us;
};

/* ---- answers --------------------------------------------------------------------------------- */

static bool is_refused(const takt_reply *reply)
{
    return reply->type == TAKT_REPLY_ERROR && reply->size >= 6 &&
           memcmp(reply->text, "NOPERM", 6) == 0;
}

/* The node at an address, added if necessary; NULL: no memory, or too many. */
static struct node *node_at(struct cluster *cluster, const takt_redis_address *address)
{
    struct node *nodes;

    for (int i = 0; i < cluster->count; i++)
        if (takt_redis_address_same(&cluster->nodes[i].address, address))
            return &cluster->nodes[i];
    nodes = cluster->count < TAKT_REDIS_NODES_MAX
                ? realloc(cluster->nodes, ((size_t)cluster->count + 1) * sizeof *nodes)
                : NULL;
    if (nodes == NULL)
        return NULL;
    cluster->nodes = nodes;
    nodes += cluster->count;
    *nodes = (struct node){.address = *address, .primary = cluster->count++};
    return nodes;
}

/* [FIRST, LAST, PRIMARY, REPLICA...] */
static void read_range(struct cluster *cluster, const takt_reply *range)
{
    const takt_reply *at = range + 3;
    int primary = -1;

    if (range->type != TAKT_REPLY_ARRAY || range->count < 3 ||
        range[1].type != TAKT_REPLY_INTEGER || range[2].type != TAKT_REPLY_INTEGER)
        return;
    for (int i = 2; i < range->count; i++, at = takt_reply_after(at)) {
        takt_redis_address address;
        struct node *node;
        if (!takt_redis_slot_node_read(&address, at, &cluster->home)) {
            cluster->no_address = true;
            return;
        }
        node = node_at(cluster, &address);
        if (node == NULL) {
            cluster->no_memory = true;
            return;
        }
        if (i == 2)
            primary = (int)(node - cluster->nodes);
        node->primary = primary;
    }
    cluster->nodes[primary].slots += (int)(range[2].integer - range[1].integer) + 1;
    cluster->slots += (int)(range[2].integer - range[1].integer) + 1;
}

static void on_slots(void *data, const takt_reply *reply)
{
    struct cluster *cluster = data;
    const takt_reply *range = reply + 1;

    cluster->may_not_map = is_refused(reply);
    if (reply->type != TAKT_REPLY_ARRAY)
        return;
    cluster->mapped = true;
    for (int i = 0; i < reply->count; i++, range = takt_reply_after(range))
        read_range(cluster, range);
}

static void on_asking(void *data, const takt_reply *reply)
{
    ((struct cluster *)data)->may_not_ask = is_refused(reply);
}

/* ["NAME", "VALUE"]: the value, if it is a plain word. */
static void read_setting(const takt_reply *reply, char value[SETTING_MAX])
{
    if (reply->type == TAKT_REPLY_ARRAY && reply->count == 2 &&
        reply[2].type == TAKT_REPLY_STRING && reply[2].size < SETTING_MAX &&
        strspn(reply[2].text, "abcdefghijklmnopqrstuvwxyz0123456789") == reply[2].size)
        memcpy(value, reply[2].text, reply[2].size + 1);
}

static void on_coverage(void *data, const takt_reply *reply)
{
    read_setting(reply, ((struct cluster *)data)->coverage);
}

static void on_min_replicas(void *data, const takt_reply *reply)
{
    read_setting(reply, ((struct cluster *)data)->asked->min_replicas);
}

/* ["SECONDS", "MICROSECONDS"]: read by the node at some moment since it was asked. */
static void on_time(void *data, const takt_reply *reply)
{
    struct cluster *cluster = data;
    struct node *node = cluster->asked;
    int64_t told_us;

    if (reply->type != TAKT_REPLY_ARRAY || reply->count != 2 ||
        reply[1].type != TAKT_REPLY_STRING || reply[2].type != TAKT_REPLY_STRING)
        return;
    told_us = strtoll(reply[1].text, NULL, 10) * 1000000 + strtoll(reply[2].text, NULL, 10);
    node->ahead_least_us = told_us - takt_record_clock_us();
    node->ahead_most_us = told_us - cluster->asked_at_us;
    node->timed = true;
}

/* ---- telling --------------------------------------------------------------------------------- */

static void tell_slots(struct cluster *cluster)
{
    takt_checkup *checkup = cluster->checkup;
    int shards = 0, left = TAKT_REDIS_SLOTS - cluster->slots;
    bool partly = strcmp(cluster->coverage, "no") == 0 && cluster->slots > 0;

    for (int i = 0; i < cluster->count; i++)
        shards += cluster->nodes[i].slots > 0;
    if (left == 0)
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "cluster",
                          "nodes: %d, in %d shards that have all %d slots; the findings about the "
                          "server are those of this node",
                          cluster->count, shards, TAKT_REDIS_SLOTS);
    else if (cluster->slots == 0)
        takt_checkup_fail(checkup, TAKT_E_STORE, "cluster",
                          "no slot has a node: the cluster was not created; run redis-cli "
                          "--cluster create with the addresses of its nodes, or for a single node "
                          "there: CLUSTER ADDSLOTSRANGE 0 %d",
                          TAKT_REDIS_SLOTS - 1);
    else if (partly)
        takt_checkup_tell(checkup, TAKT_FINDING_WARNING, "cluster",
                          "%d of %d slots have no node: their limits wait; run redis-cli "
                          "--cluster fix HOST:PORT",
                          left, TAKT_REDIS_SLOTS);
    else
        takt_checkup_fail(checkup, TAKT_E_STORE, "cluster",
                          "%d of %d slots have no node, so the nodes refuse calls; run redis-cli "
                          "--cluster fix HOST:PORT",
                          left, TAKT_REDIS_SLOTS);
}

static void tell_coverage(const struct cluster *cluster)
{
    takt_checkup *checkup = cluster->checkup;

    if (strcmp(cluster->coverage, "yes") == 0)
        takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "coverage",
                          "cluster-require-full-coverage is yes: while one shard has no node, all "
                          "nodes refuse work; to keep the limits of other shards at work run on "
                          "each node: CONFIG SET cluster-require-full-coverage no");
    else if (strcmp(cluster->coverage, "no") == 0)
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "coverage",
                          "cluster-require-full-coverage is no: while one shard has no node, the "
                          "limits of the others stay at work");
    else
        takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "coverage",
                          "this user may not run CONFIG; check with redis-cli CONFIG GET "
                          "cluster-require-full-coverage: with yes, the default, all nodes refuse "
                          "work while one shard has no node");
}

/* The addresses of a primary's replicas, as many as there is room for; returns how many it has. */
static int name_replicas(const struct cluster *cluster, int primary, char names[NAMES_SIZE])
{
    size_t size = 0;
    int count = 0;

    names[0] = '\0';
    for (int i = 0; i < cluster->count; i++) {
        const takt_redis_address *address = &cluster->nodes[i].address;
        if (i == primary || cluster->nodes[i].primary != primary)
            continue;
        count++;
        if (size < NAMES_SIZE)
            size += (size_t)snprintf(names + size, NAMES_SIZE - size, "%s%s:%d",
                                     count > 1 ? ", " : "", address->host, address->port);
    }
    return count;
}

static void tell_shard(const struct cluster *cluster, int primary)
{
    const struct node *node = &cluster->nodes[primary];
    int wanted = cluster->url->replicas;
    char names[NAMES_SIZE], setting[SETTING_MAX + 40] = "";
    int replicas = name_replicas(cluster, primary, names);

    if (node->min_replicas[0] != '\0')
        snprintf(setting, sizeof setting, "; min-replicas-to-write is %s", node->min_replicas);
    if (replicas < wanted)
        takt_checkup_fail(cluster->checkup, TAKT_E_STORE, "shard",
                          "%s:%d has %d slots and %d replicas, and replicas=%d in the URL waits "
                          "for %d: no award of it can be used",
                          node->address.host, node->address.port, node->slots, replicas, wanted,
                          wanted);
    else if (replicas == 0)
        takt_checkup_tell(cluster->checkup, TAKT_FINDING_NOTE, "shard",
                          "%s:%d has %d slots and no replica: if it fails, its limits wait until "
                          "it is back%s",
                          node->address.host, node->address.port, node->slots, setting);
    else
        takt_checkup_tell(cluster->checkup, TAKT_FINDING_GOOD, "shard",
                          "%s:%d has %d slots; replicas: %s%s", node->address.host,
                          node->address.port, node->slots, names, setting);
}

static void tell_failover(const struct cluster *cluster)
{
    int wanted = cluster->url->replicas;
    bool has_replicas = false;

    for (int i = 0; i < cluster->count; i++)
        has_replicas |= cluster->nodes[i].primary != i;
    if (wanted > 0)
        takt_checkup_tell(cluster->checkup, TAKT_FINDING_GOOD, "failover",
                          "an award waits for %d of its shard's replicas: a failover to one of "
                          "these loses none",
                          wanted);
    else if (has_replicas)
        takt_checkup_tell(cluster->checkup, TAKT_FINDING_NOTE, "failover",
                          "awards do not wait for replicas: a failover loses what they have not "
                          "received yet, and each limit of the shard then lets that much pass "
                          "again, at most one burst more; replicas=1 in the URL prevents that");
}

/* How far the clocks of two nodes differ at least, as of all nodes that were asked. */
static void tell_clocks(const struct cluster *cluster)
{
    const struct node *first = NULL, *last = NULL; /* surely behind, surely ahead */
    char span[TAKT_SPAN_SIZE];
    int64_t apart_us;

    for (int i = 0; i < cluster->count; i++) {
        const struct node *node = &cluster->nodes[i];
        if (!node->timed)
            continue;
        first = first == NULL || node->ahead_most_us < first->ahead_most_us ? node : first;
        last = last == NULL || node->ahead_least_us > last->ahead_least_us ? node : last;
    }
    if (first == NULL)
        return;
    apart_us = last->ahead_least_us - first->ahead_most_us;
    if (apart_us > APART_US)
        takt_checkup_tell(cluster->checkup,
                          apart_us > FAR_US ? TAKT_FINDING_WARNING : TAKT_FINDING_NOTE, "clocks",
                          "%s:%d is at least %s ahead of %s:%d: a ledger that moves between them, "
                          "by a failover or with its slot, sees its clock jump by as much; "
                          "synchronize the clocks of all nodes",
                          last->address.host, last->address.port,
                          takt_format_rough_span(apart_us, span), first->address.host,
                          first->address.port);
    else
        takt_checkup_tell(cluster->checkup, TAKT_FINDING_GOOD, "clocks",
                          "those of all nodes agree");
}

static void tell_rights(const struct cluster *cluster)
{
    if (cluster->may_not_map)
        takt_checkup_tell(cluster->checkup, TAKT_FINDING_WARNING, "cluster",
                          "it is a node of a cluster, and this user may not ask for the slots: "
                          "takt finds each slot by a redirection, and the replica of a dead "
                          "primary late; grant it: ACL SETUSER USER +cluster|slots");
    if (cluster->may_not_ask)
        takt_checkup_tell(cluster->checkup, TAKT_FINDING_WARNING, "cluster",
                          "calls wait while their slot moves: grant this user, on each node: ACL "
                          "SETUSER USER +asking");
}

static void warn_of_node(takt_checkup *checkup, const takt_error *error)
{
    takt_checkup_tell(
        checkup, TAKT_FINDING_WARNING, "node",
        "%s; takt uses the other nodes meanwhile, and connects to each at the address "
        "that it announces",
        error->text);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void ask_node(struct cluster *cluster, struct node *node)
{
    static const takt_redis_question questions[] = {
        {{"TIME"}, on_time},
        {{"CONFIG", "GET", "min-replicas-to-write"}, on_min_replicas},
    };
    takt_error error;

    cluster->asked = node;
    takt_redis_ask_at(cluster->node_url, cluster->url, &node->address);
    cluster->asked_at_us = takt_record_clock_us();
    if (takt_redis_ask(cluster->node_url, cluster->trust, cluster->checkup->timeout_us, questions,
                       2, cluster, &error) < 0)
        warn_of_node(cluster->checkup, &error);
}

static void ask_all(struct cluster *cluster)
{
    static const takt_redis_question questions[] = {
        {{"CLUSTER", "SLOTS"}, on_slots},
        {{"CONFIG", "GET", "cluster-require-full-coverage"}, on_coverage},
        {{"ASKING"}, on_asking},
    };
    takt_checkup *checkup = cluster->checkup;
    takt_error error;
    int code = takt_redis_ask(cluster->url, cluster->trust, checkup->timeout_us, questions, 3,
                              cluster, &error);

    if (code < 0 || cluster->no_memory) {
        takt_checkup_fail(checkup, code < 0 ? code : TAKT_E_NOMEM, "cluster", "%s",
                          code < 0 ? error.text : "no memory for its nodes");
        return;
    }
    tell_rights(cluster);
    if (cluster->no_address)
        takt_checkup_tell(checkup, TAKT_FINDING_WARNING, "cluster",
                          "CLUSTER SLOTS names a node without a port or a valid host, so takt uses "
                          "the node of this URL alone; a node that listens on a Unix socket alone "
                          "needs `port` in its redis.conf, or ?cluster=no in the URL if it is the "
                          "only one");
    if (!cluster->mapped || cluster->no_address)
        return;
    tell_slots(cluster);
    tell_coverage(cluster);
    for (int i = 0; i < cluster->count; i++)
        ask_node(cluster, &cluster->nodes[i]);
    for (int i = 0; i < cluster->count; i++)
        if (cluster->nodes[i].slots > 0)
            tell_shard(cluster, i);
    tell_failover(cluster);
    tell_clocks(cluster);
}

void takt_redis_cluster_choose(takt_checkup *checkup, takt_redis_url *url, takt_tls_trust *trust)
{
    takt_redis_url *node = malloc(sizeof *node); /* too large for some stacks */
    takt_error errors[TAKT_REDIS_SEEDS_MAX];
    int chosen = 0;

    while (node && chosen < url->seed_count) {
        takt_redis_ask_at(node, url, &url->seeds[chosen]);
        if (takt_redis_ask(node, trust, checkup->timeout_us, NULL, 0, NULL, &errors[chosen]) == 0)
            break;
        chosen++;
    }
    if (node && chosen < url->seed_count) {
        memcpy(url->host, url->seeds[chosen].host, sizeof url->host);
        url->port = url->seeds[chosen].port;
        for (int i = 0; i < chosen; i++)
            warn_of_node(checkup, &errors[i]);
    }
    if (node)
        takt_redis_url_close(node);
    free(node);
}

void takt_redis_cluster_examine(takt_checkup *checkup, const takt_redis_url *url,
                                takt_tls_trust *trust)
{
    struct cluster cluster = {.checkup = checkup, .url = url, .trust = trust};

    cluster.node_url = malloc(sizeof *cluster.node_url);
    if (cluster.node_url == NULL) {
        takt_checkup_fail(checkup, TAKT_E_NOMEM, "cluster", "no memory");
        return;
    }
    snprintf(cluster.home.host, sizeof cluster.home.host, "%s",
             url->transport == TAKT_REDIS_UNIX ? "127.0.0.1" : url->host);
    cluster.home.port = url->port;
    ask_all(&cluster);
    takt_redis_url_close(cluster.node_url);
    free(cluster.node_url);
    free(cluster.nodes);
}
