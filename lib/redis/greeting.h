/*
 * greeting.h: the first commands to a server: the login (AUTH), the database (SELECT), our name,
 * and whether it is a primary (ROLE). Decides which of them are sent, and which refusals are
 * errors.
 */
#ifndef TAKT_REDIS_GREETING_H
#define TAKT_REDIS_GREETING_H

#include "base/list.h"
#include "redis/reply_error.h"
#include "redis/resp.h"
#include "redis/url.h"

/* The commands of a greeting; only the name may be refused. */
enum {
    TAKT_REDIS_AUTH,
    TAKT_REDIS_SELECT,
    TAKT_REDIS_ROLE, /* of a server that Sentinels have named: they may name a demoted one */
    TAKT_REDIS_NAME,
    TAKT_REDIS_GREETINGS
};

typedef struct takt_redis_greeting {
    struct takt_redis_sent {
        takt_redis_command command;
        struct takt_redis_greeting *greeting;
    } sent[TAKT_REDIS_GREETINGS];
    int left; /* commands not answered yet */

    /* Called with NULL when the greeting is complete, or with the reason to close the
     * connection. */
    void (*greeted)(void *data, const takt_redis_trouble *trouble);
    void *data;
} takt_redis_greeting;

/* Writes the commands to `out`, and appends them to the commands under way. False: no memory. */
bool takt_redis_greet(takt_redis_greeting *greeting, const takt_redis_url *url, takt_resp_out *out,
                      takt_link *flight);

#endif
