/*
 * request.h: what a request names: its limit, the limits around it, and a key for each of them.
 */
#ifndef TAKT_CLIENT_REQUEST_H
#define TAKT_CLIENT_REQUEST_H

#include <takt/takt.h>

#include "crypto/key_hash.h"
#include "policy/policy.h"

/* What a request takes of which limits, or of their overrides for its keys.  Level 0 is the
 * innermost limit, which the request names; each next level is around it. */
typedef struct takt_demand {
    const takt_limit *limits[TAKT_LEVELS_MAX];
    int count;
    /* What the request takes of each: takt_request_costs. */
    int64_t costs[TAKT_LEVELS_MAX];
    int64_t more[TAKT_LEVELS_MAX][TAKT_MORE_MAX];
    char hashes[TAKT_LEVELS_MAX][TAKT_KEY_HASH_SIZE]; /* of the keys; "": not hashed */
    /* Names of the tenant that are hashed or shortened; "": it is as the request has it. */
    char tenants[TAKT_LEVELS_MAX][TAKT_TENANT_SIZE_MAX + 1];
} takt_demand;

/* Finds a request's limits, and checks all of the request but its amounts.  Returns 0 or a code,
 * with its message in *error.  `hint`: the limit that the request probably names, or NULL.  With
 * secret NULL the keys are not checked. */
int takt_request_check(const takt_policy *policy, const takt_limit *hint,
                       const takt_key_secret *secret, const takt_request *request,
                       takt_demand *demand, takt_error *error);

/* Sets what the request takes on each level: the amount of the limit's unit, or the cost.  Returns
 * 0, TAKT_E_INVALID, or TAKT_E_COST if a limit can never give it.  Calls that only look or steer
 * state no amounts. */
int takt_request_costs(const takt_request *request, takt_demand *demand, takt_error *error);

/* Whether work may be asked for: sets the costs, and refuses a key whose override refuses all work
 * (TAKT_E_COST). */
int takt_request_admit(const takt_request *request, takt_demand *demand, takt_error *error);

/* What a request takes of further units on a level. */
static inline takt_more takt_request_more(const takt_demand *demand, int level)
{
    takt_more more;

    for (int i = 0; i < TAKT_MORE_MAX; i++)
        more.of[i] = (int32_t)demand->more[level][i];
    return more;
}

/* The key of one level, as the store and the scheduler know it.  It lives as long as the request
 * and its demand. */
const char *takt_request_key(const takt_request *request, const takt_demand *demand, int level);

/* The tenant at a level that has tenants, as the store and the scheduler know it, and its weight.
 */
const char *takt_request_tenant_at(const takt_request *request, const takt_demand *demand,
                                   int level, int32_t *weight);

/* The same of any level; NULL: the limit has no tenants, and *weight is 1. */
static inline const char *takt_request_tenant(const takt_request *request,
                                              const takt_demand *demand, int level, int32_t *weight)
{
    *weight = 1;
    return demand->limits[level]->fair == TAKT_FAIR_WORKER
               ? NULL
               : takt_request_tenant_at(request, demand, level, weight);
}

#endif
