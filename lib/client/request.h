/*
 * request.h: what a request names: its limit, the limits around that one, and a key for each.
 */
#ifndef TAKT_CLIENT_REQUEST_H
#define TAKT_CLIENT_REQUEST_H

#include <takt/takt.h>

#include "crypto/key_hash.h"
#include "policy/policy.h"

/* The limits on a request's way: level 0 is the innermost, each next one is around it. */
typedef struct takt_levels {
    const takt_limit *limits[TAKT_LEVELS_MAX];
    int count;
    char hashes[TAKT_LEVELS_MAX][TAKT_KEY_HASH_SIZE]; /* of the keys; "": none */
} takt_levels;

/* Finds a request's limits and checks it against them: 0 or a code and its words.  `hint`: the
 * limit that it probably names; NULL: none.  secret NULL: its keys are not asked for. */
int takt_request_check(const takt_policy *policy, const takt_limit *hint,
                       const takt_key_secret *secret, const takt_request *request,
                       takt_levels *levels, takt_error *error);

/* The key of one of its levels, as the store and everything in between know it.  It lives as long
 * as the request and its levels. */
const char *takt_request_key(const takt_request *request, const takt_levels *levels, int level);

#endif
