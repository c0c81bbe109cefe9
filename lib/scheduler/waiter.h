/*
 * waiter.h: the moves of one permit: it waits, its callback becomes due, it is granted, leaves or
 * is released.
 *
 * Other files decide when a permit moves and what its ledger learns of it.  Nothing here knows of
 * claims, leases, a lost store or shadow waiters.
 */
#ifndef TAKT_SCHEDULER_WAITER_H
#define TAKT_SCHEDULER_WAITER_H

#include "scheduler/scheduler.h"

/* A permit begins to wait.  Its amounts, priority and deadline_at_us (TAKT_NEVER: none) are set. */
void takt_waiter_acquire(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit);

/* A waiting permit has come from a queue of an older policy, by which its amounts were checked: its
 * callback becomes due if it need not wait here, as takt_waiter_review tells. */
void takt_waiter_moved(takt_scheduler *scheduler, takt_permit *permit);

/* No limit that enforces holds the permit up: its callback becomes due.  It has a shadow queue. */
void takt_waiter_start(takt_scheduler *scheduler, takt_permit *permit);

/* When the permit's work starts, its shadow waiter comes to that queue, and takes that much there.
 * The queue stays until then, or until nobody comes. */
void takt_waiter_expect(takt_scheduler *scheduler, takt_queue *queue, int32_t cost, takt_more more,
                        takt_permit *permit);
void takt_waiter_expect_none(takt_scheduler *scheduler, takt_permit *permit);

/* The permit gets one of the queue's permits, with that fencing number: it is then fired, or a try
 * has it. */
void takt_waiter_take(takt_queue *queue, takt_permit *permit, int64_t fence);

/* Lets go of what the permit holds, and of its shadow queue. */
void takt_waiter_drop(takt_scheduler *scheduler, takt_permit *permit);

/* A waiting permit's callback becomes due. */
void takt_waiter_fire(takt_scheduler *scheduler, takt_permit *permit, int status);

/* The permit is granted: its callback comes now, or a try has granted it. */
void takt_waiter_grant(takt_scheduler *scheduler, takt_permit *permit);

/* A waiting permit leaves.  With a status its callback becomes due.  With 0 it leaves without a
 * callback, even if one was due. */
void takt_waiter_leave(takt_scheduler *scheduler, takt_permit *permit, int status);

/* A granted permit's work is done, or will not begin: what it holds is let go. */
void takt_waiter_release(takt_scheduler *scheduler, takt_permit *permit);

/* Fires the waiters that need not wait under the limit and the numbers in use: their key is
 * unlimited, or their cost can never be given. */
void takt_waiter_review(takt_scheduler *scheduler, takt_queue *queue);

#endif
