/*
 * file_pages.h: the pages of a ledger's logs in an LMDB file. Each page is a record after the
 * ledger's record, named by the ledger's name, NUL, the book and the number. (No key contains a
 * NUL, so the third NUL distinguishes a page from a ledger.) Pages are read on demand and written
 * at the end of the call; unused entries at a page's end are left out.
 */
#ifndef TAKT_STORE_FILE_PAGES_H
#define TAKT_STORE_FILE_PAGES_H

#include <lmdb.h>

#include "base/pages.h"
#include "store/file_name.h"

typedef struct takt_file_page {
    int book;
    int64_t number;
    bool changed;
    void *bytes;
} takt_file_page;

/* Reused for each call, with one ledger per call. Zeros at first. */
typedef struct takt_file_pages {
    takt_pages pages;
    MDB_txn *txn;
    MDB_dbi dbi;
    const char *name; /* the ledger's */
    size_t name_size;
    takt_file_page *loaded;
    int count, capacity;
    int allocated; /* entries of loaded that have memory */
    int64_t below[TAKT_BOOKS_MAX];
    bool cleared;
    bool expired; /* so is the ledger's record; it is removed unless the call writes it anew */
    int failure;  /* the first error of LMDB */
} takt_file_pages;

/* Begins a call on a ledger. The name must stay until the call ends. */
void takt_file_pages_begin(takt_file_pages *file, MDB_txn *txn, MDB_dbi dbi, const MDB_val *name);

/* The ledger's record has expired: it counts as absent, and so do its pages. */
void takt_file_pages_expire(takt_file_pages *file);

/* Ends the call: writes the changed pages and removes the dropped ones, or does nothing if it is
 * not `kept`. Returns an LMDB code. */
int takt_file_pages_end(takt_file_pages *file, bool kept);

/* Removes all pages that follow a ledger of that name. The cursor is at the ledger or has just
 * removed it. */
int takt_file_pages_remove(MDB_cursor *cursor, const MDB_val *name);

/* Whether a record is a page. */
bool takt_file_pages_is_page(const MDB_val *name);

/* Changes the name of a page to one after all pages of its ledger, and before the next ledger. */
void takt_file_pages_pass(MDB_val *name, char bytes[TAKT_FILE_NAME_MAX]);

void takt_file_pages_free(takt_file_pages *file);

#endif
