/*
 * queue_bound.h: max_waiting in this process: which waiters a bound may still refuse, and which of
 * them leave.
 *
 * The ledger counts the waiters of the whole fleet.  A claim states the waiters, and its award
 * counts them: with `refuse`, a waiter that was counted is accepted and stays.  If an award says
 * that too many wait, the functions here choose the waiters that leave.
 */
#ifndef TAKT_SCHEDULER_QUEUE_BOUND_H
#define TAKT_SCHEDULER_QUEUE_BOUND_H

#include "scheduler/queue.h"

/* Whether a level bounds its waiters, by the numbers that claims state. */
bool takt_queue_has_bound(const takt_queue *queue);

/* Which waiters leave if an award does not say: those of the level with the lowest bound.  The
 * numbers in use decide: by those of other workers the ledger may have taken waiters out of the
 * line that our own policy does not bound. */
takt_when_full takt_queue_when_full(const takt_queue *queue);

/* Whether so many newcomers may exceed the bound of a level, by the last award. */
bool takt_queue_may_overflow(const takt_queue *queue, int64_t newcomers);

/* Whether newcomers are refused without a claim.  They are if a level that counts the waiters
 * refuses, and this process has as many other waiters as may wait.  They are also if the queue is
 * not in turn, and has more waiters than may wait and start by any claim. */
bool takt_queue_is_full(const takt_queue *queue);

/* A waiter that no claim has stated yet; NULL: there is none.  They are the last of their
 * priorities. */
takt_permit *takt_queue_unstated(const takt_queue *queue);

/* Marks all waiters as stated, for a claim.  Returns how many of them may be refused, because no
 * award has counted them yet.  takt_queue_count marks those as counted: the claim's award has come.
 */
int64_t takt_queue_mark_stated(takt_queue *queue);
void takt_queue_count(takt_queue *queue);

/* A queue without a bound may get one now: its waiters are accepted, and stay. */
void takt_queue_accept(takt_queue *queue);

/* Whether no bound of the queue can refuse the waiter from now on.  The waiter stays accepted where
 * it moves to, and so do the waiters before it there. */
bool takt_queue_is_accepted(const takt_queue *queue, const takt_permit *permit);
void takt_queue_accept_waiter(takt_queue *queue, takt_permit *permit);

/*
 * The waiter that leaves first if there are too many, NULL: none has to leave.  With refuse it is
 * the last one of those that the present claim has stated for the first time, with drop-lowest the
 * last one of all, with drop-oldest the first of the least urgent priority without a slot in hand.
 */
takt_permit *takt_queue_excess(const takt_queue *queue, takt_when_full way);

/* The one of the same priority that leaves next; NULL: there is none. */
takt_permit *takt_queue_excess_after(const takt_queue *queue, takt_when_full way,
                                     const takt_permit *permit);

#endif
