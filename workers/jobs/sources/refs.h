/*
 * refs.h: a queue of references to jobs that were put away: 16 bytes each, in a ring that grows and
 * is freed when it is empty.
 */
#ifndef TAKT_WORKERS_SOURCES_REFS_H
#define TAKT_WORKERS_SOURCES_REFS_H

#include "source.h"

typedef struct takt_job_refs {
    takt_job_ref *ring;
    size_t capacity, first, count;
} takt_job_refs;

/* False: no memory. */
bool takt_job_refs_put(takt_job_refs *refs, takt_job_ref ref);

/* The oldest reference; the queue must not be empty. */
takt_job_ref takt_job_refs_take(takt_job_refs *refs);

void takt_job_refs_free(takt_job_refs *refs);

#endif
