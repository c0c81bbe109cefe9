/*
 * record.h: a ledger as the memory and file stores keep it. A record is the text of
 * core/ledger_text.h; its name consists of namespace, limit and key. This file decides how a call
 * changes a record. The stores decide where records are.
 */
#ifndef TAKT_STORE_RECORD_H
#define TAKT_STORE_RECORD_H

#include "store/record_scratch.h"
#include "store/store.h"

/* namespace NUL limit NUL key: two ledgers never share a name, even if a key contains NUL. */
#define TAKT_RECORD_NAME_MAX (2 * (TAKT_NAME_SIZE_MAX + 1) + TAKT_KEY_SIZE_MAX)

/* What happens to the record after a call. */
typedef struct takt_record_change {
    enum { TAKT_RECORD_KEEP, TAKT_RECORD_PUT, TAKT_RECORD_DROP } what;
    const char *text; /* PUT: its new text, in the scratch until the next call */
    size_t size;
    int64_t expires_at_us; /* PUT: when it may be removed */
    bool damaged; /* the old text was unreadable: the ledger is fresh, blocked for one period */
} takt_record_change;

/* Writes a record's name and returns its length; 0: a part is too long. */
size_t takt_record_name(char name[TAKT_RECORD_NAME_MAX], const char *name_space, const char *limit,
                        const char *key);

/* A record of a call with inner limits. */
typedef struct takt_record_part {
    const char *text; /* NULL: there is no record */
    size_t size;
    takt_pages *pages; /* where the ledger keeps its logs; NULL: nowhere */
    takt_record_change change;
} takt_record_part;

/*
 * Runs a call on a record at the store's time now_us. `text` is the record's text (NULL: there is
 * no record). Fills the call's outputs and status; `change` says what happens to the record. A call
 * with TAKT_E_NOMEM has changed nothing. The caller writes changed pages with PUT, undoes them with
 * KEEP, and removes them with DROP.
 */
void takt_record_run(takt_record_scratch *scratch, const char *text, size_t size, int64_t now_us,
                     takt_store_call *call, takt_record_change *change);

/*
 * The same for a call with inner limits: parts[0] is the call's own record, then come those of the
 * inner limits. All changes are written, or none.  If a page of one is damaged, that ledger is
 * begun anew, no other changes, and the award is stale: the worker claims again.
 */
void takt_record_run_nested(takt_record_scratch *scratch, takt_record_part *parts, int64_t now_us,
                            takt_store_call *call);

/* The clock of the stores on this host: microseconds since the Unix epoch. */
int64_t takt_record_clock_us(void);

#endif
