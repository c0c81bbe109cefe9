/*
 * later.h: the jobs that wait for their next attempt, ordered by time.
 */
#ifndef TAKT_WORKERS_FRAME_LATER_H
#define TAKT_WORKERS_FRAME_LATER_H

#include "job_list.h"
#include "kit/heap.h"

typedef struct takt_later {
    takt_job_list jobs; /* all jobs, in no order */
    takt_heap due;      /* the same jobs, by time */
} takt_later;

void takt_later_init(takt_later *later);
void takt_later_put(takt_later *later, takt_job *job); /* needs due_at_us */
void takt_later_remove(takt_later *later, takt_job *job);
takt_job *takt_later_take(takt_later *later, int64_t now_us); /* NULL: no job is due */
int64_t takt_later_due_us(const takt_later *later);           /* INT64_MAX: no job */

#endif
