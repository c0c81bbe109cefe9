/*
 * request.h: what a request names: its limit, the limits around that one, and a key for each.
 */
#ifndef TAKT_CLIENT_REQUEST_H
#define TAKT_CLIENT_REQUEST_H

#include <takt/takt.h>

#include "policy/policy.h"

/* The limits on a request's way: level 0 is the innermost, each next one is around it. */
typedef struct takt_levels {
    const takt_limit *limits[TAKT_LEVELS_MAX];
    int count;
} takt_levels;

/* Finds a request's limits and checks it against them: 0 or a code and its words.  `hint`: the
 * limit that it probably names; NULL: none. */
int takt_request_check(const takt_policy *policy, const takt_limit *hint,
                       const takt_request *request, takt_levels *levels, takt_error *error);

/* The key of one of its levels. */
const char *takt_request_key(const takt_request *request, int level);

#endif
