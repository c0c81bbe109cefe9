/*
 * rule_text.h: one rule, from a person's texts to the numbers of lib/core and back.
 */
#ifndef TAKT_POLICY_RULE_TEXT_H
#define TAKT_POLICY_RULE_TEXT_H

#include <takt/policy.h>

#include "core/rule.h"

/* Reads a rule, ready for use.  0, or an error that begins with the field: "rate: ...", "headroom:
 * ..." where it is that which does not suit the rule.  *rule is not to be used after a failure. */
int takt_rule_read_text(const takt_rule_text *text, int64_t headroom_bp, takt_rule *rule,
                        takt_error *error);

/* Appends "100/s burst 10" or "800/day fixed-window America/Los_Angeles" to a text, cut to `size`.
 */
void takt_rule_describe(const takt_rule *rule, char *text, size_t size);

#endif
