/*
 * limit_of.c: finds a policy's limit by name. No other file here depends on how a policy keeps its
 * limits.
 */
#include <takt/simulate.h>

#include "policy/policy.h"

const takt_limit *takt_policy_limit(const takt_policy *policy, const char *name)
{
    return takt_policy_find(policy, name);
}
