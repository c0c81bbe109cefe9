/*
 * Reports what limits in `mode: shadow` would have done, to a person or to a program.
 */
#ifndef TAKT_CLI_COMMON_SHADOW_H
#define TAKT_CLI_COMMON_SHADOW_H

#include <takt/takt.h>

#include "session.h"

/* The limits in shadow that work has passed. The names belong to the policy. */
typedef struct takt_cli_shadows {
    int count;
    struct {
        const char *limit;
        takt_shadow seen;
    } limits[TAKT_LEVELS_MAX];
} takt_cli_shadows;

/* Reads the results; the client must be open. */
void takt_cli_shadows_read(const takt_cli_session *session, takt_cli_shadows *shadows);

/* Prints one line per limit on standard error. */
void takt_cli_shadows_print(const takt_cli_shadows *shadows);

/* Continues a JSON object on standard output with `,"shadow":[...]`; writes nothing if no limit is
 * in shadow. */
void takt_cli_shadows_json(const takt_cli_shadows *shadows);

#endif
