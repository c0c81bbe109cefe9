/*
 * queue.c: see queue.h.
 */
#include "queue.h"

#include <stdlib.h>

bool takt_stream_queue_add(takt_stream_queue *queue, takt_job_ref ref)
{
    if (queue->count == queue->room) {
        size_t room = queue->room > 0 ? queue->room * 2 : 64;
        takt_job_ref *refs = realloc(queue->refs, room * sizeof *refs);
        if (refs == NULL)
            return false;
        queue->refs = refs;
        queue->room = room;
    }
    queue->refs[queue->count++] = ref;
    return true;
}
