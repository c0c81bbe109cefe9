/*
 * What limits in `mode: shadow` would have done, for a person and for a program.
 */
#ifndef TAKT_CLI_SHADOW_H
#define TAKT_CLI_SHADOW_H

#include <takt/takt.h>

#include "session.h"

/* Of the limits that work has passed in shadow.  The names are the policy's. */
typedef struct takt_cli_shadows {
    int count;
    struct {
        const char *limit;
        takt_shadow seen;
    } limits[TAKT_LEVELS_MAX];
} takt_cli_shadows;

/* Reads them while the client is open. */
void takt_cli_shadows_read(const takt_cli_session *session, takt_cli_shadows *shadows);

/* One line for each on standard error. */
void takt_cli_shadows_print(const takt_cli_shadows *shadows);

/* Continues a JSON object on standard output with `,"shadow":[...]`; with nothing where no limit is
 * in shadow. */
void takt_cli_shadows_json(const takt_cli_shadows *shadows);

#endif
