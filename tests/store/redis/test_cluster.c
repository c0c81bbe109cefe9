/*
 * test_cluster.c: the store over a real cluster: every call reaches the node that has its ledger
 * while slots move and nodes fail, and hints follow the slots.
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

static void on_closed(void *data)
{
    *(bool *)data = true;
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

static void begin_to_say(struct talk *talk, int count, const char *const *words)
{
    talk->command = (takt_redis_command){.answered = on_answered, .data = talk};
    cr_assert_eq(takt_redis_send(talk->redis, &talk->command, count, words, NULL), 0);
}

static void say(struct talk *talk, int count, const char *const *words)
{
    begin_to_say(talk, count, words);
    for (int before = talk->answers + talk->errors; before == talk->answers + talk->errors;)
        uv_run(&rig.loop, UV_RUN_ONCE);
}

static void await_ready(struct talk *talk)
{
    while (!takt_redis_is_ready(talk->redis))
        uv_run(&rig.loop, UV_RUN_ONCE);
}

static void await_end(void)
{
    while (uv_loop_alive(&rig.loop) && uv_run(&rig.loop, UV_RUN_NOWAIT))
        ;
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
    cr_expect_not_null(strstr(rig.store->trouble, "remove the number"), "%s", rig.store->trouble);
    stop();
}

/* Slots move: no token is lost or taken twice, and the map is not read all the time. */
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

/* A slot between two nodes. */
struct move {
    int slot, from, to;
};

static struct move begin_move(const char *limit, const char *key)
{
    struct move move = {.slot = slot_of(limit, key)};

    move.from = cluster_owner(&cluster, move.slot);
    move.to = (move.from + 1) % SHARDS;
    cluster_begin_move(&cluster, move.slot, move.from, move.to);
    return move;
}

static void end_move(const struct move *move)
{
    cluster_end_move(&cluster, move->slot, move->from, move->to);
}

/* What a worker claims for one waiter. */
static void claim_for_one(struct rig_call *call, const takt_limit *limit, const char *key,
                          int worker, int64_t seq)
{
    rig_call_init(call, TAKT_OP_CLAIM, limit, key);
    call->claim = (takt_claim){.worker = (uint64_t)worker,
                               .seq = seq,
                               .waiting = 1,
                               .weight = 1,
                               .want_count = 1,
                               .wants = {{1, TAKT_NEVER, 1, 5, {{0}}}}};
}

/* Times out unless the call waits: for longer than it takes to be sent to both nodes. */
static void expect_to_wait(struct rig_call *call)
{
    rig_submit(&rig, call);
    for (int turns = 0; turns < 20; turns++)
        uv_run(&rig.loop, UV_RUN_ONCE);
    cr_expect_eq(call->done, 0, "the node cannot answer about keys that are not there");
}

/* Without waiters a ledger is one key, which one of the nodes has: it is served on the way. */
Test(cluster, a_slot_on_its_way, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    struct rig_call call;
    struct move move;

    start(false);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    move = begin_move("a", "k");
    for (int round = 1; round <= 2; round++) {
        cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
        claim_for_one(&call, &limit, "k", 1, round);
        cr_expect_eq(rig_run(&rig, &call), 0);
        cr_expect_eq(call.award.run_count, 1);
        cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 99 - 2 * round);
        if (round == 1)
            cluster_move_keys(&cluster, move.slot, move.from, move.to);
    }
    cr_expect_eq(rig_try(&rig, &limit, "k", 100), TAKT_E_NO_SLOT);
    end_move(&move);
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 95);
    stop();
}

/* A line has keys of its own: its workers are served as long as all are on one node. */
Test(cluster, a_line_on_its_way, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct rig_call call, first;
    struct move move;

    start(false);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    claim_for_one(&call, &limit, "k", 1, 1);
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.award.in_line, 1 << 5);
    move = begin_move("a", "k");
    claim_for_one(&call, &limit, "k", 2, 1);
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.award.workers, 2);
    cluster_move_key(&cluster, "takt:{test/a/k}:line", move.from, move.to);
    claim_for_one(&first, &limit, "k", 1, 2);
    expect_to_wait(&first);
    cluster_move_keys(&cluster, move.slot, move.from, move.to);
    rig_wait(&rig, &first);
    cr_expect_eq(first.call.status, 0, "%s", takt_strerror(first.call.status));
    cr_expect_eq(first.award.in_line, 1 << 5);
    end_move(&move);
    claim_for_one(&call, &limit, "k", 2, 2);
    cr_expect_eq(rig_run(&rig, &call), 0);
    stop();
}

/* Calls of takt that a node was sent, also those that it redirected or refused. */
static int calls_to(int node)
{
    const char *said = server_say(&cluster.nodes[node], "INFO commandstats");
    const char *found = strstr(said, "cmdstat_evalsha:calls=");
    int calls = 0, rejected = 0;

    if (found && sscanf(found, "cmdstat_evalsha:calls=%d", &calls) == 1 &&
        (found = strstr(found, "rejected_calls=")) != NULL)
        (void)sscanf(found, "rejected_calls=%d", &rejected);
    return calls + rejected;
}

static void count_gone(void *data, int number)
{
    ((int *)data)[number]++;
}

enum { LINED_UP = 4, PATIENCE_S = 4 };

/* Workers in line wait for a slot that stays split until their calls time out: together they make
 * few calls, and a call fails alone, not with the node. When the slot has moved, it is told. */
Test(cluster, a_slot_that_stays_split, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1), other = rig_limit("other", 10, RIG_DAY, 10);
    takt_store *stores[LINED_UP];
    struct rig_call calls[LINED_UP], apart;
    int gone[64] = {0}, before, number;
    bool closed[LINED_UP] = {false};
    takt_store_options options = {.name_space = "test",
                                  .timeout_us = PATIENCE_S * INT64_C(1000000),
                                  .on_gone = count_gone,
                                  .data = gone};
    takt_error error = {0};
    struct move move;
    char key[16] = "k";

    start(false);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    for (int i = 0; i < LINED_UP; i++) {
        claim_for_one(&calls[i], &limit, "k", i + 1, 1);
        cr_assert_eq(takt_store_open(&stores[i], &rig.loop, cluster.url, &options, &error), 0);
        takt_store_submit(stores[i], &calls[i].call);
        rig_wait(&rig, &calls[i]);
        cr_expect_eq(calls[i].award.in_line, 1 << 5);
    }
    number = calls[0].call.server;
    move = begin_move("a", "k");
    cluster_move_key(&cluster, "takt:{test/a/k}:places", move.from, move.to);
    for (int i = 0; cluster_owner(&cluster, slot_of("other", key)) != move.from; i++)
        snprintf(key, sizeof key, "%d", i);
    before = calls_to(move.from) + calls_to(move.to);
    for (int i = 0; i < LINED_UP; i++) {
        claim_for_one(&calls[i], &limit, "k", i + 1, 2);
        calls[i].claim.in_line = true;
        calls[i].claim.workers = LINED_UP;
        takt_store_submit(stores[i], &calls[i].call);
    }
    for (int i = 0; i < LINED_UP; i++) {
        rig_wait(&rig, &calls[i]);
        cr_expect_eq(calls[i].call.status, TAKT_E_STORE);
        cr_expect_neq(calls[i].call.server, number);
        cr_expect_not_null(strstr(stores[i]->trouble, "TRYAGAIN"), "%s", stores[i]->trouble);
    }
    cr_expect(calls_to(move.from) + calls_to(move.to) - before <= 10 * PATIENCE_S, "%d calls",
              calls_to(move.from) + calls_to(move.to) - before);
    rig_call_init(&apart, TAKT_OP_TRY, &other, key);
    takt_store_submit(stores[0], &apart.call);
    rig_wait(&rig, &apart);
    cr_expect_eq(apart.call.status, 0);
    cr_expect_eq(apart.call.server, number, "other ledgers of the node are served");
    number = calls[0].call.server;
    cr_expect_eq(gone[number], 0);
    end_move(&move);
    for (int i = 0; i < LINED_UP; i++) {
        claim_for_one(&calls[i], &limit, "k", i + 1, 3);
        takt_store_submit(stores[i], &calls[i].call);
        rig_wait(&rig, &calls[i]);
        cr_expect_eq(calls[i].call.status, 0);
        takt_store_close(stores[i], on_closed, &closed[i]);
        while (!closed[i])
            uv_run(&rig.loop, UV_RUN_ONCE);
    }
    cr_expect(gone[number] >= LINED_UP, "%d", gone[number]);
    stop();
}

/* The pages of a log are a key, too: its calls wait while they are elsewhere, and lose no entry. */
Test(cluster, a_log_on_its_way, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    takt_error error;
    struct rig_call call;
    struct move move;

    limit.numbers.rules[0] = (takt_rule){
        .algorithm = takt_algorithm_named("sliding-log"), .limit = 100, .period_us = RIG_DAY};
    cr_assert_eq(takt_rule_prepare(&limit.numbers.rules[0], &error), 0, "%s", error.text);
    start(false);
    for (int i = 0; i < 20; i++)
        cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    move = begin_move("a", "k");
    cluster_move_key(&cluster, "takt:{test/a/k}:log", move.from, move.to);
    rig_call_init(&call, TAKT_OP_TRY, &limit, "k");
    expect_to_wait(&call);
    end_move(&move);
    rig_wait(&rig, &call);
    cr_expect_eq(call.call.status, 0, "%s", takt_strerror(call.call.status));
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 79);
    stop();
}

/* A primary dies: its ledgers are used again, on the replica; the others never notice. */
Test(cluster, a_primary_dies, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    int kept = 0;

    start(true);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 60, 0), 60);
    for (int i = 0; i < SHARDS; i++) /* the replicas have the taken tokens */
        server_say(&cluster.nodes[i], "WAIT 1 5000");
    cr_expect_eq(cluster_kill(&cluster, 0), SHARDS);
    for (int i = 0; i < 60; i++) {
        char key[16];
        int status = 0;
        int64_t unanswered = 0, remaining; /* a try that fails may have taken its token */
        uint64_t until_ns = uv_hrtime() + UINT64_C(20000000000);
        snprintf(key, sizeof key, "key-%d", i);
        for (; (status = rig_try(&rig, &limit, key, 1)) == TAKT_E_STORE && uv_hrtime() < until_ns;
             unanswered++)
            uv_run(&rig.loop, UV_RUN_NOWAIT);
        cr_expect_eq(status, 0, "%s", takt_strerror(status));
        remaining = rig_peek(&rig, &limit, key).remaining;
        kept += remaining <= 98 && remaining >= 98 - unanswered;
    }
    cr_expect_eq(kept, 60);
    stop();
}

static bool says(int node, const char *words, const char *part)
{
    return strstr(server_say(&cluster.nodes[node], words), part) != NULL;
}

/* A node that is not used for a while has no connections of ours, and has them at the next use. */
Test(cluster, an_unused_node, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 1000000, RIG_DAY, 1000000);
    takt_store_options options = {
        .name_space = "test", .timeout_us = TIMEOUT_US, .unused_us = 2000000};
    int used;

    start(false);
    rig_close(&rig);
    uv_loop_init(&rig.loop);
    rig.closed = false;
    cr_assert_eq(takt_store_open(&rig.store, &rig.loop, cluster.url, &options, NULL), 0);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 90, 0), 90);
    used = cluster_owner(&cluster, slot_of("a", "key-0"));
    for (int i = 0; i < SHARDS; i++)
        while (i != used && says(i, "CLIENT LIST", "name=takt"))
            cr_assert_eq(rig_try(&rig, &limit, "key-0", 1), 0);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 90, 0), 90);
    for (int i = 0; i < SHARDS; i++)
        cr_expect(says(i, "CLIENT LIST", "name=takt"));
    stop();
}

/* A node that reads its data says LOADING: its calls wait. */
Test(cluster, a_node_that_loads, .timeout = 60)
{
    static const char *const options[] = {"--enable-debug-command", "yes", NULL};
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    struct talk talk = {.redis = NULL};
    takt_redis_options client = {.timeout_us = -1, .on_ready = on_ready, .data = &talk};
    struct rig_call call;
    char line[64];
    int node;

    cluster_start(&cluster, false, options);
    open_at(cluster.url, TIMEOUT_US);
    cr_assert_eq(rig_try(&rig, &limit, "k", 1), 0);
    node = cluster_owner(&cluster, slot_of("a", "k"));
    for (int i = 0; i < 200; i++) {
        snprintf(line, sizeof line, "SETRANGE {test/a/k}%d 4000 x", i);
        server_say(&cluster.nodes[node], line);
    }
    server_say(&cluster.nodes[node], "CONFIG SET rdbcompression no key-load-delay 50000 "
                                     "loading-process-events-interval-bytes 1024");
    cr_assert_eq(takt_redis_open(&talk.redis, &rig.loop, cluster.nodes[node].url, &client, NULL),
                 0);
    await_ready(&talk);
    begin_to_say(&talk, 2, (const char *[]){"DEBUG", "RELOAD"});
    while (!says(node, "INFO persistence", "loading:1"))
        uv_run(&rig.loop, UV_RUN_NOWAIT);
    rig_call_init(&call, TAKT_OP_TRY, &limit, "k");
    rig_submit(&rig, &call);
    while (!says(node, "INFO errorstats", "errorstat_LOADING"))
        uv_run(&rig.loop, UV_RUN_NOWAIT);
    server_say(&cluster.nodes[node], "CONFIG SET key-load-delay 0");
    rig_wait(&rig, &call);
    cr_expect_eq(call.call.status, 0);
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 8);
    takt_redis_close(talk.redis);
    await_end();
    stop();
}

/* All nodes but one are gone: calls without a node fail after the time-out. */
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
    open_at(cluster.nodes[2].url, 5000000);
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

/* A list has the ledgers of all nodes, from any node. */
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

/* All ledgers of a namespace in braces are on one node. */
Test(cluster, ledgers_of_a_shared_slot_are_listed, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    takt_store_options options = {.name_space = "{test}", .timeout_us = TIMEOUT_US};
    takt_error error = {0};
    struct rig_call call;
    int found = 0, node;

    cluster_start(&cluster, false, NULL);
    cr_assert_eq(rig_try_open(&rig, cluster.url, "{test}", TIMEOUT_US, &error), 0);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 90, 0), 90);
    claim_for_one(&call, &limit, "key-1", 1, 1); /* a ledger of more than one key */
    cr_expect_eq(rig_run(&rig, &call), 0);
    node = cluster_owner(&cluster, cluster_slot(&cluster, "takt:{test}/a/key-1"));
    cr_expect(says(node, "DBSIZE", "92"), "90 texts, a line and its places");
    cr_expect_eq(takt_store_list(cluster.url, &options, 1000, count_found, &found, &error), 0, "%s",
                 error.text);
    cr_expect_eq(found, 90);
    stop();
}

/* A node that does not answer costs the list its own ledgers; it is named. */
Test(cluster, ledgers_of_living_nodes_are_listed, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    takt_store_options options = {.name_space = "test", .timeout_us = TIMEOUT_US};
    takt_error error = {0};
    int found = 0, living = 0;
    char key[16];

    start(false);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 90, 0), 90);
    for (int i = 0; i < 90; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        living += cluster_owner(&cluster, slot_of("a", key)) != 0;
    }
    server_kill(&cluster.nodes[0], SIGKILL);
    cr_expect_eq(takt_store_list(cluster.url, &options, 1000, count_found, &found, &error), 0, "%s",
                 error.text);
    cr_expect_eq(found, living, "%d of %d", found, living);
    snprintf(key, sizeof key, ":%d", cluster.nodes[0].port);
    cr_expect(error.code == TAKT_E_STORE && strstr(error.text, key), "%s", error.text);
    stop();
}

static void on_gone(void *data, int number)
{
    *(unsigned *)data |= 1U << number;
}

/* A primary becomes a replica and still answers: nobody waits for it, and nobody waits for number
 * 0, which was used before the map was read. */
Test(cluster, nodes_without_slots_are_gone, .timeout = 60)
{
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    unsigned gone = 0;
    takt_store_options options = {
        .name_space = "test", .timeout_us = TIMEOUT_US, .on_gone = on_gone, .data = &gone};
    takt_store *store = NULL;
    struct rig_call call;
    takt_error error = {0};
    bool closed = false;
    int slot, number;

    start(true);
    cr_assert_eq(takt_store_open(&store, &rig.loop, cluster.url, &options, &error), 0, "%s",
                 error.text);
    rig_call_init(&call, TAKT_OP_TRY, &limit, "k");
    takt_store_submit(store, &call.call);
    rig_wait(&rig, &call);
    number = call.call.server;
    slot = slot_of("a", "k");
    cluster_fail_over(&cluster, cluster_owner(&cluster, slot));
    while ((gone & (1U << number)) == 0 || (gone & 1U) == 0) {
        rig_call_init(&call, TAKT_OP_TRY, &limit, "k");
        takt_store_submit(store, &call.call);
        rig_wait(&rig, &call);
        cr_assert(call.call.status == 0 || call.call.status == TAKT_E_NO_SLOT, "%s",
                  takt_strerror(call.call.status));
    }
    cr_expect_neq(call.call.server, number);
    takt_store_close(store, on_closed, &closed);
    while (!closed)
        uv_run(&rig.loop, UV_RUN_ONCE);
    stop();
}

static void say_get(struct talk *talk, const char *key)
{
    say(talk, 2, (const char *[]){"GET", key});
}

/* Its slot is moving, and the key was moved already: a client that is there follows it, another one
 * finds it. */
Test(cluster, a_client_of_a_key_on_its_way, .timeout = 60)
{
    static char key[] = "takt:jobs:{1}";
    struct talk talks[2] = {{.redis = NULL}};
    int slot, from, to;

    start(false);
    slot = cluster_slot(&cluster, key);
    from = cluster_owner(&cluster, slot);
    to = (from + 1) % SHARDS;
    server_say(&cluster.nodes[from], "SET takt:jobs:{1} a");
    for (int i = 0; i < 2; i++) {
        takt_redis_options options = {.key = key, .on_ready = on_ready, .data = &talks[i]};
        cr_assert_eq(takt_redis_open(&talks[i].redis, &rig.loop, cluster.url, &options, NULL), 0);
        await_ready(&talks[i]);
        if (i == 1)
            continue;
        say_get(&talks[0], key);
        cluster_begin_move(&cluster, slot, from, to);
        say_get(&talks[0], key);
        cr_expect_eq(talks[0].answers, 2);
        cluster_move_key(&cluster, key, from, to);
        say_get(&talks[0], key);
        cr_expect_eq(talks[0].errors, 1, "ASK");
        await_ready(&talks[0]);
    }
    for (int i = 0; i < 2; i++) {
        say_get(&talks[i], key);
        say(&talks[i], 1, (const char *[]){"MULTI"});
        say_get(&talks[i], key);
        say_get(&talks[i], key);
        say(&talks[i], 1, (const char *[]){"EXEC"});
        say_get(&talks[i], key);
        cr_expect_eq(talks[i].answers, i == 0 ? 8 : 6);
        cr_expect_eq(talks[i].errors, i == 0);
    }
    cluster_end_move(&cluster, slot, from, to);
    for (int i = 0; i < 2; i++) {
        say_get(&talks[i], key);
        cr_expect_eq(talks[i].answers, i == 0 ? 9 : 7);
        takt_redis_close(talks[i].redis);
    }
    await_end();
    stop();
}

/* A client of one key, as for streams: it connects to the node of the key, and follows it. */
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
            await_ready(&talk);
            say_get(&talk, key);
            cr_expect_eq(talk.answers, 2);
        }
        takt_redis_close(talk.redis);
        await_end();
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
