/*
 * policy_file.c: see policy_file.h.
 */
#include "kit/policy_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

const char *takt_policy_file(const char *given)
{
    const char *variable = getenv("TAKT_POLICY");

    if (given || (variable && *variable)) /* an empty variable counts as unset */
        return given ? given : variable;
    return access("takt.yaml", F_OK) == 0 ? "takt.yaml" : NULL;
}

int takt_policy_file_load(takt_policy **policy, const char *path, takt_error *error)
{
    if (takt_policy_load(policy, path, error) == 0)
        return 0;
    return error->code == TAKT_E_NOMEM ? EX_OSERR : EX_CONFIG;
}

/* The client gets the policy, and the present one becomes former. */
static bool replace(takt_policy **policy, takt_former_policies *former, takt_policy *made,
                    takt_client *client, takt_error *error)
{
    takt_policy **all = realloc(former->all, (former->count + 1) * sizeof(*all));

    if (!all) {
        *error = (takt_error){TAKT_E_NOMEM, "no memory"};
        return false;
    }
    former->all = all;
    if (takt_reload(client, made, error) != 0)
        return false;
    all[former->count++] = *policy;
    *policy = made;
    return true;
}

bool takt_policy_file_reread(takt_policy **policy, takt_former_policies *former, const char *path,
                             const char *limit, takt_client *client, takt_error *error)
{
    takt_policy *made;

    *error = (takt_error){TAKT_E_POLICY, "./takt.yaml no longer exists"};
    if (!path)
        return false;
    if (takt_policy_load(&made, path, error) != 0)
        return false;
    if (takt_policy_follows(made))
        snprintf(error->text, sizeof(error->text),
                 "%s: the limits are in the store: the program follows their changes without a "
                 "signal, but must be restarted to use another store",
                 path);
    else if (limit && !takt_policy_has(made, limit))
        snprintf(error->text, sizeof(error->text), "%s no longer has the limit \"%s\"", path,
                 limit);
    else if (replace(policy, former, made, client, error))
        return true;
    takt_policy_free(made);
    return false;
}

void takt_former_policies_free(takt_former_policies *former)
{
    for (size_t i = 0; i < former->count; i++)
        takt_policy_free(former->all[i]);
    free(former->all);
    *former = (takt_former_policies){0};
}
