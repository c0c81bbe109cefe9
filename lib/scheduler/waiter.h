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

/* No limit that enforces holds the permit up any longer: its callback becomes due.  It has still to
 * pass queues of limits in shadow. */
void takt_waiter_start(takt_scheduler *scheduler, takt_permit *permit);

/* A permit that waits in no queue goes on to the next one that it is to wait in, or starts. */
void takt_waiter_go_on(takt_scheduler *scheduler, takt_permit *permit);

/* A permit that begins to wait will later come to that queue, and take that much there.  The queue
 * stays until then.  The calls name the last one first. */
void takt_waiter_expect(takt_scheduler *scheduler, takt_queue *queue, int32_t cost, takt_more more,
                        takt_permit *permit);

/* The same permit passes the queues of another one in its place; or nobody passes them. */
void takt_waiter_take_over(takt_permit *permit, takt_permit *from);
void takt_waiter_expect_none(takt_scheduler *scheduler, takt_permit *permit);

/* Which of the queues still to pass the permit is to wait in next; -1: none.  Work waits for limits
 * that enforce; at those in shadow its shadow waiter waits when it has started, which passes all of
 * its queues.  A policy may have changed their modes since. */
static inline int takt_waiter_next(const takt_permit *permit)
{
    int at = permit->outer_count - 1;

    while (at >= 0 && !permit->shadow && permit->outer[at]->limit->mode == TAKT_MODE_SHADOW)
        at--;
    return at;
}

/* What the permit takes at that one of the queues. */
static inline takt_amounts takt_waiter_amounts_at(const takt_permit *permit, int at)
{
    return takt_amounts_of(permit->outer_costs[at], permit->outer_more[at]);
}

/* A slot was due.  Returns the queue that the permit is to wait in next, and sets its amounts
 * there; NULL: there is none. */
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
 * unlimited, or their cost can never be given.  Work does not wait for a limit in shadow. */
void takt_waiter_review(takt_scheduler *scheduler, takt_queue *queue);

#endif
