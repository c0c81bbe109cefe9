/*
 * The state of a limit, for a program.
 */
#ifndef TAKT_CLI_STANDING_H
#define TAKT_CLI_STANDING_H

#include <takt/takt.h>

#include "options.h"

/* Writes the members of a JSON object to standard output, without braces. */
void takt_cli_standing_json(const takt_cli_target *target, const takt_standing *standing);

#endif
