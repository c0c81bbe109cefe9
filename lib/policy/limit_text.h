/*
 * limit_text.h: converts a limit between the texts of a policy and the numbers of lib/core.
 */
#ifndef TAKT_POLICY_LIMIT_TEXT_H
#define TAKT_POLICY_LIMIT_TEXT_H

#include <takt/policy.h>

#include "core/limit.h"

/*
 * Reads all fields of `text` except `within` and `overrides` into *limit, ready for use. Returns 0,
 * or TAKT_E_POLICY with an error that begins with the field: "rules[0].rate: ...". *limit is
 * untouched on failure.
 */
int takt_limit_read(const takt_limit_text *text, takt_limit *limit, takt_error *error);

/* Describes a limit in one line, cut to `size`: see takt_policy_describe. */
void takt_limit_describe(const takt_limit *limit, const char *within, char *text, size_t size);

#endif
