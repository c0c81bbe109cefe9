/*
 * levels.c: see levels.h.
 */
#include "simulate/levels.h"

#include "base/fail.h"

int takt_levels_join(takt_limit *joined, const takt_limit *limit, takt_error *error)
{
    takt_numbers *all = &joined->numbers;

    *joined = *limit;
    joined->within = NULL;
    for (const takt_limit *outer = limit->within; outer; outer = outer->within) {
        const takt_numbers *more = &outer->numbers;
        if (outer->mode != TAKT_MODE_ENFORCE)
            continue;
        if (all->rule_count + more->rule_count > TAKT_RULES_MAX)
            return takt_fail(error, TAKT_E_POLICY,
                             "limit \"%s\" and those that it is within have more than %d rules; "
                             "simulate one of them",
                             limit->name, TAKT_RULES_MAX);
        for (int i = 0; i < more->rule_count; i++)
            all->rules[all->rule_count++] = more->rules[i];
        if (more->concurrency > 0 &&
            (all->concurrency == 0 || more->concurrency < all->concurrency)) {
            all->concurrency = more->concurrency;
            all->lease_us = more->lease_us;
        }
    }
    return 0;
}
