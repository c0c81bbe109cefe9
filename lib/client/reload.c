/*
 * reload.c: a program gives its running client another policy.  (follow.c follows the policy in the
 * store.)
 */
#include "base/fail.h"
#include "client/follow.h"

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
    if (code == 0)
        code = takt_client_check_hashes(client, policy, error);
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
