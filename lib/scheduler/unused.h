/*
 * unused.h: slots in hand that nobody here waits for any more are handed back to their ledger.
 *
 * Where nobody waits at the end of a pass, all slots in hand are: who asks anew in the same pass
 * still has them.  Where others wait whom a slot does not suit, it is once it is due.  Each run of
 * slots is told by a call of its own, the last ones first, as work that was not begun
 * (takt_ledger_settle): a rule takes back what nobody can have been served in place of.
 *
 * That says a change and no situation, unlike all else that is said to a ledger: so it is said
 * once, whatever becomes of it.  Slots lapse where it cannot be heard, where no rule has charged
 * for them, and while something may have happened to the ledger (a hint).
 */
#ifndef TAKT_SCHEDULER_UNUSED_H
#define TAKT_SCHEDULER_UNUSED_H

#include "scheduler/scheduler.h"

/* A run of slots, not in hand any more, is of no use here. */
void takt_unused_add(takt_scheduler *scheduler, takt_queue *queue, const takt_run *run);

/* At the end of a pass: what is in hand for nobody is not in hand any more. */
void takt_unused_gather(takt_scheduler *scheduler, takt_queue *queue);

/*
 * The next slots to hand back, before claims are sent: to be told by one settle call of actual 0,
 * of the run's first slot and all its tokens, which is not repeated.  NULL: there are no more.
 */
takt_queue *takt_unused_next(takt_scheduler *scheduler, takt_run *run);

#endif
