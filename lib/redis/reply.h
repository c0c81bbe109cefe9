/*
 * reply.h: a reply of a server as values, and the command that it answers.
 */
#ifndef TAKT_REDIS_REPLY_H
#define TAKT_REDIS_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include <takt/links.h>

typedef struct takt_redis_command takt_redis_command;

typedef enum takt_reply_type {
    TAKT_REPLY_NIL,
    TAKT_REPLY_STATUS,
    TAKT_REPLY_ERROR,
    TAKT_REPLY_INTEGER,
    TAKT_REPLY_STRING,
    TAKT_REPLY_ARRAY
} takt_reply_type;

/*
 * A value.  Those of an array follow it, each with all that is in it, so a reply is read from its
 * first value on, one after the other: of ["a", [1, 2], "b"] reply[0] is the array (count 3),
 * reply[1] is "a", reply[2] the array in it (count 2), reply[3] is 1, reply[4] is 2, reply[5] "b".
 * takt_reply_after steps over a value with all that is in it.
 */
typedef struct takt_reply {
    takt_reply_type type;
    int64_t integer;
    int count;        /* of an array: values in it, those in arrays of it not counted */
    const char *text; /* of a status, an error, a string: ends with a NUL that size does not count;
                         a string may hold more of them */
    size_t size;
} takt_reply;

/* The value behind this one and all that is in it.  Only for a value that has one behind it; for
 * the reply as a whole it is its end. */
const takt_reply *takt_reply_after(const takt_reply *reply);

/*
 * A command under way: its owner's memory until answered() is called, once, with the reply (which
 * may be an error, and lives during the call), or with NULL where the connection was lost with
 * `code` before one came.  answered() may say more commands, also with this same memory.
 */
struct takt_redis_command {
    takt_link link;                                                                   /* private */
    void (*answered)(takt_redis_command *command, const takt_reply *reply, int code); /* public */
    void *data;       /* public: the owner's own */
    uint64_t sent_ns; /* private */
};

#endif
