/*
 * unused.h: slots in hand that no waiter here needs are handed back to their ledger.
 *
 * If nothing waits at the end of a pass, all slots in hand go back: an acquire in the same pass
 * could still use them.  If waiters are left that a slot does not suit, it goes back once it is
 * due.  Each run of slots needs a call of its own (takt_ledger_settle, for work that did not
 * begin), the last run first.  A rule takes back what no other worker can have been served from.
 *
 * The slots of nested work (nest.h) go back to all levels.
 *
 * This call reports a change; all other calls of the scheduler state a situation.  So it is sent
 * once, even if it is lost.  Slots lapse if the store is lost, if no rule has charged for
 * them, and while the ledger may have changed (a hint).
 */
#ifndef TAKT_SCHEDULER_UNUSED_H
#define TAKT_SCHEDULER_UNUSED_H

#include "scheduler/scheduler.h"

/* A run of slots that was removed from the slots in hand is not needed here. */
void takt_unused_add(takt_scheduler *scheduler, takt_queue *queue, const takt_run *run);

/* At the end of a pass: removes the slots that no waiter needs from the slots in hand. */
void takt_unused_gather(takt_scheduler *scheduler, takt_queue *queue);

/*
 * Takes out the next slots to hand back, before claims are sent.  The driver sends one settle call
 * of actual 0 with the run's first slot and all its tokens to each level, and does not repeat it.
 * NULL: no more.
 */
takt_queue *takt_unused_next(takt_scheduler *scheduler, takt_run *run);

#endif
