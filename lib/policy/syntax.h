/*
 * syntax.h: explains errors of libyaml to the author of a policy file.
 */
#ifndef TAKT_POLICY_SYNTAX_H
#define TAKT_POLICY_SYNTAX_H

#include <yaml.h>

#include "policy/source.h"

/* Writes the error that stopped the parser: TAKT_E_POLICY with file and line, or TAKT_E_NOMEM. */
int takt_syntax_fail(const yaml_parser_t *parser, const takt_source *source, takt_error *error);

#endif
