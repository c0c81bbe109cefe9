/*
 * unit_text.h: which unit each rule of a limit counts, and the names of the units that the limit's
 * acquires state amounts of.
 *
 * The rules of a limit may name up to TAKT_AMOUNTS_MAX units besides "requests".  The first one is
 * what the cost is an amount of, the others are the further units of a ledger (rules/rule.h). Names
 * and defaults are each worker's own.
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

/* The name of a unit of the limit: "requests", or what its rules write; "": they name none. */
const char *takt_unit_name_in(const takt_limit *limit, takt_unit unit);

/* The unit that the limit's rules write so; -1: none.  "" is the cost if they name no unit. */
int takt_unit_named_in(const takt_limit *limit, const char *name);

/* Whether a rule of the limit counts the unit: "requests", or a name that the rules write. */
bool takt_unit_is_counted(const takt_limit *limit, const char *unit);

#endif
