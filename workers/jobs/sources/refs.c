/*
 * refs.c: a ring of references; its capacity is a power of two.
 */
#include "refs.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 4

static bool grow(takt_job_refs *refs)
{
    size_t capacity = refs->capacity ? refs->capacity * 2 : CAPACITY_MIN;
    takt_job_ref *ring = realloc(refs->ring, capacity * sizeof(*ring));

    if (!ring)
        return false;
    /* entries that had wrapped around move behind the old end */
    size_t over =
        refs->first + refs->count > refs->capacity ? refs->first + refs->count - refs->capacity : 0;
    memcpy(ring + refs->capacity, ring, over * sizeof(*ring));
    refs->ring = ring;
    refs->capacity = capacity;
    return true;
}

bool takt_job_refs_put(takt_job_refs *refs, takt_job_ref ref)
{
    if (refs->count == refs->capacity && !grow(refs))
        return false;
    refs->ring[(refs->first + refs->count++) & (refs->capacity - 1)] = ref;
    return true;
}

takt_job_ref takt_job_refs_take(takt_job_refs *refs)
{
    takt_job_ref ref = refs->ring[refs->first];

    refs->first = (refs->first + 1) & (refs->capacity - 1);
    if (--refs->count == 0)
        takt_job_refs_free(refs);
    return ref;
}

void takt_job_refs_free(takt_job_refs *refs)
{
    free(refs->ring);
    memset(refs, 0, sizeof(*refs));
}
