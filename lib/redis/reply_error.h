/*
 * reply_error.h: what an error reply means to us.  Decides between trying again, another
 * connection, waiting for the server, and telling a person; pure.
 *
 * Of an error's text only its first word is ever shown: servers repeat arguments in their errors,
 * and an argument may be a password.
 */
#ifndef TAKT_REDIS_REPLY_ERROR_H
#define TAKT_REDIS_REPLY_ERROR_H

#include <stddef.h>

typedef enum takt_redis_reaction {
    TAKT_REDIS_LOAD_SCRIPT, /* the script is not there: nothing was done, load it and say it again
                             */
    TAKT_REDIS_FAIL_CALL,   /* this call fails, the connection is as good as before */
    TAKT_REDIS_RECONNECT    /* no call can succeed on this connection: leave it, come back later */
} takt_redis_reaction;

typedef struct takt_redis_trouble {
    takt_redis_reaction reaction;
    int code; /* of takt/error.h: what the calls concerned come back with */
    /* what is wrong and what to do about it, to follow "SERVER: "; static */
    const char *text;
    char word[24]; /* the error's first word; "" if servers do not use it */
} takt_redis_trouble;

/* Judges the text of an error reply (without the "-" before it and the line's end). */
void takt_redis_judge(takt_redis_trouble *trouble, const char *text, size_t size);

#endif
