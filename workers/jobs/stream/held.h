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

typedef enum held_state {
    HELD_NONE,   /* a free row */
    HELD_TAKING, /* its text is asked for, our reader has not heard of it */
    HELD_OURS,   /* it is the reader's */
    HELD_DONE,   /* the server is to delete it */
    HELD_DEAD,   /* the same, and it becomes a dead letter */
    HELD_BACK    /* it is given back */
} held_state;

typedef struct held_row {
    uint64_t major, minor;
    uint32_t seen;     /* the last survey that has found it */
    uint16_t count;    /* the server's delivery count, as far as we know */
    uint8_t state;     /* held_state */
    bool fetching : 1; /* the reader has asked for its text again */
    bool noting : 1;   /* that it begins is said, and not confirmed yet */
} held_row;

typedef struct held {
    held_row *rows;
    size_t room; /* a power of 2; 0 at first */
    size_t count;
} held;

/* NULL: it is not there. */
held_row *held_find(const held *held, source_ref ref);

/* A row for an entry that has none.  NULL: no memory.  Rows move when one is added or removed. */
held_row *held_add(held *held, source_ref ref, held_state state);

void held_remove(held *held, source_ref ref);      /* harmless where it is not there */
bool held_has(const held *held, held_state state); /* looks at all */
void held_free(held *held);

static inline source_ref held_ref(const held_row *row)
{
    return (source_ref){row->major, row->minor};
}

#endif
