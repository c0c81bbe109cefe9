/*
 * The limits and keys that a store has ledgers of, as rows: the busiest first.
 */
#ifndef TAKT_CLI_TOP_LIST_H
#define TAKT_CLI_TOP_LIST_H

#include <takt/ledgers.h>

#include "top.h"

#define TAKT_CLI_LISTED_MAX 200

typedef struct takt_cli_lister {
    /* the caller's */
    bool foreign;               /* there is no policy: the ledgers' rules are used */
    void (*listed)(void *data); /* a list that was begun again is there, or `code` says why not */
    void *data;

    /* read-only */
    int code; /* of the last list */
    takt_error error;

    /* private */
    char *store, *name_space;
    uv_work_t work;
    bool under_way;
    takt_ledgers *read;  /* the last list; NULL: it was shown */
    takt_ledgers **kept; /* whose policies the client has had */
    size_t kept_count;
    size_t hidden; /* that were found and are no rows */
} takt_cli_lister;

/* Lists, and waits for that.  The strings are copied.  0, or a code and `error`. */
int takt_cli_lister_begin(takt_cli_lister *lister, const char *store, const char *name_space);

/* The list, which stays until the end; NULL: no memory. */
const takt_ledgers *takt_cli_lister_take(takt_cli_lister *lister);

/* Lists anew, in a thread; a list that is under way goes on. */
void takt_cli_lister_again(takt_cli_lister *lister, uv_loop_t *loop);

/* Puts the list that was read behind the first `fixed` rows, and what is not in it behind that.
 * False: no memory. */
bool takt_cli_lister_show(takt_cli_lister *lister, takt_cli_rows *rows, size_t fixed);

/* What the rows leave out; "": nothing. */
const char *takt_cli_lister_note(const takt_cli_lister *lister, char text[256]);

void takt_cli_lister_free(takt_cli_lister *lister);

#endif
