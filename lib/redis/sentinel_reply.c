/*
 * sentinel_reply.c: see sentinel_reply.h.
 */
#include "redis/sentinel_reply.h"

#include <string.h>

#include "base/time_text.h"

static int is_text(const takt_reply *reply, const char *text)
{
    return reply->type == TAKT_REPLY_STRING && reply->size == strlen(text) &&
           memcmp(reply->text, text, reply->size) == 0;
}

/* ["HOST", "PORT"] */
static int read_address(const takt_reply *host, const takt_reply *port, takt_redis_address *server)
{
    int64_t number;

    if (host->type != TAKT_REPLY_STRING || port->type != TAKT_REPLY_STRING || port->size > 5 ||
        !takt_redis_is_host(host->text, host->size) || strlen(port->text) != port->size ||
        takt_parse_whole(port->text, 65535, &number) < 0 || number < 1)
        return 0;
    memcpy(server->host, host->text, host->size);
    server->host[host->size] = '\0';
    server->port = (int)number;
    return 1;
}

takt_sentinel_word takt_sentinel_reply(const takt_reply *reply, takt_redis_address *server)
{
    if (reply->type == TAKT_REPLY_NIL)
        return TAKT_SENTINEL_UNKNOWN;
    if (reply->type != TAKT_REPLY_ARRAY)
        return TAKT_SENTINEL_OTHER;
    if (reply->count == 3 && is_text(&reply[1], "message"))
        return TAKT_SENTINEL_MESSAGE;
    if (reply->count == 2 && read_address(&reply[1], &reply[2], server))
        return TAKT_SENTINEL_ADDRESS;
    return TAKT_SENTINEL_OTHER;
}

int takt_sentinel_moves(const takt_reply *message, const char *name)
{
    const takt_reply *text;
    size_t size = strlen(name);

    if (message[2].type != TAKT_REPLY_STRING || message[3].type != TAKT_REPLY_STRING)
        return 0;
    text = &message[3];
    return text->size > size && memcmp(text->text, name, size) == 0 && text->text[size] == ' ';
}
