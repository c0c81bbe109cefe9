/*
 * file_pages.h: the pages of a ledger's logs in an LMDB file: each a record of its own right behind
 * the ledger's, named by the ledger's name, NUL, the book and the number.  (No key holds a NUL, so
 * the third one tells a page from a ledger.)  Pages are read when they are asked for and written
 * when the call is over; entries not used yet at a page's end are left out.
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

/* Used for one call after the other, with one ledger each.  Begins as zeros. */
typedef struct takt_file_pages {
    takt_pages pages;
    MDB_txn *txn;
    MDB_dbi dbi;
    const char *name; /* the ledger's */
    size_t name_size;
    takt_file_page *at_hand;
    int count, capacity;
    int allocated; /* of at_hand, those that have bytes */
    int64_t below[TAKT_BOOKS_MAX];
    bool cleared;
    int failure; /* of LMDB, the first */
} takt_file_pages;

/* A call on a ledger begins.  The name must stay until it is over. */
void takt_file_pages_begin(takt_file_pages *file, MDB_txn *txn, MDB_dbi dbi, const MDB_val *name);

/* It is over: writes what it changed and removes what it dropped, or nothing if it is not `kept`.
 * An LMDB code. */
int takt_file_pages_end(takt_file_pages *file, bool kept);

/* Removes all pages that follow a ledger of that name, with a cursor that is at it or has just
 * removed it. */
int takt_file_pages_remove(MDB_cursor *cursor, const MDB_val *name);

/* Whether a record is a page. */
bool takt_file_pages_is_page(const MDB_val *name);

/* The name of a page becomes one that is behind all pages of its ledger, and not behind any other
 * ledger. */
void takt_file_pages_pass(MDB_val *name, char bytes[TAKT_FILE_NAME_MAX]);

void takt_file_pages_free(takt_file_pages *file);

#endif
