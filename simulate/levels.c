/*
 * levels.c: see levels.h.
 */
#include "simulate/levels.h"

#include <string.h>

#include "base/fail.h"

/* Whether some rules count what a job costs. */
static bool counts_cost(const takt_numbers *numbers)
{
    for (int i = 0; i < numbers->rule_count; i++)
        if (numbers->rules[i].unit == TAKT_UNIT_TOKENS)
            return true;
    return false;
}

/* A simulated job has one cost, so all levels have to count the same unit. */
static int join_units(takt_limit *joined, const takt_limit *outer, takt_error *error)
{
    if (!counts_cost(&outer->numbers))
        return 0;
    if (!counts_cost(&joined->numbers))
        strcpy(joined->unit, outer->unit);
    if (strcmp(joined->unit, outer->unit) == 0)
        return 0;
    return takt_fail(error, TAKT_E_POLICY,
                     "limit \"%s\" counts %s, and \"%s\", which it is within, %s; a simulated job "
                     "has one cost: simulate one of them",
                     joined->name, joined->unit[0] ? joined->unit : "a cost", outer->name,
                     outer->unit[0] ? outer->unit : "a cost");
}

int takt_levels_join(takt_limit *joined, const takt_limit *limit, takt_error *error)
{
    takt_numbers *all = &joined->numbers;

    *joined = *limit;
    joined->within = NULL;
    for (const takt_limit *outer = limit->within; outer; outer = outer->within) {
        const takt_numbers *more = &outer->numbers;
        if (outer->mode != TAKT_MODE_ENFORCE)
            continue;
        if (join_units(joined, outer, error) != 0)
            return TAKT_E_POLICY;
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
