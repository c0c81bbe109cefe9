/*
 * refuse.h: which waiters of a queue are refused: those that are too many by an award, that no line
 * counts, or that cannot start in time.
 */
#ifndef TAKT_SCHEDULER_REFUSE_H
#define TAKT_SCHEDULER_REFUSE_H

#include "scheduler/scheduler.h"

/* Refuses a waiter, and sets when it could be served according to the last award.  If it lacked a
 * permit, one may become free at any time, so a new attempt is worthwhile soon.  A queue out of
 * turn may have no award; its turn may come as soon. */
void takt_refuse(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit, int status,
                 int64_t now_us);

/* Refuses the waiters that exceed max_waiting; the award says how many.  An agent counts the
 * waiters of all programs, by bounds that may be unknown here: so many leave in any case. */
void takt_refuse_excess(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                        int64_t now_us);

/* Refuses newcomers without a claim if this queue alone has as many waiters as may wait.  Of nested
 * work an agent may have other bounds. */
void takt_refuse_unstated(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us);

/* Refuses the waiters whose deadline is over before their turn can come, as far as that is known:
 * the first one cannot start in time, or the last ones come after too many others. */
void takt_refuse_hopeless(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us);

#endif
