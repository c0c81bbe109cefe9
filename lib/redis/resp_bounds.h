/*
 * resp_bounds.h: is a stream of replies well-formed RESP2, and of a size that its reader
 * expects?
 *
 * hiredis of some versions allocates whatever a reply announces, and takes numbers that are none;
 * so every byte passes here first.  Decides nothing about what replies mean; allocates nothing.
 */
#ifndef TAKT_REDIS_RESP_BOUNDS_H
#define TAKT_REDIS_RESP_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

/* What the store's own scripts answer at most. */
#define TAKT_RESP_DEPTH_MAX 4    /* arrays in arrays */
#define TAKT_RESP_NODES_MAX 1024 /* values in one reply, arrays included */
#define TAKT_RESP_BYTES_MAX                                                                        \
    (1024 * 1024 + 65536) /* of all strings of one reply: a policy and its history */

#define TAKT_RESP_LINE_MAX  8192 /* bytes of a status or an error, for anybody */
#define TAKT_RESP_DEPTH_ANY 6    /* the most that a takt_resp_max can allow */

typedef struct takt_resp_max {
    int depth, nodes;
    int64_t bytes;
    int code; /* that a larger reply is refused with */
} takt_resp_max;

extern const takt_resp_max takt_resp_of_scripts; /* the numbers above */

typedef struct takt_resp_bounds {
    const takt_resp_max *max; /* NULL: takt_resp_of_scripts */
    enum { TAKT_RESP_TYPE, TAKT_RESP_LINE, TAKT_RESP_LF, TAKT_RESP_BULK, TAKT_RESP_BULK_END } state;
    char type;
    char line[24]; /* a number so far; of a text only its length counts */
    size_t line_size;
    int64_t bulk_left;
    int64_t bytes; /* of the reply's strings so far */
    int nodes;
    int depth;
    size_t whole; /* bytes of the last call up to the end of a reply; 0: none ended in it */
    int left[TAKT_RESP_DEPTH_ANY]; /* values that the arrays around still await */
} takt_resp_bounds;

/* Begins as zeros, but for `max`.  Passes over the next bytes of the stream: 0; else it is not what
 * we expect, and nothing of it is to be read any more: TAKT_E_STORE, or the code of `max`, with a
 * static text in *why. */
int takt_resp_bounds_pass(takt_resp_bounds *bounds, const char *bytes, size_t size,
                          const char **why);

#endif
