/*
 * Where a limit stands, for a program.
 */
#ifndef TAKT_CLI_STANDING_H
#define TAKT_CLI_STANDING_H

#include <takt/takt.h>

#include "options.h"

/* The members of a JSON object on standard output, without its braces. */
void takt_cli_standing_json(const takt_cli_target *target, const takt_standing *standing);

#endif
