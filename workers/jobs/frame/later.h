/*
 * later.h: jobs that wait to be tried again, in a heap by when they are due.
 */
#ifndef TAKT_WORKERS_FRAME_LATER_H
#define TAKT_WORKERS_FRAME_LATER_H

#include "job_list.h"

/* Zeros at first; the heap is freed by whoever owns it. */
typedef struct takt_later {
    takt_job **heap; /* the next one first */
    unsigned count, capacity;
} takt_later;

bool takt_later_put(takt_later *later, takt_job *job);        /* false: no memory */
takt_job *takt_later_take(takt_later *later, int64_t now_us); /* NULL: none is due */
void takt_later_remove(takt_later *later, takt_job *job);
int64_t takt_later_due_us(const takt_later *later); /* INT64_MAX: there is none */

#endif
