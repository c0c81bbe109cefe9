/*
 * outer_limit.c: see outer_limit.h.
 */
#include "kit/outer_limit.h"

const char *takt_outer_limit(const takt_policy *policy, const char *limit, int *levels)
{
    takt_mode mode;

    do {
        limit = takt_policy_within(policy, limit);
        if (levels)
            ++*levels;
    } while (limit && takt_policy_mode(policy, limit, &mode) == 0 && mode == TAKT_MODE_SHADOW);
    return limit;
}

static bool is_nested(const takt_policy *policy, const char *limit)
{
    int enforcing = 0, in_shadow = 0;
    takt_mode mode;

    for (; limit; limit = takt_policy_within(policy, limit))
        if (takt_policy_mode(policy, limit, &mode) == 0)
            ++*(mode == TAKT_MODE_SHADOW ? &in_shadow : &enforcing);
    return enforcing > 1 || in_shadow > 1;
}

bool takt_has_nested_limits(const takt_policy *policy)
{
    for (size_t i = 0; i < takt_policy_count(policy); i++)
        if (is_nested(policy, takt_policy_name(policy, i)))
            return true;
    return false;
}

bool takt_holds_up(const takt_standing *standing)
{
    return standing->blocked_until_us > standing->now_us ||
           (standing->concurrency > 0 && standing->held >= standing->concurrency);
}
