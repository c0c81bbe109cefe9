/*
 * renew.c: a client changes to another policy.  Its queues and the work in them follow
 * (scheduler/renew.h).
 */
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/request.h"
#include "policy/amounts.h"
#include "policy/weights.h"
#include "scheduler/renew.h"

/* Whether programs behind an agent have brought the limit along. */
static bool is_brought(const takt_client *client, const takt_limit *limit)
{
    const takt_brought_limit *brought = client->brought;

    while (brought && &brought->limit != limit)
        brought = brought->next;
    return brought;
}

/* What the change needs. */
typedef struct change {
    const takt_client *client;
    const takt_policy *replaced;
    takt_demand joined[TAKT_LEVELS_MAX]; /* have the texts of the levels that joined last */
    int joins;
} change;

static const takt_limit *before(const void *data, const char *name)
{
    return takt_policy_find(((const change *)data)->replaced, name);
}

/* A limit that only programs have stays, and so does one of theirs that is newer. */
static const takt_limit *find(const void *data, const takt_limit *limit, const char *key)
{
    const takt_client *client = ((const change *)data)->client;
    const takt_limit *found = takt_policy_renewed(client->policy, limit, key);

    return (!found || found->numbers.revision < limit->numbers.revision) &&
                   is_brought(client, limit)
               ? limit
               : found;
}

/* The name that a hash stands for is not known here: its weight holds until the next acquire. */
static int32_t weigh(const void *data, const takt_limit *limit, const char *tenant, int32_t weight)
{
    if (is_brought(((const change *)data)->client, limit))
        return weight; /* the programs say it */
    if (limit->fair == TAKT_FAIR_WORKER)
        return 1;
    return limit->key_hash ? weight : takt_weights_of(limit, tenant);
}

/* ---- limits that are around others now ------------------------------------------------------- */

static void state(takt_request *request, const char *unit, int32_t amount)
{
    int at = 0;

    while (at < TAKT_AMOUNTS_MAX && request->amounts[at].unit &&
           strcmp(request->amounts[at].unit, unit) != 0)
        at++;
    if (at < TAKT_AMOUNTS_MAX)
        request->amounts[at] = (takt_amount){unit, amount};
}

/* A request that takes what the levels take. */
static void state_amounts(takt_request *request, const takt_level *levels, int count)
{
    for (int i = 0; i < count; i++) {
        const takt_limit *limit = levels[i].limit;
        if (limit->unit[0])
            state(request, limit->unit, levels[i].cost);
        else
            request->cost = levels[i].cost;
        for (int j = 0; j < TAKT_MORE_MAX && limit->more_units[j][0]; j++)
            state(request, limit->more_units[j], levels[i].more.of[j]);
    }
}

/* The level is that of a request for the limit inside which names no key further out. */
static bool join(void *data, const takt_level *levels, int count, const takt_level *inside,
                 const takt_limit *outer, const char *tenant, takt_level *joined)
{
    change *now = data;
    takt_demand *demand = &now->joined[now->joins++ % TAKT_LEVELS_MAX];
    takt_request request = TAKT_REQUEST(inside->limit->name);
    int level = 0;

    request.key = inside->key;
    request.tenant = tenant;
    state_amounts(&request, levels, count);
    if (takt_request_check(now->client->policy, NULL, &now->client->key_secret, &request, demand,
                           NULL) < 0)
        return false;
    while (level < demand->count && strcmp(demand->limits[level]->name, outer->name) != 0)
        level++;
    if (level == demand->count)
        return false;
    joined->limit = demand->limits[level];
    joined->key = takt_request_key(&request, demand, level);
    joined->tenant = takt_request_tenant(&request, demand, level, &joined->weight);
    (void)takt_amounts_read(&request, joined->limit, &joined->cost, &joined->more, NULL);
    return true;
}

/* ---- the change ------------------------------------------------------------------------------ */

/* The events already sent, for the limits that both policies have; NULL: no memory. */
static uint8_t *carry_told(const takt_client *client, const takt_policy *policy)
{
    uint8_t *told = calloc(policy->limit_count + 1, sizeof *told);

    for (size_t i = 0; told && i < policy->limit_count; i++) {
        const char *name = policy->limits[i]->name;
        if (takt_policy_find(client->policy, name))
            told[i] = client->told[takt_policy_index(client->policy, name)] & TAKT_TOLD_FALLBACK;
    }
    return told;
}

int takt_client_check_hashes(const takt_client *client, const takt_policy *policy,
                             takt_error *error)
{
    for (size_t i = 0; i < policy->limit_count; i++)
        if (policy->limits[i]->key_hash) {
            int code = takt_key_hash_check(&client->key_secret, policy->limits[i]->name, error);
            if (code < 0)
                return code;
        }
    return 0;
}

int takt_client_renew(takt_client *client, const takt_policy *policy)
{
    uint8_t *told = carry_told(client, policy);
    change now = {.client = client, .replaced = client->policy};
    const takt_successor to = {before, find, weigh, join, &now};

    if (!told)
        return TAKT_E_NOMEM;
    free(client->told);
    client->told = told;
    client->policy = policy;
    client->asked = NULL;
    client->renewed = true;
    takt_renew_policy(&client->scheduler, &to);
    takt_client_ask(client);
    return 0;
}
