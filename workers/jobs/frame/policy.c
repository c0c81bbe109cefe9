/*
 * policy.c: finds the policy of a worker, and reloads it on SIGHUP.
 */
#include <sysexits.h>

#include "worker.h"

int takt_worker_policy_open(takt_worker *worker)
{
    const char *path = takt_policy_file(worker->options.policy);
    takt_error error = {0};

    if (!path) {
        takt_worker_say("there is no policy: write ./takt.yaml, or name a file with --policy or "
                        "$TAKT_POLICY");
        return EX_CONFIG;
    }
    int status = takt_policy_file_load(&worker->policy, path, &error);
    if (status)
        takt_worker_say("%s", error.text);
    return status;
}

void takt_worker_policy_reread(takt_worker *worker)
{
    const char *path = takt_policy_file(worker->options.policy);
    takt_error error = {0};

    if (takt_policy_file_reread(&worker->policy, &worker->former, path, NULL, worker->client,
                                &error))
        takt_report_say(worker->report, "policy", "the policy file was read again and is in use");
    else
        takt_worker_say("the policy is unchanged: %s", error.text);
}

void takt_worker_policy_free(takt_worker *worker)
{
    takt_former_policies_free(&worker->former);
    takt_policy_free(worker->policy);
}
