/*
 * Any reply as the answer to CLUSTER SLOTS, and its text as a redirection: it is refused, or every
 * node that it names can be connected to.
 */
#include "fuzz.h"

#include "redis/resp.h"
#include "redis/slot_map.h"

static const takt_redis_address asked = {"10.0.0.9", 7009};

static void check_node(const takt_redis_address *node)
{
    require(node->host[0] != '\0' && strlen(node->host) <= TAKT_REDIS_HOST_MAX);
    require(node->port >= 1 && node->port <= 65535);
}

static void check_map(const takt_reply *reply)
{
    takt_redis_slot_map map = {.shards = NULL};
    int covered = 0;

    require(takt_redis_slot_map_set(&map, 1, &asked));
    if (takt_redis_slot_map_read(&map, reply, &asked) != 0)
        require(map.covered == 1 && takt_redis_slot_map_find(&map, 1) != NULL);
    for (int slot = 0; slot < TAKT_REDIS_SLOTS; slot++) {
        const takt_redis_address *node = takt_redis_slot_map_find(&map, slot);
        covered += node != NULL;
        if (node)
            check_node(node);
    }
    require(covered == map.covered);
    takt_redis_slot_map_close(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static takt_resp *resp;
    takt_redis_redirection redirection;
    const takt_reply *reply = NULL;
    const char *why;

    if (resp == NULL)
        require((resp = takt_resp_new(NULL)) != NULL);
    require(takt_resp_restart(resp));
    if (takt_redis_redirection_read(&redirection, (const char *)data, size, &asked)) {
        require(redirection.slot >= 0 && redirection.slot < TAKT_REDIS_SLOTS);
        check_node(&redirection.node);
    }
    if (takt_resp_feed(resp, (const char *)data, size, &why) == 0 &&
        takt_resp_next(resp, &reply, &why) == 1)
        check_map(reply);
    return 0;
}
