/*
 * waiter.h: the moves of one permit: it waits, its callback becomes due, it is granted, leaves or
 * is released.
 *
 * When a permit moves, and what its ledger is told of it, others decide. Nothing here knows of
 * claims, leases, a lost store or shadow limits.
 */
#ifndef TAKT_SCHEDULER_WAITER_H
#define TAKT_SCHEDULER_WAITER_H

#include "scheduler/scheduler.h"

/* A permit begins to wait: its cost, priority and deadline_at_us (TAKT_NEVER: none) are set. */
void takt_waiter_acquire(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit);

/* A permit that begins to wait is to come to that queue, the limit around it, later: the queue
 * stays until then.  The outermost is told first. */
void takt_waiter_expect(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit);

/* The queue of the limit around, which it is to come to next; NULL: there is none. */
static inline const takt_queue *takt_waiter_outer(const takt_permit *permit)
{
    return permit->outer_count > 0 ? permit->outer[permit->outer_count - 1] : NULL;
}

/* A slot of an inner limit was due: the queue that the permit is to wait in next; NULL: there is
 * none. */
takt_queue *takt_waiter_next_queue(takt_scheduler *scheduler, takt_permit *permit);

/* It gets a permit of the queue's limit, with that number; *permit goes on or is fired. */
void takt_waiter_take(takt_queue *queue, takt_permit *permit, int64_t fence);

/* All that it holds, on whatever limits, is let go, and it comes to no other. */
void takt_waiter_drop(takt_scheduler *scheduler, takt_permit *permit);

/* A waiting permit's callback becomes due. */
void takt_waiter_fire(takt_scheduler *scheduler, takt_permit *permit, int status);

/* Its callback comes now, or it was given by tries: it is granted. */
void takt_waiter_grant(takt_scheduler *scheduler, takt_permit *permit);

/* A waiting permit leaves: with a status its callback becomes due, with 0 it just goes, also if its
 * callback was due already. */
void takt_waiter_leave(takt_scheduler *scheduler, takt_permit *permit, int status);

/* A granted permit's work is done, or it is not to begin: what it holds is let go. */
void takt_waiter_release(takt_scheduler *scheduler, takt_permit *permit);

/* Those leave whose cost is more than a rule can ever give under the numbers that hold now. */
void takt_waiter_refuse_impossible(takt_scheduler *scheduler, takt_queue *queue);

#endif
