/*
 * overrides.h: finds the limit that applies to a key. An override is a limit, too: it has its own
 * numbers and takes all other fields from its limit.
 *
 * The override with exactly this key applies first, then the first matching pattern in the order of
 * the policy. A request without a key has the numbers of the limit. limit_text.h reads the fields.
 */
#ifndef TAKT_POLICY_OVERRIDES_H
#define TAKT_POLICY_OVERRIDES_H

#include <takt/policy.h>

#include "core/limit.h"

typedef struct takt_overrides takt_overrides;

/* Reads the overrides of `base`, a limit read from `text`, into base->overrides. The address of
 * base must stay the same. Returns 0, or an error that begins with the field:
 * "overrides[0].key: ...". */
int takt_overrides_read(const takt_limit_text *text, takt_limit *base, takt_error *error);

void takt_overrides_free(takt_overrides *overrides); /* NULL is harmless */

/* The override at a position in the policy. NULL: there are fewer overrides. */
takt_limit *takt_overrides_at(const takt_limit *base, size_t index);

/* The key or pattern of an override; and the position of its pattern, from 1 (0: it has a key). */
const char *takt_overrides_key(const takt_limit *override);
size_t takt_overrides_rank(const takt_limit *override);

/* The override with exactly this key or pattern. NULL: there is none. */
const takt_limit *takt_overrides_named(const takt_limit *base, const char *key);

/* The override that applies to a key, else the limit itself. */
const takt_limit *takt_overrides_find(const takt_limit *limit, const char *key);

/* The limit that applies to a key; "": requests without a key. */
static inline const takt_limit *takt_overrides_for(const takt_limit *limit, const char *key)
{
    return limit->overrides ? takt_overrides_find(limit, key) : limit;
}

#endif
