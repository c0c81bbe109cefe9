/*
 * rule_text.h: converts a rule between the texts of a policy and the numbers of lib/core.
 */
#ifndef TAKT_POLICY_RULE_TEXT_H
#define TAKT_POLICY_RULE_TEXT_H

#include <takt/policy.h>

#include "rules/rule.h"

/* Reads a rule except what it counts (unit_text.h). Returns 0, or an error that begins with the
 * field: "rate: ...", or "headroom: ..." if the rule refuses the headroom. After a failure *rule
 * must not be used. */
int takt_rule_read_text(const takt_rule_text *text, int64_t headroom_bp, takt_rule *rule,
                        takt_error *error);

/* Appends "100/s burst 10" or "800/day tokens fixed-window America/Los_Angeles", cut to `size`.
 * `unit`: the name of the limit's unit, "" if it has none. */
void takt_rule_describe(const takt_rule *rule, const char *unit, char *text, size_t size);

#endif
