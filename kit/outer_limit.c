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

bool takt_holds_up(const takt_standing *standing)
{
    return standing->blocked_until_us > standing->now_us ||
           (standing->concurrency > 0 && standing->held >= standing->concurrency);
}
