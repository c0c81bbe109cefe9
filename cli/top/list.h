/*
 * The limits and keys that have ledgers in a store, as rows: the busiest first.
 */
#ifndef TAKT_CLI_TOP_LIST_H
#define TAKT_CLI_TOP_LIST_H

#include <takt/ledgers.h>

#include "top.h"

#define TAKT_CLI_LISTED_MAX 200

typedef struct takt_cli_lister {
    /* the caller's */
    bool foreign; /* no policy: the rules of the ledgers are used */
    /* a list started by takt_cli_lister_again is complete, or has failed with `code` */
    void (*listed)(void *data);
    void *data;

    /* read-only */
    int code; /* of the last list */
    takt_error error;

    /* private */
    char *store, *name_space;
    uv_work_t work;
    bool under_way;
    int read_code;       /* of the list under way */
    takt_ledgers *read;  /* the last list; NULL: it was shown already */
    takt_ledgers **kept; /* lists whose policies the client has used */
    size_t kept_count;
    size_t hidden;                      /* ledgers found that have no row */
    char missing[TAKT_ERROR_TEXT_SIZE]; /* a node whose ledgers are not listed, or "" */
} takt_cli_lister;

/* Lists, and waits for the result. The strings are copied. 0, or a code and `error`. */
int takt_cli_lister_begin(takt_cli_lister *lister, const char *store, const char *name_space);

/* Takes the list, which lives until the end; NULL: no memory. */
const takt_ledgers *takt_cli_lister_take(takt_cli_lister *lister);

/* Lists again, in a thread; if a list is under way, nothing happens. */
void takt_cli_lister_again(takt_cli_lister *lister, uv_loop_t *loop);

/* Puts the rows of the list after the first `fixed` rows, and rows that are not in it at the end.
 * False: no memory. */
bool takt_cli_lister_show(takt_cli_lister *lister, takt_cli_rows *rows, size_t fixed);

/* What the rows leave out; "": nothing. */
const char *takt_cli_lister_note(const takt_cli_lister *lister, char text[256]);

void takt_cli_lister_free(takt_cli_lister *lister);

#endif
