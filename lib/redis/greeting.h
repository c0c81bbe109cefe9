/*
 * greeting.h: what is said to a server before anything else: who we are (AUTH), which database
 * (SELECT) and our name.  Decides which of it is said, and which refusals matter.
 */
#ifndef TAKT_REDIS_GREETING_H
#define TAKT_REDIS_GREETING_H

#include "base/list.h"
#include "redis/reply_error.h"
#include "redis/resp.h"
#include "redis/url.h"

/* Places in a greeting; of the name alone a refusal may be none. */
enum { TAKT_REDIS_AUTH, TAKT_REDIS_SELECT, TAKT_REDIS_NAME, TAKT_REDIS_GREETINGS };

typedef struct takt_redis_greeting {
    struct takt_redis_sent {
        takt_redis_command command;
        struct takt_redis_greeting *greeting;
    } sent[TAKT_REDIS_GREETINGS];
    int left; /* that are not answered */

    /* Called with NULL when all is said and done, or with why the server has to be left. */
    void (*greeted)(void *data, const takt_redis_trouble *trouble);
    void *data;
} takt_redis_greeting;

/* Writes the commands to `out`, and appends them to those under way.  False: no memory. */
bool takt_redis_greet(takt_redis_greeting *greeting, const takt_redis_url *url, takt_resp_out *out,
                      takt_link *flight);

#endif
