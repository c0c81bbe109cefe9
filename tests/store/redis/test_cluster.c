/*
 * test_cluster.c: the store over a real cluster: every call reaches the node that has its ledger,
 * whatever happens to slots and nodes, and hints follow the slots.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/client.h"
#include "store/redis/cluster.h"
#include "store/redis/key.h"
#include "store/rig.h"

#define TIMEOUT_US INT64_C(20000000)

static struct cluster cluster;
static struct rig rig;

static void open_at(const char *url, int64_t timeout_us)
{
    takt_error error = {0};

    cr_assert_eq(rig_try_open(&rig, url, "test", timeout_us, &error), 0, "%s", error.text);
}

static void start(bool replicas)
{
    cluster_start(&cluster, replicas, NULL);
    open_at(cluster.url, TIMEOUT_US);
}

static void stop(void)
{
    rig_close(&rig);
    cluster_stop(&cluster);
}

static int slot_of(const char *limit, const char *key)
{
    char name[TAKT_REDIS_KEY_SIZE];

    takt_redis_key(name, "test", limit, key, "");
    return cluster_slot(&cluster, name);
}

/* How often the nodes were asked for the map. */
static int readings(void)
{
    int count = 0, more;

    for (int i = 0; i < cluster.count; i++) {
        const char *found = cluster.nodes[i].process == 0
                                ? NULL
                                : strstr(server_say(&cluster.nodes[i], "INFO commandstats"),
                                         "cmdstat_cluster|slots:calls=");
        if (found && sscanf(strchr(found, '='), "=%d", &more) == 1)
            count += more;
    }
    return count;
}

/* Calls of every kind about many ledgers: no caller sees that they are on three nodes, and the map
 * is asked for once. */
Test(cluster, ledgers_on_all_nodes, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    int owners = 0, numbers[200], seen[64] = {0}, servers = 0;

    start(false);
    for (int round = 0; round < 3; round++)
        cr_expect_eq(rig_take_each(&rig, &limit, 0, 200, 0), 200);
    for (int i = 0; i < 200; i++) {
        struct rig_call call;
        char key[16];
        snprintf(key, sizeof key, "key-%d", i);
        owners |= 1 << cluster_owner(&cluster, slot_of("a", key));
        rig_call_init(&call, TAKT_OP_PEEK, &limit, key);
        cr_assert_eq(rig_run(&rig, &call), 0);
        cr_expect_eq(call.call.standing.remaining, 7);
        numbers[i] = call.call.server;
        cr_assert(numbers[i] > 0 && numbers[i] < 64, "%d", numbers[i]);
        servers += seen[numbers[i]]++ == 0;
    }
    cr_expect_eq(owners, 7);
    cr_expect_eq(servers, 3, "each node has a number of its own");
    cr_expect_eq(readings(), 1);
    stop();
}

/* One server of the cluster is enough, also by its socket; and the URL may say otherwise. */
Test(cluster, seeds, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    char url[256];
    int refused;

    cluster_start(&cluster, false, NULL);
    open_at(cluster.nodes[1].url, TIMEOUT_US);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 50, 0), 50);
    rig_close(&rig);

    snprintf(url, sizeof url, "%s?cluster=no", cluster.nodes[1].url);
    open_at(url, TIMEOUT_US);
    refused = rig_take_each(&rig, &limit, 0, 50, TAKT_E_STORE);
    cr_expect(refused > 20 && refused < 50, "%d", refused);
    cr_expect_not_null(
        strstr(rig.store->trouble ? rig.store->trouble : "cluster=no", "cluster=no"));
    rig_close(&rig);

    snprintf(url, sizeof url, "redis://127.0.0.1:%d,127.0.0.1:%d", free_port(),
             cluster.nodes[2].port);
    open_at(url, TIMEOUT_US);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 50, 0), 50, "the first one is not there");
    rig_close(&rig);

    snprintf(url, sizeof url, "redis://127.0.0.1:%d/3", cluster.nodes[2].port);
    open_at(url, TIMEOUT_US);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), TAKT_E_STORE_ACCESS);
    cr_expect_not_null(strstr(rig.store->trouble, "leave the number out"), "%s",
                       rig.store->trouble);
    stop();
}

/* Slots move: nothing is lost, nothing is taken twice, and the map is not asked for all the time.
 */
Test(cluster, slots_that_move, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    int before;

    start(false);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 40, 0), 40);
    before = readings();
    for (int i = 0; i < 40; i++) {
        char key[16];
        int slot, from;
        snprintf(key, sizeof key, "key-%d", i);
        slot = slot_of("a", key);
        from = cluster_owner(&cluster, slot);
        if (from != 0)
            cluster_move(&cluster, slot, from, 0);
        cr_expect_eq(rig_try(&rig, &limit, key, 1), 0);
        cr_expect_eq(rig_peek(&rig, &limit, key).remaining, 98);
    }
    cr_expect(readings() - before <= 12, "%d readings", readings() - before);
    stop();
}

/* The slot is between two nodes: calls are served as long as a node can, and wait otherwise. */
Test(cluster, a_slot_on_its_way, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    struct rig_call call;
    int slot, from, to;

    start(false);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    slot = slot_of("a", "k");
    from = cluster_owner(&cluster, slot);
    to = (from + 1) % SHARDS;
    cluster_begin_move(&cluster, slot, from, to);
    cluster_move_keys(&cluster, slot, from, to); /* the ledger is at the other node already */
    rig_call_init(&call, TAKT_OP_TRY, &limit, "k");
    rig_submit(&rig, &call);
    for (int turns = 0; turns < 20; turns++)
        uv_run(&rig.loop, UV_RUN_ONCE);
    cr_expect_eq(call.done, 0, "the node cannot answer about keys that are not there");
    cluster_end_move(&cluster, slot, from, to);
    rig_wait(&rig, &call);
    cr_expect_eq(call.call.status, 0, "%s", takt_strerror(call.call.status));
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 98);
    stop();
}

/* A primary dies: its ledgers are used again, on the replica; the others never notice. */
Test(cluster, a_primary_dies, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    int kept = 0;

    start(true);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 60, 0), 60);
    for (int i = 0; i < SHARDS; i++) /* what was taken is at the replicas */
        server_say(&cluster.nodes[i], "WAIT 1 5000");
    cr_expect_eq(cluster_kill(&cluster, 0), SHARDS);
    for (int i = 0; i < 60; i++) {
        char key[16];
        int status = 0;
        uint64_t until_ns = uv_hrtime() + UINT64_C(20000000000);
        snprintf(key, sizeof key, "key-%d", i);
        while ((status = rig_try(&rig, &limit, key, 1)) == TAKT_E_STORE && uv_hrtime() < until_ns)
            uv_run(&rig.loop, UV_RUN_NOWAIT);
        cr_expect_eq(status, 0, "%s", takt_strerror(status));
        kept += rig_peek(&rig, &limit, key).remaining == 98;
    }
    cr_expect_eq(kept, 60);
    stop();
}

/* All nodes but one are gone: what has no node is said so after the time-out. */
Test(cluster, slots_without_a_node, .timeout = 60)
{
    const char *const options[] = {"--cluster-require-full-coverage", "no", NULL};
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    struct server *first = &cluster.nodes[0];
    char words[64];
    int failed;

    cluster_start(&cluster, false, options);
    for (int i = 0; i < SHARDS; i++) {
        snprintf(words, sizeof words, "CLUSTER DELSLOTSRANGE 0 %d", 16384 / SHARDS - 1);
        server_say(&cluster.nodes[i], words);
    }
    open_at(cluster.nodes[2].url, 1500000);
    failed = rig_take_each(&rig, &limit, 0, 60, TAKT_E_STORE);
    cr_expect(failed > 5 && failed < 40, "%d", failed);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 60, 0), 60 - failed);
    snprintf(words, sizeof words, "CLUSTER ADDSLOTSRANGE 0 %d", 16384 / SHARDS - 1);
    server_say(first, words);
    rig_close(&rig);
    open_at(cluster.nodes[2].url, TIMEOUT_US);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 60, 0), 60, "they are served again");
    stop();
}

static void count_found(void *data, const char *limit, const char *key, const char *text,
                        size_t size)
{
    (void)key;
    cr_expect_str_eq(limit, "a");
    cr_expect(text[0] == 'g' && size > 10);
    ++*(int *)data;
}

/* The ledgers of all nodes are listed, whatever node is asked. */
Test(cluster, ledgers_are_listed, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    takt_store_options options = {.name_space = "test", .timeout_us = TIMEOUT_US};
    takt_error error = {0};
    int found = 0;

    start(false);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 90, 0), 90);
    cr_expect_eq(takt_store_list(cluster.url, &options, 1000, count_found, &found, &error), 0, "%s",
                 error.text);
    cr_expect_eq(found, 90);
    found = 0;
    cr_expect_eq(takt_store_list(cluster.nodes[1].url, &options, 1000, count_found, &found, &error),
                 0);
    cr_expect_eq(found, 90);
    stop();
}

struct talk {
    takt_redis *redis;
    takt_redis_command command;
    int ready, answers, errors;
};

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    struct talk *talk = command->data;
    takt_error error;

    (void)code;
    talk->answers += reply != NULL && reply->type != TAKT_REPLY_ERROR;
    talk->errors += reply != NULL && reply->type == TAKT_REPLY_ERROR;
    if (reply != NULL && reply->type == TAKT_REPLY_ERROR)
        takt_redis_refused(talk->redis, reply, &error);
}

static void on_ready(void *data)
{
    ((struct talk *)data)->ready++;
}

static void say_get(struct talk *talk, const char *key)
{
    const char *words[] = {"GET", key};

    talk->command = (takt_redis_command){.answered = on_answered, .data = talk};
    cr_assert_eq(takt_redis_send(talk->redis, &talk->command, 2, words, NULL), 0);
    for (int before = talk->answers + talk->errors; before == talk->answers + talk->errors;)
        uv_run(&rig.loop, UV_RUN_ONCE);
}

/* A client of one key, as streams have it: it connects to the node of the key, and goes with it. */
Test(cluster, a_client_of_one_key, .timeout = 60)
{
    start(false);
    for (int i = 0; i < 6; i++) {
        struct talk talk = {.redis = NULL};
        char key[32];
        takt_redis_options options = {.key = key, .on_ready = on_ready, .data = &talk};
        int slot, from;
        snprintf(key, sizeof key, "takt:jobs:{%d}", i);
        cr_assert_eq(takt_redis_open(&talk.redis, &rig.loop, cluster.url, &options, NULL), 0);
        while (talk.ready == 0)
            uv_run(&rig.loop, UV_RUN_ONCE);
        say_get(&talk, key);
        cr_expect_eq(talk.answers, 1);
        slot = cluster_slot(&cluster, key);
        from = cluster_owner(&cluster, slot);
        if (from != 0) {
            cluster_move(&cluster, slot, from, 0);
            say_get(&talk, key);
            cr_expect_eq(talk.errors, 1, "MOVED");
            while (!takt_redis_is_ready(talk.redis))
                uv_run(&rig.loop, UV_RUN_ONCE);
            say_get(&talk, key);
            cr_expect_eq(talk.answers, 2);
        }
        takt_redis_close(talk.redis);
        while (uv_loop_alive(&rig.loop) && uv_run(&rig.loop, UV_RUN_NOWAIT))
            ;
    }
    stop();
}

static void on_hint(void *data, const char *limit, const char *key)
{
    *(int *)data += strcmp(limit, "a") == 0 && strcmp(key, "k") == 0;
}

static bool is_listened_to(int node)
{
    return strstr(server_say(&cluster.nodes[node], "PUBSUB SHARDCHANNELS"), "{test/a/k}") != NULL;
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
}

static void on_closed(void *data)
{
    *(bool *)data = true;
}

/* A worker that has claimed listens at the node of the ledger, and goes with the slot. */
Test(cluster, hints_follow_their_slot, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    struct rig_call call;
    takt_store *listener;
    uv_timer_t tick;
    bool closed = false;
    int hints = 0, slot, from, to;
    takt_store_options options = {
        .name_space = "test", .timeout_us = TIMEOUT_US, .on_hint = on_hint, .data = &hints};
    takt_error error = {0};

    start(false);
    uv_timer_init(&rig.loop, &tick); /* a store that listens does not keep its loop alive */
    uv_timer_start(&tick, on_tick, 1, 1);
    cr_assert_eq(takt_store_open(&listener, &rig.loop, cluster.url, &options, &error), 0);
    slot = slot_of("a", "k");
    from = cluster_owner(&cluster, slot);
    to = (from + 1) % SHARDS;
    rig_call_init(&call, TAKT_OP_CLAIM, &limit, "k");
    call.claim = (takt_claim){.worker = 1, .seq = 1};
    takt_store_submit(listener, &call.call);
    while (!call.done || !is_listened_to(from))
        uv_run(&rig.loop, UV_RUN_ONCE);
    cluster_move(&cluster, slot, from, to);
    while (!is_listened_to(to))
        uv_run(&rig.loop, UV_RUN_ONCE);
    hints = 0;
    rig_call_init(&call, TAKT_OP_BLOCK, &limit, "k");
    call.call.for_us = 1000000;
    cr_expect_eq(rig_run(&rig, &call), 0);
    while (hints == 0)
        uv_run(&rig.loop, UV_RUN_ONCE);
    cr_expect(!is_listened_to(from));
    takt_store_close(listener, on_closed, &closed);
    while (!closed)
        uv_run(&rig.loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&tick, NULL);
    stop();
}
