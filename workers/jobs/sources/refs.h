/*
 * refs.h: a queue of references to jobs that were put away: 16 bytes for each, in a ring that grows
 * and is let go of when it is empty.
 */
#ifndef TAKT_WORKERS_SOURCES_REFS_H
#define TAKT_WORKERS_SOURCES_REFS_H

#include "source.h"

typedef struct refs {
    source_ref *ring;
    size_t capacity, first, count;
} refs;

/* False: no memory. */
bool refs_put(refs *refs, source_ref ref);

/* The oldest; there must be one. */
source_ref refs_take(refs *refs);

void refs_free(refs *refs);

#endif
