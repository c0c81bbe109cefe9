/*
 * resp_bounds.h: checks that a stream of replies is well-formed RESP2 and within the reader's
 * bounds.
 *
 * Some versions of hiredis allocate whatever a reply announces, and accept malformed numbers; so
 * every byte is checked here first. Replies are not interpreted; nothing is allocated.
 */
#ifndef TAKT_REDIS_RESP_BOUNDS_H
#define TAKT_REDIS_RESP_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

/* The largest reply of the store's own scripts. */
#define TAKT_RESP_DEPTH_MAX 4    /* arrays in arrays */
#define TAKT_RESP_NODES_MAX 1024 /* values in one reply, arrays included */
#define TAKT_RESP_BYTES_MAX                                                                        \
    (1024 * 1024 + 65536) /* of all strings of one reply: a policy and its history */

#define TAKT_RESP_LINE_MAX  8192 /* bytes of a status or an error, for all readers */
#define TAKT_RESP_DEPTH_ANY 6    /* the largest depth of a takt_resp_max */

typedef struct takt_resp_max {
    int depth, nodes;
    int64_t bytes;
    int code; /* the error code of a larger reply */
} takt_resp_max;

extern const takt_resp_max takt_resp_of_scripts; /* the numbers above */

typedef struct takt_resp_bounds {
    const takt_resp_max *max; /* NULL: takt_resp_of_scripts */
    enum { TAKT_RESP_TYPE, TAKT_RESP_LINE, TAKT_RESP_LF, TAKT_RESP_BULK, TAKT_RESP_BULK_END } state;
    char type;
    char line[24]; /* the number so far; of a text only the length counts */
    size_t line_size;
    int64_t bulk_left;
    int64_t bytes; /* of the reply's strings so far */
    int nodes;
    int depth;
    size_t whole; /* bytes of the last call up to the end of a reply; 0: no reply ended in it */
    int left[TAKT_RESP_DEPTH_ANY]; /* values that each open array still expects */
} takt_resp_bounds;

/* Zeros at first, except `max`. Checks the next bytes of the stream: 0; otherwise the rest must not
 * be read: TAKT_E_STORE, or the code of `max`, with a static text in *why. */
int takt_resp_bounds_pass(takt_resp_bounds *bounds, const char *bytes, size_t size,
                          const char **why);

#endif
