/*
 * limit_text.h: one limit, from a person's texts to the numbers of lib/core and back.
 */
#ifndef TAKT_POLICY_LIMIT_TEXT_H
#define TAKT_POLICY_LIMIT_TEXT_H

#include <takt/policy.h>

#include "core/limit.h"

/*
 * Reads every field but `within` and `overrides` of `text` into *limit, ready for use.  0, or TAKT_E_POLICY with an
 * error that begins with the field: "rules[0].rate: ...".  *limit is untouched on failure.
 */
int takt_limit_read(const takt_limit_text *text, takt_limit *limit, takt_error *error);

/* Whether `name` may name a limit or a namespace: 0, or TAKT_E_INVALID with what is wrong in error.
 */
int takt_name_check(const char *name, takt_error *error);

/* One line about a limit, cut to `size`: see takt_policy_describe. */
void takt_limit_describe(const takt_limit *limit, const char *within, char *text, size_t size);

#endif
