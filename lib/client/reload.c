/*
 * reload.c: another policy for a client that is at work.  Decides what becomes of what the client
 * knows by limit; the queues are the scheduler's (scheduler/renew.c).
 */
#include <stdlib.h>

#include "base/fail.h"
#include "client/client.h"

static const takt_limit *find(const void *policy, const char *name)
{
    return takt_policy_find(policy, name);
}

/* Of the limits that both have, those for which TAKT_EVENT_FALLBACK was told; NULL: no memory. */
static bool *carry_fallen(const takt_client *client, const takt_policy *policy)
{
    bool *fallen = calloc(policy->limit_count + 1, sizeof *fallen);

    for (size_t i = 0; fallen && i < policy->limit_count; i++) {
        const char *name = policy->limits[i]->name;
        fallen[i] = takt_policy_find(client->policy, name) &&
                    client->fallen[takt_policy_index(client->policy, name)];
    }
    return fallen;
}

int takt_client_renew(takt_client *client, const takt_policy *policy)
{
    bool *fallen = carry_fallen(client, policy);

    if (!fallen)
        return TAKT_E_NOMEM;
    free(client->fallen);
    client->fallen = fallen;
    client->policy = policy;
    client->asked = NULL;
    client->renewed = true;
    takt_renew_policy(&client->scheduler, find, policy);
    takt_client_ask(client);
    return 0;
}

int takt_reload(takt_client *client, const takt_policy *policy, takt_error *error)
{
    int code;

    if (!client || !policy)
        return takt_fail(error, TAKT_E_INVALID, "takt_reload: client and policy are required");
    if (takt_client_is_forked(client))
        return takt_fail(error, TAKT_E_FORKED, "%s", takt_strerror(TAKT_E_FORKED));
    if (client->closing)
        return takt_fail(error, TAKT_E_CANCELED, "the client is closing");
    if (takt_policy_follows(policy))
        return takt_fail(error, TAKT_E_INVALID,
                         "takt_reload: a policy that follows the store's is for takt_open");
    code = takt_policy_check(policy, error);
    if (code < 0)
        return code;
    code = takt_client_renew(client, policy);
    if (code < 0)
        return takt_fail(error, code, "no memory");
    takt_follow_stop(client);
    return 0;
}

const takt_policy *takt_get_policy(const takt_client *client)
{
    return client->policy;
}
