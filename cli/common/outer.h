/*
 * The limits around one (`within`), as `takt peek` tells them: their ledgers without a key, and
 * those with the same key if they are in use. Other keys, by which work may name the outer limits,
 * are not known.
 */
#ifndef TAKT_CLI_COMMON_OUTER_H
#define TAKT_CLI_COMMON_OUTER_H

#include <stdbool.h>

#include <takt/takt.h>

#include "options.h"

#define TAKT_CLI_OUTER_MAX (2 * (TAKT_LEVELS_MAX - 1))

typedef struct takt_cli_outer {
    /* private */
    takt_client *client;
    const char *key; /* of the limit inside; NULL: none */
    takt_call call;
    void (*done)(void *data, int status);
    void *data;
    int count; /* ledgers that were looked at */
    struct takt_cli_outer_ledger {
        char limit[TAKT_NAME_SIZE_MAX + 1];
        bool keyed;
        takt_standing standing;
    } ledgers[TAKT_CLI_OUTER_MAX];
} takt_cli_outer;

/* Looks at them one after the other; done() follows, perhaps at once, with 0 or the error of the
 * look that failed. The target and the memory must stay until then. */
void takt_cli_outer_look(takt_cli_outer *outer, takt_client *client, const takt_cli_target *target,
                         void (*done)(void *data, int status), void *data);

/* Whether workers may keep work of the limit inside to themselves: so many keys or tenants are in
 * the outermost line that a worker may have more, which take turns inside it. */
bool takt_cli_outer_is_crowded(const takt_cli_outer *outer);

/* Prints a line for each. */
void takt_cli_outer_print(const takt_cli_outer *outer);

#endif
