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
 * A value. The values of an array follow it, each with all its own values, so a reply is read from
 * its first value on: of ["a", [1, 2], "b"] reply[0] is the array (count 3), reply[1] is "a",
 * reply[2] the inner array (count 2), reply[3] is 1, reply[4] is 2, reply[5] "b". takt_reply_after
 * steps over a value with all its values.
 */
typedef struct takt_reply {
    takt_reply_type type;
    int64_t integer;
    int count; /* of an array: its values, without those of inner arrays */
    /* of a status, an error, a string: ends with a NUL that size does not count; a string may
     * contain more NULs */
    const char *text;
    size_t size;
} takt_reply;

/* The value after this one and its values. If the value is the last one, the result is the end of
 * the reply. */
const takt_reply *takt_reply_after(const takt_reply *reply);

/*
 * A command under way. Its owner keeps the memory until answered() is called, once, with the reply
 * (which may be an error, and is valid during the call), or with NULL and `code` if the connection
 * was lost before the reply. answered() may send more commands, also with this memory.
 */
struct takt_redis_command {
    takt_link link;                                                                   /* private */
    void (*answered)(takt_redis_command *command, const takt_reply *reply, int code); /* public */
    void *data;       /* public: the owner's */
    uint64_t sent_ns; /* private */
};

#endif
