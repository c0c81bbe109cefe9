/*
 * queue.h: references that one of the next commands will name.
 */
#ifndef TAKT_WORKERS_STREAM_QUEUE_H
#define TAKT_WORKERS_STREAM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "jobs/sources/source.h"

/* Zeros at first; the owner of the queue frees the refs. */
typedef struct takt_stream_queue {
    takt_job_ref *refs;
    size_t count, room;
} takt_stream_queue;

/* False: no memory. */
bool takt_stream_queue_add(takt_stream_queue *queue, takt_job_ref ref);

#endif
