/*
 * record_scratch.h: the memory in which a record is read, changed and written.
 */
#ifndef TAKT_STORE_RECORD_SCRATCH_H
#define TAKT_STORE_RECORD_SCRATCH_H

#include "core/ledger.h"

/* Memory that one call after the other uses, so that none has to be allocated for each.  Begins as
 * zeros. */
typedef struct takt_record_scratch {
    takt_place *line;
    int line_capacity;
    takt_holder *holders;
    int holder_capacity;
    char *text;
    size_t text_capacity;
    takt_numbers kept;   /* the numbers of a text that are newer than its caller's */
    takt_pages *pages; /* the owner's: where the next call's ledger keeps its logs; NULL: nowhere */
} takt_record_scratch;

/* Room for so many places, holders, bytes of text; false: no memory. */
bool takt_record_scratch_line(takt_record_scratch *scratch, int places);
bool takt_record_scratch_holders(takt_record_scratch *scratch, int count);
bool takt_record_scratch_text(takt_record_scratch *scratch, size_t size);

void takt_record_scratch_free(takt_record_scratch *scratch);

#endif
