/*
 * limit_of.c: the one thing that a simulation wants of a policy: a limit by its name.  No other
 * file here knows how a policy keeps its limits.
 */
#include <takt/simulate.h>

#include "policy/policy.h"

const takt_limit *takt_policy_limit(const takt_policy *policy, const char *name)
{
    return takt_policy_find(policy, name);
}
