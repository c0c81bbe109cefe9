/*
 * later.h: jobs that wait to be tried again, by when they are due.
 */
#ifndef TAKT_WORKERS_FRAME_LATER_H
#define TAKT_WORKERS_FRAME_LATER_H

#include "job_list.h"
#include "kit/heap.h"

typedef struct takt_later {
    takt_job_list jobs; /* all of them, in no order */
    takt_heap due;      /* the same */
} takt_later;

void takt_later_init(takt_later *later);
void takt_later_put(takt_later *later, takt_job *job); /* due_at_us is set */
void takt_later_remove(takt_later *later, takt_job *job);
takt_job *takt_later_take(takt_later *later, int64_t now_us); /* NULL: none is due */
int64_t takt_later_due_us(const takt_later *later);           /* INT64_MAX: there is none */

#endif
