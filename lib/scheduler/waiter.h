/*
 * waiter.h: the moves of one permit: it waits, its callback becomes due, it is granted, leaves or
 * is released.
 *
 * Other files decide when a permit moves and what its ledger learns of it.  Nothing here knows of
 * claims, leases, a lost store or shadow limits.
 */
#ifndef TAKT_SCHEDULER_WAITER_H
#define TAKT_SCHEDULER_WAITER_H

#include "scheduler/scheduler.h"

/* A permit begins to wait.  Its amounts, priority and deadline_at_us (TAKT_NEVER: none) are set. */
void takt_waiter_acquire(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit);

/* A permit that begins to wait will later come to that queue of an outer limit, and take that much
 * there.  The queue stays until then.  The calls name the outermost limit first. */
void takt_waiter_expect(takt_scheduler *scheduler, takt_queue *queue, int32_t cost, takt_more more,
                        takt_permit *permit);

/* The queue of the next outer limit; NULL: there is none. */
static inline const takt_queue *takt_waiter_outer(const takt_permit *permit)
{
    return permit->outer_count > 0 ? permit->outer[permit->outer_count - 1] : NULL;
}

/* What the permit takes there. */
static inline takt_amounts takt_waiter_outer_amounts(const takt_permit *permit)
{
    return takt_amounts_of(permit->outer_costs[permit->outer_count - 1],
                           permit->outer_more[permit->outer_count - 1]);
}

/* A slot of an inner limit was due.  Returns the queue that the permit is to wait in next, and sets
 * its amounts there; NULL: there is none. */
takt_queue *takt_waiter_next_queue(takt_scheduler *scheduler, takt_permit *permit);

/* The permit gets one of the limit's permits, with that fencing number.  It is then fired. */
void takt_waiter_take(takt_queue *queue, takt_permit *permit, int64_t fence);

/* The permit has a slot of its queue's limit and goes on to an outer one.  If it ends before the
 * outermost limit has granted it, the slot is handed back (unused.h). */
void takt_waiter_pass(takt_queue *queue, takt_permit *permit, int64_t slot_us);

/* Lets go of all that the permit holds, on all limits, and of its places in outer queues. */
void takt_waiter_drop(takt_scheduler *scheduler, takt_permit *permit);

/* A waiting permit's callback becomes due. */
void takt_waiter_fire(takt_scheduler *scheduler, takt_permit *permit, int status);

/* Its work begins: the slots of the inner limits are used. */
void takt_waiter_begin(takt_scheduler *scheduler, takt_permit *permit);

/* The permit is granted: its callback comes now, or tries have granted it. */
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
