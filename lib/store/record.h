/*
 * record.h: a ledger at rest, as memory and file stores keep it: the text of core/ledger_text.h
 * under a name made of namespace, limit and key.  Decides what a call makes of a record; where
 * records lie is the stores' affair.
 */
#ifndef TAKT_STORE_RECORD_H
#define TAKT_STORE_RECORD_H

#include "store/record_scratch.h"
#include "store/store.h"

/* namespace NUL limit NUL key: no two ledgers share a name, whatever bytes a key has. */
#define TAKT_RECORD_NAME_MAX (2 * (TAKT_NAME_SIZE_MAX + 1) + TAKT_KEY_SIZE_MAX)

/* What is to be done with the record after a call. */
typedef struct takt_record_change {
    enum { TAKT_RECORD_KEEP, TAKT_RECORD_PUT, TAKT_RECORD_DROP } what;
    const char *text; /* PUT: what it is from now on; in the scratch, until the next call */
    size_t size;
    int64_t expires_at_us; /* PUT: from then on it may be dropped */
    bool damaged; /* the old text could not be read: the ledger was begun anew, blocked for a period
                   */
} takt_record_change;

/* Writes a record's name and returns its length; 0 where one of the parts is longer than it may be.
 */
size_t takt_record_name(char name[TAKT_RECORD_NAME_MAX], const char *name_space, const char *limit,
                        const char *key);

/*
 * Runs a call on the record that has that text (NULL: there is none yet) at the store's time
 * now_us.  Fills the call's outputs and its status, and says in `change` what becomes of the
 * record.  A call whose status is TAKT_E_NOMEM has changed nothing.  What it changed in pages
 * counts if the change is put, is to be undone if it is kept, and goes with the record if it is
 * dropped.
 */
void takt_record_run(takt_record_scratch *scratch, const char *text, size_t size, int64_t now_us,
                     takt_store_call *call, takt_record_change *change);

/* The clock of the stores on this host: microseconds since the Unix epoch. */
int64_t takt_record_clock_us(void);

#endif
