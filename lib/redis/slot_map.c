/*
 * slot_map.c: see slot_map.h.
 */
#include "redis/slot_map.h"

#include <stdlib.h>
#include <string.h>

#include <takt/error.h>

#include "base/time_text.h"

#define PORT_MAX 65535

/* ---- slots ----------------------------------------------------------------------------------- */

/* CRC-16/XMODEM, as specified for Redis Cluster. */
static unsigned crc16(const char *bytes, size_t size)
{
    unsigned sum = 0;

    for (size_t i = 0; i < size; i++) {
        sum ^= (unsigned)(unsigned char)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            sum = (sum & 0x8000U ? sum << 1 ^ 0x1021U : sum << 1) & 0xFFFFU;
    }
    return sum;
}

int takt_redis_slot(const char *key, size_t size)
{
    const char *open = memchr(key, '{', size);
    const char *close = open ? memchr(open, '}', size - (size_t)(open - key)) : NULL;

    if (close && close > open + 1) /* an empty tag is none */
        return (int)(crc16(open + 1, (size_t)(close - open) - 1) % TAKT_REDIS_SLOTS);
    return (int)(crc16(key, size) % TAKT_REDIS_SLOTS);
}

/* ---- addresses ------------------------------------------------------------------------------- */

bool takt_redis_address_same(const takt_redis_address *a, const takt_redis_address *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* Hosts of nodes: a name, an address, or nothing, "?" or nil for the host that was asked. */
static bool read_host(takt_redis_address *address, const char *host, size_t size,
                      const takt_redis_address *asked)
{
    if (size == 0 || (size == 1 && host[0] == '?')) {
        memcpy(address->host, asked->host, sizeof address->host);
        return true;
    }
    if (size > TAKT_REDIS_HOST_MAX)
        return false;
    for (size_t i = 0; i < size; i++)
        if (host[i] <= ' ' || host[i] > '~')
            return false;
    memcpy(address->host, host, size);
    address->host[size] = '\0';
    return true;
}

bool takt_redis_slot_node_read(takt_redis_address *address, const takt_reply *node,
                               const takt_redis_address *asked)
{
    if (node->type != TAKT_REPLY_ARRAY || node->count < 2 ||
        (node[1].type != TAKT_REPLY_STRING && node[1].type != TAKT_REPLY_NIL) ||
        node[2].type != TAKT_REPLY_INTEGER || node[2].integer < 1 || node[2].integer > PORT_MAX)
        return false;
    address->port = (int)node[2].integer;
    return read_host(address, node[1].text, node[1].type == TAKT_REPLY_NIL ? 0 : node[1].size,
                     asked);
}

/* ---- the map --------------------------------------------------------------------------------- */

static bool begin_map(takt_redis_slot_map *map)
{
    if (!map->shard_of)
        map->shard_of = calloc(TAKT_REDIS_SLOTS, sizeof *map->shard_of);
    return map->shard_of != NULL;
}

/* The index of the node's shard, made if necessary; -1: no memory, or too many. */
static int find_shard(takt_redis_slot_map *map, const takt_redis_address *node)
{
    takt_redis_shard *shards;

    for (int i = 0; i < map->shard_count; i++)
        if (takt_redis_address_same(&map->shards[i].primary, node))
            return i;
    if (map->shard_count == TAKT_REDIS_NODES_MAX)
        return -1;
    shards = realloc(map->shards, ((size_t)map->shard_count + 1) * sizeof *shards);
    if (!shards)
        return -1;
    map->shards = shards;
    shards[map->shard_count] = (takt_redis_shard){.primary = *node};
    return map->shard_count++;
}

static void set(takt_redis_slot_map *map, int slot, int shard)
{
    map->covered += map->shard_of[slot] == 0;
    map->shard_of[slot] = (uint16_t)(shard + 1);
}

/* [FIRST, LAST, PRIMARY, REPLICA...] */
static int read_range(takt_redis_slot_map *map, const takt_reply *range,
                      const takt_redis_address *asked)
{
    takt_redis_address primary;
    int shard;

    if (range->type != TAKT_REPLY_ARRAY || range->count < 3 ||
        range[1].type != TAKT_REPLY_INTEGER || range[2].type != TAKT_REPLY_INTEGER ||
        range[1].integer < 0 || range[2].integer < range[1].integer ||
        range[2].integer >= TAKT_REDIS_SLOTS ||
        !takt_redis_slot_node_read(&primary, &range[3], asked))
        return TAKT_E_STORE;
    shard = find_shard(map, &primary);
    if (shard < 0)
        return TAKT_E_NOMEM;
    map->shards[shard].replicas = range->count - 3;
    for (int slot = (int)range[1].integer; slot <= (int)range[2].integer; slot++)
        set(map, slot, shard);
    return 0;
}

int takt_redis_slot_map_read(takt_redis_slot_map *map, const takt_reply *reply,
                             const takt_redis_address *asked)
{
    takt_redis_slot_map read = {.shards = NULL};
    const takt_reply *range = reply + 1;
    int code = reply->type == TAKT_REPLY_ARRAY ? 0 : TAKT_E_STORE;

    if (code == 0 && !begin_map(&read))
        code = TAKT_E_NOMEM;
    for (int i = 0; code == 0 && i < reply->count; i++, range = takt_reply_after(range))
        code = read_range(&read, range, asked);
    if (code != 0) {
        takt_redis_slot_map_close(&read);
        return code;
    }
    takt_redis_slot_map_close(map);
    *map = read;
    return 0;
}

const takt_redis_address *takt_redis_slot_map_find(const takt_redis_slot_map *map, int slot)
{
    return map->shard_of && map->shard_of[slot] != 0 ? &map->shards[map->shard_of[slot] - 1].primary
                                                     : NULL;
}

bool takt_redis_slot_map_set(takt_redis_slot_map *map, int slot, const takt_redis_address *node)
{
    int shard = begin_map(map) ? find_shard(map, node) : -1;

    if (shard >= 0)
        set(map, slot, shard);
    return shard >= 0;
}

void takt_redis_slot_map_close(takt_redis_slot_map *map)
{
    free(map->shards);
    free(map->shard_of);
    *map = (takt_redis_slot_map){.shards = NULL};
}

/* ---- redirections ---------------------------------------------------------------------------- */

/* A number of decimal digits up to `stop`; -1: malformed. *rest is what follows. */
static int64_t read_number(const char *text, size_t size, int64_t max)
{
    char digits[8];
    int64_t value;

    if (size == 0 || size >= sizeof digits)
        return -1;
    memcpy(digits, text, size);
    digits[size] = '\0';
    return takt_parse_whole(digits, max, &value) == 0 ? value : -1;
}

bool takt_redis_redirection_read(takt_redis_redirection *redirection, const char *text, size_t size,
                                 const takt_redis_address *asked)
{
    size_t word = size > 6 && memcmp(text, "MOVED ", 6) == 0 ? 6
                  : size > 4 && memcmp(text, "ASK ", 4) == 0 ? 4
                                                             : 0;
    const char *end = text + size, *slot = text + word;
    const char *space = word ? memchr(slot, ' ', size - word) : NULL;
    const char *colon = space ? memrchr(space, ':', (size_t)(end - space)) : NULL;
    int64_t number, port;

    if (!colon)
        return false;
    number = read_number(slot, (size_t)(space - slot), TAKT_REDIS_SLOTS - 1);
    port = read_number(colon + 1, (size_t)(end - colon) - 1, PORT_MAX);
    redirection->ask = word == 4;
    redirection->slot = (int)number;
    redirection->node.port = (int)port;
    return number >= 0 && port > 0 &&
           read_host(&redirection->node, space + 1, (size_t)(colon - space) - 1, asked);
}
