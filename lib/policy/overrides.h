/*
 * overrides.h: the limit that holds for a key.  An override is a limit too: its own numbers, and
 * everything else as its limit has it.
 *
 * The override of exactly this key comes first, then the first pattern that matches, in the order
 * of the policy.  A request without a key has the limit's own numbers.
 */
#ifndef TAKT_POLICY_OVERRIDES_H
#define TAKT_POLICY_OVERRIDES_H

#include <takt/policy.h>

#include "core/limit.h"

typedef struct takt_overrides takt_overrides;

/* Reads the overrides of a limit that has been read from `text` into base->overrides.  The base
 * keeps its address.  0, or an error that begins with the field: "overrides[0].key: ...". */
int takt_overrides_read(const takt_limit_text *text, takt_limit *base, takt_error *error);

void takt_overrides_free(takt_overrides *overrides); /* NULL is harmless */

/* The override by its place in the policy; NULL: there are no more. */
takt_limit *takt_overrides_at(const takt_limit *base, size_t index);

/* An override's key or pattern, and its place among the patterns, from 1; 0: it is a key. */
const char *takt_overrides_key(const takt_limit *override);
size_t takt_overrides_rank(const takt_limit *override);

/* The override of exactly that key or pattern; NULL: there is none. */
const takt_limit *takt_overrides_named(const takt_limit *base, const char *key);

/* The override that matches the key, else the limit itself. */
const takt_limit *takt_overrides_find(const takt_limit *limit, const char *key);

/* The limit that holds for a key; "": for requests without one. */
static inline const takt_limit *takt_overrides_for(const takt_limit *limit, const char *key)
{
    return limit->overrides ? takt_overrides_find(limit, key) : limit;
}

#endif
