/*
 * What the limits around a limit (`within`) say of its work: wait notices, `takt peek` and
 * `takt top` read their ledgers too.
 */
#ifndef TAKT_KIT_OUTER_LIMIT_H
#define TAKT_KIT_OUTER_LIMIT_H

#include <stdbool.h>

#include <takt/takt.h>

/* The next limit around this one that may delay its work; NULL: none. Limits in shadow delay none.
 * `levels` (or NULL) grows by how much further out it is. */
const char *takt_outer_limit(const takt_policy *policy, const char *limit, int *levels);

/* Whether the policy has nested limits: one claim decides about several levels, those that enforce
 * or those in shadow. */
bool takt_has_nested_limits(const takt_policy *policy);

/* Whether nothing starts before something else than the passing of tokens: the limit is blocked, or
 * all permits are held. */
bool takt_holds_up(const takt_standing *standing);

#endif
