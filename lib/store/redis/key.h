/*
 * key.h: under which names a ledger lies in a server.
 *
 *     takt:{NAMESPACE/LIMIT/KEY}          the ledger's text
 *     takt:{NAMESPACE/LIMIT/KEY}:REST     whatever else belongs to it
 *
 * The first is also the channel of what concerns all who wait there, and with a worker's number in
 * hexadecimal for REST, of what concerns that worker alone.
 *
 * The parts are percent-encoded, so that no two ledgers share a name and none holds a brace: what
 * stands between the braces decides on which node of a cluster a name lies, and all names of a
 * ledger lie together.
 */
#ifndef TAKT_STORE_REDIS_KEY_H
#define TAKT_STORE_REDIS_KEY_H

#include <stddef.h>

#include <takt/policy.h>

#define TAKT_REDIS_KEY_PREFIX "takt:{"
#define TAKT_REDIS_REST_MAX   17 /* bytes of ":REST" */

/* A name with NUL: every byte may take three. */
#define TAKT_REDIS_KEY_SIZE                                                                        \
    (sizeof TAKT_REDIS_KEY_PREFIX "//}" + 3 * (2 * TAKT_NAME_SIZE_MAX + TAKT_KEY_SIZE_MAX) +       \
     TAKT_REDIS_REST_MAX)

/* Writes a ledger's name with NUL and returns its length; 0 where a part is longer than it may be
 * or `rest` ("" or ":REST") is. */
size_t takt_redis_key(char name[TAKT_REDIS_KEY_SIZE], const char *name_space, const char *limit,
                      const char *key, const char *rest);

#endif
