/*
 * unit_text.h: which unit each rule of a limit counts, and the name of the unit that the limit's
 * acquires state an amount of.
 *
 * A ledger knows requests and one unit more (core/rule.h), so the rules of a limit may name one
 * unit besides "requests".  Its name and its default are each worker's own.
 */
#ifndef TAKT_POLICY_UNIT_TEXT_H
#define TAKT_POLICY_UNIT_TEXT_H

#include <stdbool.h>

#include <takt/policy.h>

#include "core/limit.h"

/* Reads `counts` and `default_amount` of all rules into the limit, whose other fields are read.
 * Returns 0, or TAKT_E_POLICY with an error that begins with the field: "rules[1].counts: ...". */
int takt_units_read(const takt_rule_text *rules, unsigned count, takt_limit *limit,
                    takt_error *error);

/* Whether a text may be a unit's name; "requests" is one, too. */
bool takt_unit_is_name(const char *text);

/* Whether a rule of the limit counts the unit: "requests", or a name that the rules write. */
bool takt_unit_is_counted(const takt_limit *limit, const char *unit);

#endif
