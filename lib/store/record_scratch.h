/*
 * record_scratch.h: the memory in which a record is read, changed and written. It only holds and
 * grows that memory; record.h uses it.
 */
#ifndef TAKT_STORE_RECORD_SCRATCH_H
#define TAKT_STORE_RECORD_SCRATCH_H

#include "core/ledger.h"

/* Memory that all calls reuse, instead of an allocation per call. Initialize it with zeros. */
typedef struct takt_record_scratch {
    /* The ledger that the last call left, with its line, its holders and its
     * tenants. The store sets `pages`
     * before each call: where the ledger keeps its logs; NULL: nowhere. */
    takt_ledger ledger;
    takt_numbers kept; /* the numbers of a text that is newer than the caller's */
    char *text;
    size_t text_capacity;
    struct takt_record_scratch *inner; /* TAKT_INNER_MAX for inner limits; NULL: not used so far */
} takt_record_scratch;

/* Makes room for `places` places, `count` holders or tenants, or `size` bytes of text. False: no
 * memory. */
bool takt_record_scratch_line(takt_record_scratch *scratch, int places);
bool takt_record_scratch_holders(takt_record_scratch *scratch, int count);
bool takt_record_scratch_tenants(takt_record_scratch *scratch, int count);
bool takt_record_scratch_text(takt_record_scratch *scratch, size_t size);
bool takt_record_scratch_inner(takt_record_scratch *scratch);

void takt_record_scratch_free(takt_record_scratch *scratch);

#endif
