/*
 * shadow.h: limits in shadow: work passes at once, and a shadow waiter waits in its place.
 *
 * The shadow waiter is a waiter like any other: it is claimed for, takes its slot from the ledger,
 * holds a permit for as long as the work took, goes on to the limit around it where that is in
 * shadow too, and is refused as anybody would be.  What it waited is what the work would have.
 * Where the work is not to begin after all, it goes as if it had never been.
 */
#ifndef TAKT_SCHEDULER_SHADOW_H
#define TAKT_SCHEDULER_SHADOW_H

#include "scheduler/scheduler.h"

/* A permit passes a limit in shadow: its callback is due, or it is to go on.  As
 * takt_waiter_acquire, else; `now_us` is when it was asked for. */
void takt_shadow_acquire(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit,
                         int64_t now_us);

/* The work of a granted permit is done. */
void takt_shadow_release(takt_scheduler *scheduler, takt_permit *permit, int64_t now_us);

/* The work of a permit is not to begin. */
void takt_shadow_vanish(takt_scheduler *scheduler, takt_permit *permit);

/*
 * A try at a limit in shadow was granted at that slot: what it gave is to be this shadow waiter's,
 * which then begins; NULL: there is none.
 */
takt_permit *takt_shadow_try(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit,
                             int64_t slot_us, int64_t now_us);
void takt_shadow_begin(takt_scheduler *scheduler, takt_permit *shadow_waiter);

/* A try at a limit in shadow has ended with that status. */
void takt_shadow_tried(takt_scheduler *scheduler, const char *limit, int status);

/* The real cost of a permit's work is less than was asked for.  The slot to be told with it; 0: it
 * is not known, or not yet: then takt_shadow_next_settle will tell. */
int64_t takt_shadow_settle(const takt_permit *permit, int64_t actual);

/* The next shadow waiter that has its slot and whose real cost is known; NULL: no more.  It is
 * valid until the scheduler is asked for anything else. */
const takt_shadow_waiter *takt_shadow_next_settle(takt_scheduler *scheduler);

/* Whether there are shadow waiters, and nobody but them holds anything. */
bool takt_shadow_is_all(const takt_scheduler *scheduler);

/* What is known of a limit. */
void takt_shadow_tell(const takt_scheduler *scheduler, const char *limit, takt_shadow *shadow);

/* ---- asked by scheduler.c -------------------------------------------------------------------- */

/* A pass begins: what shadow waiters hold for long enough is given back. */
void takt_shadow_tick(takt_scheduler *scheduler, int64_t now_us);
int64_t takt_shadow_wake_at(const takt_scheduler *scheduler);

/* A shadow waiter's callback would be due. */
void takt_shadow_fired(takt_scheduler *scheduler, takt_permit *permit);

#endif
