/*
 * policy.c: finds the policy of a worker, and reloads it on SIGHUP.
 */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "worker.h"

/* An empty variable counts as unset. NULL: no policy. */
static const char *policy_path(const takt_worker *worker)
{
    const char *path = worker->options.policy ? worker->options.policy : getenv("TAKT_POLICY");

    if (path && *path)
        return path;
    return access("takt.yaml", F_OK) == 0 ? "takt.yaml" : NULL;
}

/* Keeps the policy until the client is closed, which may use any of them. */
static bool remember(takt_worker *worker, takt_policy *policy)
{
    takt_policy **policies =
        realloc(worker->policies.all, (worker->policies.count + 1) * sizeof(takt_policy *));

    if (!policies)
        return false;
    worker->policies.all = policies;
    policies[worker->policies.count++] = policy;
    return true;
}

static bool load(takt_policy **policy, const char *path, takt_error *error)
{
    if (takt_policy_load(policy, path, error) != 0)
        return false;
    if (takt_policy_check(*policy, error) == 0)
        return true;
    takt_policy_free(*policy);
    return false;
}

int takt_worker_policy_open(takt_worker *worker)
{
    const char *path = policy_path(worker);
    takt_error error = {0};
    takt_policy *policy;

    if (!path) {
        takt_worker_say("there is no policy: write ./takt.yaml, or name a file with --policy or "
                        "$TAKT_POLICY");
        return EX_CONFIG;
    }
    if (!load(&policy, path, &error)) {
        takt_worker_say("%s", error.text);
        return error.code == TAKT_E_NOMEM ? EX_OSERR : EX_CONFIG;
    }
    if (remember(worker, policy))
        return 0;
    takt_policy_free(policy);
    takt_worker_say("%s", takt_strerror(TAKT_E_NOMEM));
    return EX_OSERR;
}

static bool put_in_force(takt_worker *worker, takt_policy *policy, takt_error *error)
{
    if (takt_policy_follows(policy)) {
        strcpy(error->text, "the limits are in the store: the program follows their changes "
                            "without a signal, but must be restarted to use another store");
        return false;
    }
    return takt_reload(worker->client, policy, error) == 0;
}

void takt_worker_policy_reread(takt_worker *worker)
{
    const char *path = policy_path(worker);
    takt_error error = {.text = "./takt.yaml no longer exists"};
    takt_policy *policy = NULL;

    if (path && load(&policy, path, &error) && remember(worker, policy)) {
        if (put_in_force(worker, policy, &error)) {
            takt_report_say(worker->report, "policy",
                            "the policy file was read again and is in use");
            return;
        }
        worker->policies.count--;
    }
    takt_policy_free(policy);
    takt_worker_say("the policy is unchanged: %s", error.text);
}

void takt_worker_policy_free(takt_worker *worker)
{
    for (unsigned i = 0; i < worker->policies.count; i++)
        takt_policy_free(worker->policies.all[i]);
    free(worker->policies.all);
}
