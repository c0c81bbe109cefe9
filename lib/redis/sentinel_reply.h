/*
 * sentinel_reply.h: reads the answers and messages of a Sentinel. Pure.
 */
#ifndef TAKT_REDIS_SENTINEL_REPLY_H
#define TAKT_REDIS_SENTINEL_REPLY_H

#include "redis/reply.h"
#include "redis/url.h"

typedef enum takt_sentinel_word {
    TAKT_SENTINEL_ADDRESS, /* the answer to SENTINEL get-master-addr-by-name */
    TAKT_SENTINEL_UNKNOWN, /* the same, for a name that it does not know */
    TAKT_SENTINEL_MESSAGE, /* a message of a channel, at any time */
    TAKT_SENTINEL_OTHER    /* an error, or something malformed */
} takt_sentinel_word;

/* Of an address, fills the host and the port of the server; else the server is untouched. */
takt_sentinel_word takt_sentinel_reply(const takt_reply *reply, takt_redis_address *server);

/* 1: a message says that the primary of that name has moved ("NAME HOST PORT HOST PORT"). */
int takt_sentinel_moves(const takt_reply *message, const char *name);

#endif
