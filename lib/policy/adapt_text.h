/*
 * adapt_text.h: converts a limit's `adapt` between the texts of a policy and the numbers of
 * lib/core.
 */
#ifndef TAKT_POLICY_ADAPT_TEXT_H
#define TAKT_POLICY_ADAPT_TEXT_H

#include <takt/policy.h>

#include "core/limit.h"

/* Reads `adapt` of a limit (NULL: it has none) after the limit's rules. Returns 0, or TAKT_E_POLICY
 * with an error that begins with the field: "adapt.backoff: ...". */
int takt_adapt_read(const takt_adapt_text *text, takt_numbers *numbers, takt_error *error);

/* Writes ", adapt 50% 10%/min 10%", or nothing if there is no `adapt`. */
void takt_adapt_describe(const takt_adapt *adapt, char *text, size_t size);

#endif
