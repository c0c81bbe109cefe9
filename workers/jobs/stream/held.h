/*
 * held.h: the entries of a stream that this worker has, with the state of each. A table of plain
 * rows, since there may be a million. After each reconnect the table says what to send to the
 * server, so that no unconfirmed change is forgotten and nothing is stored twice. No I/O.
 */
#ifndef TAKT_WORKERS_STREAM_HELD_H
#define TAKT_WORKERS_STREAM_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jobs/sources/source.h"

typedef enum takt_stream_held_state {
    TAKT_STREAM_HELD_NONE,   /* a free row */
    TAKT_STREAM_HELD_TAKING, /* its text is being read; the reader does not know it yet */
    TAKT_STREAM_HELD_OURS,   /* the reader has it */
    TAKT_STREAM_HELD_DONE,   /* the server must delete it */
    TAKT_STREAM_HELD_DEAD,   /* the same, after adding a dead letter */
    TAKT_STREAM_HELD_BACK    /* it is given back */
} takt_stream_held_state;

typedef struct takt_stream_held_row {
    uint64_t major, minor;
    uint32_t seen;     /* the last survey that found it */
    uint16_t count;    /* the server's delivery count, as far as known */
    uint8_t state;     /* takt_stream_held_state */
    bool fetching : 1; /* the reader has asked for its text again */
    bool noting : 1;   /* its begin is not confirmed yet */
} takt_stream_held_row;

typedef struct takt_stream_held {
    takt_stream_held_row *rows;
    size_t room; /* a power of 2; 0 at first */
    size_t count;
} takt_stream_held;

/* NULL: not in the table. */
takt_stream_held_row *takt_stream_held_find(const takt_stream_held *held, takt_job_ref ref);

/* Adds a row for an entry that has none. NULL: no memory. Rows move when one is added or
 * removed. */
takt_stream_held_row *takt_stream_held_add(takt_stream_held *held, takt_job_ref ref,
                                           takt_stream_held_state state);

void takt_stream_held_remove(takt_stream_held *held,
                             takt_job_ref ref); /* harmless for an unknown entry */
bool takt_stream_held_has(const takt_stream_held *held,
                          takt_stream_held_state state); /* reads the whole table */
void takt_stream_held_free(takt_stream_held *held);

static inline takt_job_ref takt_stream_held_ref(const takt_stream_held_row *row)
{
    return (takt_job_ref){row->major, row->minor};
}

#endif
