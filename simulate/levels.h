/*
 * levels.h: a limit together with the limits that it is `within`, as one limit.
 *
 * All simulated work is of one limit and key, and nothing else uses the limits around it. So the
 * rules of all levels hold at once for all of it, and of the permits those of the narrowest level.
 * Rules of two levels that name the same unit count the same amount.
 */
#ifndef TAKT_SIMULATE_LEVELS_H
#define TAKT_SIMULATE_LEVELS_H

#include <takt/error.h>
#include <takt/standing.h>

#include "core/limit.h"

/* 0, or TAKT_E_POLICY and why: all levels have more than TAKT_RULES_MAX rules. Levels around the
 * limit that are in shadow do not count. */
int takt_levels_join(takt_limit *joined, const takt_limit *limit, takt_error *error);

/* The name of the level that a rule of the joined limit is of. */
const char *takt_levels_name(const takt_limit *limit, int rule);

/* What simulated work takes of the joined limit, which states a cost and TAKT_AMOUNTS_MAX amounts:
 * the amount of its first unit, and of the others. 0, or TAKT_E_INVALID and why. */
int takt_levels_amounts(const takt_limit *joined, int32_t cost, const takt_amount *amounts,
                        int32_t *taken, takt_more *more, takt_error *error);

#endif
