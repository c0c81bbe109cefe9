/*
 * Any bytes as a stream of replies, in any pieces: the values are within the bounds and do not
 * depend on the pieces, and no bytes are read after an error.
 */
#include "fuzz.h"

#include <takt/error.h>

#include "redis/reply_error.h"
#include "redis/resp.h"
#include "redis/resp_bounds.h"
#include "redis/sentinel_reply.h"

/* Mixes a value into a sum, and all that is in it; returns what follows it. */
static const takt_reply *add(const takt_reply *reply, uint64_t *sum, int depth, int *nodes)
{
    const takt_reply *next = reply + 1;

    require(depth <= TAKT_RESP_DEPTH_MAX && ++*nodes <= TAKT_RESP_NODES_MAX);
    *sum = *sum * 31 + (uint64_t)reply->type;
    *sum = *sum * 31 + (uint64_t)reply->integer;
    require(reply->size <= TAKT_RESP_BYTES_MAX && reply->text[reply->size] == '\0');
    for (size_t i = 0; i < reply->size; i++)
        *sum = *sum * 31 + (unsigned char)reply->text[i];
    if (reply->type == TAKT_REPLY_ERROR) {
        takt_redis_trouble trouble;
        takt_redis_judge(&trouble, reply->text, reply->size);
        require(trouble.code < 0 && trouble.text != NULL && strlen(trouble.word) < 24);
    }
    for (int i = 0; i < reply->count; i++)
        next = add(next, sum, depth + 1, nodes);
    return next;
}

/* The reply as one of a Sentinel: an address is one to connect to. */
static void check_as_sentinel(const takt_reply *reply)
{
    takt_redis_address server;
    takt_sentinel_word word = takt_sentinel_reply(reply, &server);

    if (word == TAKT_SENTINEL_MESSAGE)
        (void)takt_sentinel_moves(reply, "main");
    if (word != TAKT_SENTINEL_ADDRESS)
        return;
    require(takt_redis_is_host(server.host, strlen(server.host)));
    require(server.port >= 1 && server.port <= 65535);
}

/* Reads it all in pieces of that size; *end is where it was refused. */
static uint64_t read_all(takt_resp *resp, const char *bytes, size_t size, size_t piece, int *status)
{
    uint64_t sum = 0;
    const char *why = NULL;

    require(takt_resp_restart(resp));
    *status = 0;
    for (size_t at = 0; at < size && *status == 0; at += piece) {
        const takt_reply *reply = NULL;
        *status = takt_resp_feed(resp, bytes + at, size - at < piece ? size - at : piece, &why);
        while (*status == 0 && (*status = takt_resp_next(resp, &reply, &why)) == 1) {
            int nodes = 0;
            add(reply, &sum, 0, &nodes);
            check_as_sentinel(reply);
            *status = 0;
        }
        require(*status == 0 || (*status == TAKT_E_STORE && why != NULL));
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static takt_resp *resp;
    int whole_status, status;
    uint64_t whole;

    if (resp == NULL)
        require((resp = takt_resp_new(NULL)) != NULL);
    whole = read_all(resp, (const char *)data, size, size > 0 ? size : 1, &whole_status);
    for (size_t piece = 1; piece < 20; piece += 6) {
        uint64_t sum = read_all(resp, (const char *)data, size, piece, &status);
        require(status == whole_status);
        require(status != 0 || sum == whole); /* a refused piece is refused as a whole */
    }
    return 0;
}
