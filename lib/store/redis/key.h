/*
 * key.h: the keys of a ledger in a server.
 *
 *     takt:{NAMESPACE/LIMIT/KEY}          the ledger's text
 *     takt:{NAMESPACE/LIMIT/KEY}:REST     the other keys of the ledger
 *
 * The first name is also the channel for all workers of the ledger; with a worker's number in
 * hexadecimal as REST it is the channel of that worker.
 *
 * The parts are percent-encoded, so that no two ledgers share a name and no part contains a brace.
 * The text between the braces selects the node of a cluster, so all keys of a ledger are on one
 * node.
 *
 * A namespace in braces of its own, "{NAMESPACE}", has names of another form:
 *
 *     takt:{NAMESPACE}/LIMIT/KEY
 *     takt:{NAMESPACE}/LIMIT/KEY:REST
 *
 * All its ledgers are in one slot, and one script can decide about several of them.
 */
#ifndef TAKT_STORE_REDIS_KEY_H
#define TAKT_STORE_REDIS_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include <takt/policy.h>

#define TAKT_REDIS_KEY_PREFIX "takt:{"
#define TAKT_REDIS_REST_MAX   17 /* bytes of ":REST" */

/* The size of a name with NUL; each byte may become three. */
#define TAKT_REDIS_KEY_SIZE                                                                        \
    (sizeof TAKT_REDIS_KEY_PREFIX "//}" + 3 * (2 * TAKT_NAME_SIZE_MAX + TAKT_KEY_SIZE_MAX) +       \
     TAKT_REDIS_REST_MAX)

/* Writes a ledger's name with NUL and returns its length; 0: a part or `rest` ("" or ":REST") is
 * too long. */
size_t takt_redis_key(char name[TAKT_REDIS_KEY_SIZE], const char *name_space, const char *limit,
                      const char *key, const char *rest);

/* Whether the namespace is in braces: all its ledgers share a slot. */
bool takt_redis_key_shares_slot(const char *name_space);

#endif
