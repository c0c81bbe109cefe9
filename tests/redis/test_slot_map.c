/*
 * test_slot_map.c: the slot of a key, and maps from CLUSTER SLOTS and from redirections.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include <takt/error.h>

#include "redis/resp.h"
#include "redis/slot_map.h"

static const takt_redis_address asked = {"10.0.0.9", 7009};

/* From CLUSTER KEYSLOT of Redis 7.0.15. */
Test(slot_map, slots)
{
    static const struct {
        const char *key;
        int slot;
    } table[] = {
        {"123456789", 12739}, {"foo", 12182},       {"{foo}bar", 12182},  {"a{foo}{bar}", 12182},
        {"{}foo", 9500},      {"foo{}{bar}", 8363}, {"foo{{bar}}", 4015}, {"", 0},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        cr_expect_eq(takt_redis_slot(table[i].key, strlen(table[i].key)), table[i].slot, "%s: %d",
                     table[i].key, takt_redis_slot(table[i].key, strlen(table[i].key)));
}

/* Reads a reply as it comes from the server. */
static int read_map(takt_redis_slot_map *map, const char *bytes)
{
    takt_resp *resp = takt_resp_new(NULL);
    const takt_reply *reply = NULL;
    const char *why = NULL;
    int code;

    cr_assert_eq(takt_resp_feed(resp, bytes, strlen(bytes), &why), 0);
    cr_assert_eq(takt_resp_next(resp, &reply, &why), 1);
    code = takt_redis_slot_map_read(map, reply, &asked);
    takt_resp_free(resp);
    return code;
}

static const char *node_of(const takt_redis_slot_map *map, int slot)
{
    static char text[300];
    const takt_redis_address *node = takt_redis_slot_map_find(map, slot);

    snprintf(text, sizeof text, "%s %d", node ? node->host : "none", node ? node->port : 0);
    return text;
}

#define NODE_A   "*4\r\n$9\r\n127.0.0.1\r\n:7000\r\n$2\r\nid\r\n*2\r\n$8\r\nhostname\r\n$1\r\nh\r\n"
#define NODE_B   "*3\r\n$11\r\nb.example.x\r\n:7001\r\n$2\r\nid\r\n"
#define NODE_6   "*3\r\n$7\r\nfd00::5\r\n:7002\r\n$2\r\nid\r\n"
#define NODE_NIL "*3\r\n$-1\r\n:7003\r\n$2\r\nid\r\n"
#define NODE_NO  "*3\r\n$0\r\n\r\n:7004\r\n$2\r\nid\r\n"

Test(slot_map, nodes)
{
    takt_redis_slot_map map = {.shards = NULL};

    cr_expect_str_eq(node_of(&map, 5), "none 0");
    cr_assert_eq(read_map(&map, "*6\r\n"
                                "*4\r\n:0\r\n:99\r\n" NODE_A NODE_B "*3\r\n:100\r\n:199\r\n" NODE_B
                                "*5\r\n:200\r\n:200\r\n" NODE_6 NODE_A NODE_B
                                "*3\r\n:300\r\n:300\r\n" NODE_NIL "*3\r\n:301\r\n:301\r\n" NODE_NO
                                "*4\r\n:16383\r\n:16383\r\n" NODE_A NODE_B),
                 0);
    cr_expect_str_eq(node_of(&map, 0), "127.0.0.1 7000");
    cr_expect_str_eq(node_of(&map, 99), "127.0.0.1 7000");
    cr_expect_str_eq(node_of(&map, 100), "b.example.x 7001");
    cr_expect_str_eq(node_of(&map, 200), "fd00::5 7002");
    cr_expect_str_eq(node_of(&map, 201), "none 0");
    cr_expect_str_eq(node_of(&map, 300), "10.0.0.9 7003", "the node that was asked");
    cr_expect_str_eq(node_of(&map, 301), "10.0.0.9 7004");
    cr_expect_str_eq(node_of(&map, 16383), "127.0.0.1 7000");
    cr_expect_eq(map.covered, 204);
    cr_assert_eq(map.shard_count, 5);
    cr_expect_eq(map.shards[0].replicas, 1);
    cr_expect_eq(map.shards[2].replicas, 2);
    cr_expect(takt_redis_slot_map_set(&map, 99, &asked));
    cr_expect(takt_redis_slot_map_set(&map, 201, &asked));
    cr_expect_str_eq(node_of(&map, 99), "10.0.0.9 7009");
    cr_expect_str_eq(node_of(&map, 98), "127.0.0.1 7000");
    cr_expect_eq(map.covered, 205);
    takt_redis_slot_map_close(&map);
}

Test(slot_map, refuses_other_answers_and_keeps_the_map)
{
    static const char *const answers[] = {
        "+OK\r\n",
        "*1\r\n:1\r\n",
        "*1\r\n*2\r\n:0\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n" NODE_A,
        "*1\r\n*3\r\n:-1\r\n:4\r\n" NODE_A,
        "*1\r\n*3\r\n:5\r\n:4\r\n" NODE_A,
        "*1\r\n*3\r\n:0\r\n:4\r\n*1\r\n$1\r\nh\r\n",
        "*1\r\n*3\r\n:0\r\n:4\r\n*2\r\n$1\r\nh\r\n:0\r\n",
        "*1\r\n*3\r\n:0\r\n:4\r\n*2\r\n$1\r\nh\r\n:65536\r\n",
        "*1\r\n*3\r\n:0\r\n:4\r\n*2\r\n$3\r\nh h\r\n:1\r\n",
        "*2\r\n*3\r\n:0\r\n:99\r\n" NODE_B "*1\r\n:1\r\n",
    };
    takt_redis_slot_map map = {.shards = NULL};

    cr_assert_eq(read_map(&map, "*1\r\n*3\r\n:0\r\n:99\r\n" NODE_A), 0);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        cr_expect_eq(read_map(&map, answers[i]), TAKT_E_STORE, "%s", answers[i]);
        cr_expect_str_eq(node_of(&map, 50), "127.0.0.1 7000");
    }
    cr_assert_eq(read_map(&map, "*0\r\n"), 0, "no slot is covered");
    cr_expect_str_eq(node_of(&map, 50), "none 0");
    takt_redis_slot_map_close(&map);
}

Test(slot_map, redirections)
{
    static const struct {
        const char *text, *host;
        int slot, port;
        bool ask;
    } table[] = {
        {"MOVED 3999 127.0.0.1:6381", "127.0.0.1", 3999, 6381, false},
        {"ASK 0 node-1.example:7000", "node-1.example", 0, 7000, true},
        {"MOVED 16383 fd00::5:6381", "fd00::5", 16383, 6381, false},
        {"MOVED 1 :6381", "10.0.0.9", 1, 6381, false},
        {"MOVED 1 ?:6381", "10.0.0.9", 1, 6381, false},
    };
    static const char *const wrong[] = {
        "MOVED",        "MOVED ",        "MOVED 1",         "MOVED 1 h",
        "MOVED 1 h:",   "MOVED 1 h:0",   "MOVED 1 h:65536", "MOVED 16384 h:1",
        "MOVED -1 h:1", "MOVED x h:1",   "MOVED  h:1",      "ASKING 1 h:1",
        "moved 1 h:1",  "MOVED 1 h h:1", "TRYAGAIN 1 h:1",  "MOVED 1 h:1x",
    };
    takt_redis_redirection read;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        cr_assert(takt_redis_redirection_read(&read, table[i].text, strlen(table[i].text), &asked));
        cr_expect_str_eq(read.node.host, table[i].host);
        cr_expect_eq(read.node.port, table[i].port);
        cr_expect_eq(read.slot, table[i].slot);
        cr_expect_eq(read.ask, table[i].ask);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        cr_expect_not(takt_redis_redirection_read(&read, wrong[i], strlen(wrong[i]), &asked), "%s",
                      wrong[i]);
}
