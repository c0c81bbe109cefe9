/*
 * reply_error.h: what an error reply means. Decides between a new attempt, a new connection,
 * waiting for the server, and a message to a person. Pure.
 *
 * Messages show only the first word of an error: servers repeat arguments in errors, and an
 * argument may be a password.
 */
#ifndef TAKT_REDIS_REPLY_ERROR_H
#define TAKT_REDIS_REPLY_ERROR_H

#include <stdbool.h>
#include <stddef.h>

typedef enum takt_redis_reaction {
    /* the server does not have the script and did nothing: load it and send the call again */
    TAKT_REDIS_LOAD_SCRIPT,
    TAKT_REDIS_FAIL_CALL, /* this call fails, the connection is good */
    TAKT_REDIS_RECONNECT  /* no call can succeed on this connection: close it and reconnect later */
} takt_redis_reaction;

typedef struct takt_redis_trouble {
    takt_redis_reaction reaction;
    int code; /* of takt/error.h: the code of the failed calls */
    /* what is wrong and what to do about it, to follow "SERVER: "; static */
    const char *text;
    char word[24]; /* the error's first word; "" if servers do not use it */
    bool names;    /* the user may not use the names of the call's keys or channels */
} takt_redis_trouble;

/* Whether a node of a cluster passes the error soon, and has done nothing: worth another attempt.
 * `in_cluster`: it is known to be such a node. */
bool takt_redis_passes(const takt_redis_trouble *trouble, bool in_cluster);

/* Judges the text of an error reply (without the "-" before it and the line end). */
void takt_redis_judge(takt_redis_trouble *trouble, const char *text, size_t size);

#endif
