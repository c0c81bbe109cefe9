/*
 * virtual_store.h: the store of a fleet. It keeps one ledger as the memory store keeps each of its
 * own: as a record of store/record.h, with the text between two calls. Its caller has the time.
 */
#ifndef TAKT_SIMULATE_VIRTUAL_STORE_H
#define TAKT_SIMULATE_VIRTUAL_STORE_H

#include "base/memory_pages.h"
#include "store/record.h"

typedef struct takt_virtual_store {
    /* Keep the ledger as it is instead of as text: faster, but less like production. Set before the
     * first call. */
    bool unwritten;

    /* read-only */
    char *text;
    size_t size; /* 0: there is no record */
    int64_t expires_at_us;
    int64_t damaged;             /* texts and pages that could not be read */
    takt_record_scratch scratch; /* with the ledger as the last call left it */

    /* private */
    size_t capacity;
    takt_memory_pages pages;
} takt_virtual_store;

void takt_virtual_store_init(takt_virtual_store *store);
void takt_virtual_store_close(takt_virtual_store *store);

/* Runs a call at the store's time now_us and fills in its outputs and status. TAKT_E_NOMEM: the
 * store is unusable. */
void takt_virtual_store_run(takt_virtual_store *store, int64_t now_us, takt_store_call *call);

/* Runs a call with inner limits: its own record is the first store's, then come theirs. */
void takt_virtual_store_run_nested(takt_virtual_store *const *stores, int64_t now_us,
                                   takt_store_call *call);

/* Loses the record. */
void takt_virtual_store_forget(takt_virtual_store *store);

/* Gives `to` the record of `from`. False: no memory; then `to` has lost its own. */
bool takt_virtual_store_copy(takt_virtual_store *to, const takt_virtual_store *from);

#endif
