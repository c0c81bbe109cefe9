/*
 * amounts.h: what a request takes of the units that the rules of its limits count.
 *
 * A request states a cost, for limits whose rules name no unit, and amounts of named units.  Each
 * limit takes the amounts of its own units, and its default where the request states none.
 */
#ifndef TAKT_POLICY_AMOUNTS_H
#define TAKT_POLICY_AMOUNTS_H

#include <takt/takt.h>

#include "core/limit.h"

/* Whether the request states a cost of 1 and nothing else, which is possible of all limits. */
static inline bool takt_amounts_are_plain(const takt_request *request)
{
    bool stated = request->cost != 1;

    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++)
        stated |= request->amounts[i].unit != NULL;
    return !stated;
}

/* Whether the amounts and the cost that a request states are possible, and counted by one of
 * `count` limits at least.  0, or TAKT_E_INVALID. */
int takt_amounts_check(const takt_request *request, const takt_limit *const *limits, int count,
                       takt_error *error);

/* What the request takes of a limit's units: the amount of the first, or the cost, and of the
 * others.  0, or TAKT_E_INVALID if an amount is missing. */
int takt_amounts_read(const takt_request *request, const takt_limit *limit, int32_t *cost,
                      takt_more *more, takt_error *error);

#endif
