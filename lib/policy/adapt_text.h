/*
 * adapt_text.h: a limit's `adapt`, from a person's texts to the numbers of lib/core and back.
 */
#ifndef TAKT_POLICY_ADAPT_TEXT_H
#define TAKT_POLICY_ADAPT_TEXT_H

#include <takt/policy.h>

#include "core/limit.h"

/* Reads `adapt` of a limit whose rules are read (NULL: it has none).  0, or TAKT_E_POLICY with an
 * error that begins with the field: "adapt.backoff: ...". */
int takt_adapt_read(const takt_adapt_text *text, takt_numbers *numbers, takt_error *error);

/* ", adapt 50% 10%/min 10%", if there is one. */
void takt_adapt_describe(const takt_adapt *adapt, char *text, size_t size);

#endif
