/*
 * The watched rows, with their session: the limits named on the command line; without any, those of
 * the policy and the busiest keys in use; without a policy, the keys in use in the store.
 */
#ifndef TAKT_CLI_TOP_WATCH_H
#define TAKT_CLI_TOP_WATCH_H

#include "list.h"
#include "top.h"

typedef struct takt_cli_watch {
    /* set by the caller, with the callbacks of the session, the lister and the rows */
    takt_cli_settings *settings;

    takt_cli_target *targets; /* named on the command line */
    size_t target_count;
    takt_cli_session session;
    takt_cli_lister lister;
    takt_cli_rows rows;

    /* private */
    size_t fixed; /* rows of the policy, which precede the listed ones */
    uint64_t listed_at_ms;
} takt_cli_watch;

/* Reads LIMIT[:KEY] from the command line; ends the program if it is wrong. */
void takt_cli_watch_name(struct argp_state *state, takt_cli_watch *watch, const char *word);

/* Opens the session, and adds the rows that are known without a list: 0, or the exit status after a
 * message. To be closed in both cases. */
int takt_cli_watch_open(takt_cli_watch *watch);
void takt_cli_watch_close(takt_cli_watch *watch);

/* Lists the keys in use and waits for the result; after names it does nothing. `note` (or NULL)
 * gets the number of omitted rows. */
void takt_cli_watch_list(takt_cli_watch *watch, char note[256]);

/* Adds the limits of a new policy, and starts to list again if the last list is old; the lister's
 * callback follows. Then takt_cli_watch_listed shows the result. After names it does nothing. */
void takt_cli_watch_again(takt_cli_watch *watch);
void takt_cli_watch_listed(takt_cli_watch *watch, char note[256]);

#endif
