/*
 * held.h: the entries of a stream that this worker has, and how far each is.  A table of
 * plain rows, since there may be a million of them: what the server is to be told is read off it
 * whenever a connection is new, so nothing is forgotten that was not confirmed, and nothing needs
 * to be remembered twice.  No I/O.
 */
#ifndef TAKT_WORKERS_STREAM_HELD_H
#define TAKT_WORKERS_STREAM_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jobs/sources/source.h"

typedef enum takt_stream_held_state {
    TAKT_STREAM_HELD_NONE,   /* a free row */
    TAKT_STREAM_HELD_TAKING, /* its text is asked for, our reader has not heard of it */
    TAKT_STREAM_HELD_OURS,   /* it is the reader's */
    TAKT_STREAM_HELD_DONE,   /* the server is to delete it */
    TAKT_STREAM_HELD_DEAD,   /* the same, and it becomes a dead letter */
    TAKT_STREAM_HELD_BACK    /* it is given back */
} takt_stream_held_state;

typedef struct takt_stream_held_row {
    uint64_t major, minor;
    uint32_t seen;     /* the last survey that has found it */
    uint16_t count;    /* the server's delivery count, as far as we know */
    uint8_t state;     /* held_state */
    bool fetching : 1; /* the reader has asked for its text again */
    bool noting : 1;   /* that it begins is said, and not confirmed yet */
} takt_stream_held_row;

typedef struct takt_stream_held {
    takt_stream_held_row *rows;
    size_t room; /* a power of 2; 0 at first */
    size_t count;
} takt_stream_held;

/* NULL: it is not there. */
takt_stream_held_row *takt_stream_held_find(const takt_stream_held *held, takt_job_ref ref);

/* A row for an entry that has none.  NULL: no memory.  Rows move when one is added or removed. */
takt_stream_held_row *takt_stream_held_add(takt_stream_held *held, takt_job_ref ref,
                                           takt_stream_held_state state);

void takt_stream_held_remove(takt_stream_held *held,
                             takt_job_ref ref); /* harmless where it is not there */
bool takt_stream_held_has(const takt_stream_held *held,
                          takt_stream_held_state state); /* looks at all */
void takt_stream_held_free(takt_stream_held *held);

static inline takt_job_ref takt_stream_held_ref(const takt_stream_held_row *row)
{
    return (takt_job_ref){row->major, row->minor};
}

#endif
