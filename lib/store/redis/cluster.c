/*
 * cluster.c: see cluster.h.
 */
#include "store/redis/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

#define READ_EVERY_MS  1000 /* at most, and a random part more: */
#define READ_JITTER_MS 250
#define PAUSE_FIRST_MS 20
#define PAUSE_LAST_MS  200
#define TIDIES         6 /* looks for unused nodes, while one stays unused */
#define NEVER_MS       UINT64_MAX

static void schedule(takt_redis_cluster *cluster);

static uint64_t now_ms(const takt_redis_cluster *cluster)
{
    return uv_now(cluster->options.loop);
}

static takt_redis_node *node_at(const takt_link *link)
{
    return TAKT_HOLDER(link, takt_redis_node, link);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static takt_redis_node *add_node(takt_redis_cluster *cluster, int number,
                                 const takt_redis_address *address)
{
    takt_redis_node *node = takt_redis_node_new(&cluster->options, number, address);

    if (node != NULL)
        takt_list_append(&cluster->nodes, &node->link);
    return node;
}

/* The node at an address, made if necessary and connected; NULL: no memory. */
static takt_redis_node *connect_to(takt_redis_cluster *cluster, const takt_redis_address *address)
{
    takt_redis_node *found = NULL;

    for (takt_link *at = cluster->nodes.next; at != &cluster->nodes && !found; at = at->next)
        if (node_at(at) != cluster->home && takt_redis_address_same(&node_at(at)->address, address))
            found = node_at(at);
    if (found == NULL) {
        found = add_node(cluster, cluster->numbers + 1, address);
        cluster->numbers += found != NULL;
    }
    return found != NULL && takt_redis_node_connect(found) ? found : NULL;
}

static bool has_slots(const takt_redis_cluster *cluster, const takt_redis_node *node)
{
    for (int i = 0; i < cluster->map.shard_count; i++)
        if (takt_redis_address_same(&cluster->map.shards[i].primary, &node->address))
            return true;
    return false;
}

/* Whether a node that has slots is away. */
static bool is_short(const takt_redis_cluster *cluster)
{
    for (takt_link *at = cluster->nodes.next; at != &cluster->nodes; at = at->next)
        if (node_at(at)->lost && node_at(at) != cluster->home && has_slots(cluster, node_at(at)))
            return true;
    return false;
}

static bool is_unused(const takt_redis_cluster *cluster, takt_redis_node *node)
{
    if (node->connection == NULL || node == cluster->read_from ||
        takt_redis_connection_oldest(node->connection) != NULL || !takt_list_empty(&node->waiting))
        return false;
    if (node->hints != NULL && takt_hints_drop_idle(node->hints) > 0)
        return false;
    return now_ms(cluster) - node->used_ms >= cluster->options.unused_ms;
}

/* Closes unused nodes. */
static void tidy(takt_redis_cluster *cluster)
{
    cluster->tidy_ms = now_ms(cluster) + cluster->options.unused_ms / TIDIES;
    for (takt_link *at = cluster->nodes.next; at != &cluster->nodes; at = at->next)
        if (is_unused(cluster, node_at(at)))
            (void)takt_redis_node_close(node_at(at));
}

/* ---- the map --------------------------------------------------------------------------------- */

/* Nodes without slots have no ledgers, and lost ones among them are not waited for. The home node
 * has the number of a store whose map is not read. */
static void leave_gone(takt_redis_cluster *cluster)
{
    for (takt_link *at = cluster->nodes.next; at != &cluster->nodes; at = at->next) {
        takt_redis_node *node = node_at(at);
        if (node != cluster->home && has_slots(cluster, node))
            continue;
        if (node != cluster->home && node->lost)
            (void)takt_redis_node_close(node);
        cluster->events->gone(cluster->options.data, node->number);
    }
    if (cluster->nowhere != 0 && cluster->map.covered == TAKT_REDIS_SLOTS)
        cluster->events->gone(cluster->options.data, cluster->nowhere);
}

static void end_reading(takt_redis_cluster *cluster)
{
    cluster->read_from = NULL;
    cluster->not_before_ms = now_ms(cluster) + READ_EVERY_MS +
                             (uint64_t)takt_random_below(&cluster->random, READ_JITTER_MS);
}

static void on_read(takt_redis_command *command, const takt_reply *reply, int code)
{
    takt_redis_cluster *cluster = command->data;
    takt_redis_node *asked = cluster->read_from;

    (void)code;
    if (cluster->closing)
        return;
    end_reading(cluster);
    if (reply == NULL) {
        cluster->wanted = true;
    } else if (takt_redis_slot_map_read(&cluster->map, reply, &asked->address) == 0) {
        cluster->mapped = true;
        cluster->wanted = is_short(cluster);
        cluster->events->changed(cluster->options.data);
        leave_gone(cluster);
    } else if (reply->type == TAKT_REPLY_ERROR) {
        /* without the right to ask, redirections tell the way, from home on */
        takt_redis_slot_map_close(&cluster->map);
        cluster->mapped = false;
    }
    schedule(cluster);
}

/* A ready node, any of them; NULL: there is none. */
static takt_redis_node *choose_ready(takt_redis_cluster *cluster)
{
    takt_redis_node *chosen = NULL;
    int count = 0;

    for (takt_link *at = cluster->nodes.next; at != &cluster->nodes; at = at->next)
        if (takt_redis_node_ready(node_at(at)) && takt_random_below(&cluster->random, ++count) == 0)
            chosen = node_at(at);
    return chosen;
}

/* Without a node that can be asked, one of the URL is connected to, which asks again when it is
 * ready. */
static void read_map(takt_redis_cluster *cluster)
{
    static const char *const words[] = {"CLUSTER", "SLOTS"};
    static const size_t sizes[] = {7, 5};
    takt_redis_node *node = choose_ready(cluster);

    if (node == NULL) {
        (void)takt_redis_node_connect(cluster->home);
        return;
    }
    cluster->reading.answered = on_read;
    cluster->reading.data = cluster;
    if (!takt_redis_connection_send(node->connection, &cluster->reading, 2, words, sizes)) {
        end_reading(cluster);
        return;
    }
    cluster->read_from = node;
    cluster->wanted = false;
    cluster->read_until_ms = now_ms(cluster) + cluster->options.timeout_ms;
}

void takt_redis_cluster_doubt(takt_redis_cluster *cluster)
{
    if (!cluster->found || cluster->closing)
        return;
    cluster->wanted = true;
    schedule(cluster);
}

void takt_redis_cluster_ready(takt_redis_cluster *cluster)
{
    if (cluster->wanted)
        schedule(cluster);
}

takt_redis_node *takt_redis_cluster_node_of(takt_redis_cluster *cluster, const char *key,
                                            size_t size)
{
    const takt_redis_address *address;
    bool one = !cluster->found;

    address = one ? NULL : takt_redis_slot_map_find(&cluster->map, takt_redis_slot(key, size));
    if (address != NULL)
        return connect_to(cluster, address);
    if (!one && cluster->mapped)
        return NULL;
    return takt_redis_node_connect(cluster->home) ? cluster->home : NULL;
}

/* A number for ledgers without a node, made at its first use. */
static int number_of_none(takt_redis_cluster *cluster, int *number)
{
    if (*number == 0)
        *number = ++cluster->numbers;
    return *number;
}

int takt_redis_cluster_nowhere(takt_redis_cluster *cluster)
{
    return number_of_none(cluster, &cluster->nowhere);
}

int takt_redis_cluster_between(takt_redis_cluster *cluster)
{
    return number_of_none(cluster, &cluster->between);
}

takt_redis_node *takt_redis_cluster_redirect(takt_redis_cluster *cluster,
                                             const takt_redis_redirection *redirection)
{
    cluster->found = true;
    if (!redirection->ask) {
        if (!takt_redis_slot_map_set(&cluster->map, redirection->slot, &redirection->node))
            return NULL;
        takt_redis_cluster_whole(cluster, redirection->slot);
        takt_redis_cluster_doubt(cluster);
    }
    return connect_to(cluster, &redirection->node);
}

/* ---- pauses ---------------------------------------------------------------------------------- */

static void pause_until(takt_redis_cluster *cluster, takt_redis_pause *pause, int slot,
                        uint64_t until_ms)
{
    pause->count++;
    pause->slot = slot;
    pause->until_ms = until_ms;
    takt_list_remove(&pause->link);
    takt_list_append(&cluster->pausing, &pause->link);
    cluster->found = true;
    takt_redis_cluster_doubt(cluster);
}

void takt_redis_cluster_pause(takt_redis_cluster *cluster, takt_redis_pause *pause)
{
    uint64_t pause_ms = PAUSE_LAST_MS;

    if (pause->count < 4)
        pause_ms = (uint64_t)PAUSE_FIRST_MS << pause->count;
    pause_until(cluster, pause, -1,
                now_ms(cluster) + pause_ms +
                    (uint64_t)takt_random_below(&cluster->random, (int64_t)pause_ms / 4 + 1));
}

void takt_redis_cluster_pause_split(takt_redis_cluster *cluster, takt_redis_pause *pause, int slot,
                                    int64_t workers)
{
    pause_until(cluster, pause, slot,
                takt_redis_splits_add(&cluster->splits, slot, workers, now_ms(cluster)));
}

bool takt_redis_cluster_holds(takt_redis_cluster *cluster, takt_redis_pause *pause, int slot)
{
    uint64_t due_ms;

    if (!takt_redis_splits_hold(&cluster->splits, slot, now_ms(cluster), &due_ms))
        return false;
    pause_until(cluster, pause, slot, due_ms);
    return true;
}

static takt_redis_pause *pause_at(const takt_link *link)
{
    return TAKT_HOLDER(link, takt_redis_pause, link);
}

void takt_redis_cluster_whole(takt_redis_cluster *cluster, int slot)
{
    if (!takt_redis_splits_end(&cluster->splits, slot))
        return;
    for (takt_link *at = cluster->pausing.next; at != &cluster->pausing; at = at->next)
        if (pause_at(at)->slot == slot)
            pause_at(at)->until_ms = now_ms(cluster);
    schedule(cluster);
    if (cluster->splits.count == 0 && cluster->between != 0)
        cluster->events->gone(cluster->options.data, cluster->between);
}

static void resume(takt_redis_cluster *cluster)
{
    takt_link due;

    takt_list_init(&due);
    for (takt_link *at = cluster->pausing.next, *next; at != &cluster->pausing; at = next) {
        next = at->next;
        if (pause_at(at)->until_ms > now_ms(cluster))
            continue;
        takt_list_remove(at);
        takt_list_append(&due, at);
    }
    while (!takt_list_empty(&due)) {
        takt_link *first = due.next;
        takt_list_remove(first);
        pause_at(first)->slot = -1;
        cluster->events->resumed(cluster->options.data, first);
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static void on_timer(uv_timer_t *timer)
{
    takt_redis_cluster *cluster = timer->data;
    takt_redis_node *asked = cluster->read_from;

    if (asked != NULL && now_ms(cluster) >= cluster->read_until_ms)
        takt_redis_connection_leave(asked->connection, true, TAKT_E_STORE_TIMEOUT,
                                    "it does not answer in time");
    if (cluster->wanted && cluster->read_from == NULL && now_ms(cluster) >= cluster->not_before_ms)
        read_map(cluster);
    resume(cluster);
    if (!cluster->closing && now_ms(cluster) >= cluster->tidy_ms)
        tidy(cluster);
    schedule(cluster);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void schedule(takt_redis_cluster *cluster)
{
    uint64_t due_ms = cluster->tidy_ms, now = now_ms(cluster);

    if (cluster->closing || !cluster->found)
        return;
    if (cluster->read_from != NULL)
        due_ms = earlier(due_ms, cluster->read_until_ms);
    else if (cluster->wanted && (choose_ready(cluster) || cluster->home->connection == NULL))
        due_ms = earlier(due_ms, cluster->not_before_ms);
    for (takt_link *at = cluster->pausing.next; at != &cluster->pausing; at = at->next)
        due_ms = earlier(due_ms, pause_at(at)->until_ms);
    uv_timer_start(&cluster->timer, on_timer, due_ms > now ? due_ms - now : 0, 0);
}

/* ---- opening and closing --------------------------------------------------------------------- */

int takt_redis_cluster_open(takt_redis_cluster *cluster, const takt_redis_cluster_events *events)
{
    const takt_redis_url *url = cluster->options.url;
    takt_redis_address address = {.port = url->port};

    memcpy(address.host, url->host, sizeof address.host);
    if (url->transport == TAKT_REDIS_UNIX)
        strcpy(address.host, "127.0.0.1"); /* where the other nodes of this host are */
    cluster->events = events;
    cluster->random = uv_hrtime() ^ (uint64_t)(uintptr_t)cluster;
    takt_list_init(&cluster->nodes);
    takt_list_init(&cluster->pausing);
    takt_redis_splits_init(&cluster->splits, cluster->random);
    cluster->home = add_node(cluster, 0, &address);
    if (cluster->home == NULL || !takt_redis_node_connect(cluster->home)) {
        takt_redis_cluster_free(cluster);
        return TAKT_E_NOMEM;
    }
    uv_timer_init(cluster->options.loop, &cluster->timer);
    uv_unref((uv_handle_t *)&cluster->timer);
    cluster->timer.data = cluster;
    return 0;
}

int takt_redis_cluster_close(takt_redis_cluster *cluster)
{
    int left = 0;

    cluster->closing = true;
    uv_timer_stop(&cluster->timer);
    for (takt_link *at = cluster->nodes.next; at != &cluster->nodes; at = at->next)
        left += takt_redis_node_close(node_at(at));
    return left;
}

void takt_redis_cluster_free(takt_redis_cluster *cluster)
{
    while (!takt_list_empty(&cluster->nodes)) {
        takt_redis_node *node = node_at(cluster->nodes.next);
        takt_list_remove(&node->link);
        takt_redis_node_free(node);
    }
    takt_redis_slot_map_close(&cluster->map);
}
