/*
 * shadow.h: limits in shadow: work passes at once, and a shadow waiter waits in its place.
 *
 * The shadow waiter is a waiter like any other: it is claimed for, takes its slot from the ledger,
 * holds a permit for as long as the work took, goes on to the limit around it where that is in
 * shadow too, and is refused as anybody would be.  What it waited is what the work would have.
 * Where the work is not to begin after all, it goes as if it had never been.
 *
 * The scheduler below knows of none of that.  Whoever drives it, a client or a simulated worker,
 * brings permits to limits in shadow, and what is due, here first.
 */
#ifndef TAKT_SHADOW_SHADOW_H
#define TAKT_SHADOW_SHADOW_H

#include "shadow/shadow_waiter.h"

/* A permit passes a limit in shadow: its callback is due, or it is to go on.  As
 * takt_waiter_acquire, else; `now_us` is when it was asked for. */
void takt_shadow_acquire(takt_shadows *shadows, takt_queue *queue, takt_permit *permit,
                         int64_t now_us);

/* A permit waits for a limit that is enforced, which it may come to from one in shadow. */
void takt_shadow_enforce(takt_shadows *shadows, takt_queue *queue, takt_permit *permit);

/* The work of a granted permit is done. */
void takt_shadow_release(takt_shadows *shadows, takt_permit *permit, int64_t now_us);

/* At a pass, before the scheduler runs: what shadow waiters have held for long enough is given
 * back. */
void takt_shadow_tick(takt_shadows *shadows, int64_t now_us);

/* When that is next; TAKT_NEVER: nothing waits for time. */
static inline int64_t takt_shadow_wake_at(const takt_shadows *shadows)
{
    const takt_node *first = shadows->ends.first;

    return first ? TAKT_HOLDER(first, takt_shadow_waiter, end)->ends_at_us : TAKT_NEVER;
}

/* A permit leaves as in takt_waiter_leave, and so do all as in takt_scheduler_leave_all, with the
 * shadow waiters that wait in their place. */
void takt_shadow_leave(takt_shadows *shadows, takt_permit *permit, int status);
void takt_shadow_leave_all(takt_shadows *shadows, int status);

/* The work of a permit is not to begin. */
void takt_shadow_vanish(takt_shadows *shadows, takt_permit *permit);

/* A shadow waiter has its slot, or has failed. */
void takt_shadow_advance(takt_shadows *shadows, takt_permit *permit);

/* A permit's callback is due.  True: it was a shadow waiter's, and this was it; false: the caller
 * is to be called back. */
static inline bool takt_shadow_call_back(takt_shadows *shadows, takt_permit *permit)
{
    if (permit->shadow == TAKT_SHADOW_WAITS) {
        takt_shadow_advance(shadows, permit);
        return true;
    }
    if (permit->status != 0 && permit->shadow_count > 0)
        takt_shadow_vanish(shadows, permit);
    return false;
}

/*
 * A try at a limit in shadow was granted at that slot: what it gave is to be this shadow waiter's,
 * which then begins; NULL: there is none.
 */
takt_permit *takt_shadow_try(takt_shadows *shadows, takt_queue *queue, takt_permit *permit,
                             int64_t slot_us, int64_t now_us);
void takt_shadow_begin(takt_shadows *shadows, takt_permit *shadow_waiter);

/* A try at a limit in shadow has ended with that status. */
void takt_shadow_tried(takt_shadows *shadows, const char *limit, int status);

/* The real cost of a permit's work is less than was asked for.  The slot to be told with it; 0: it
 * is not known, or not yet: then takt_shadow_next_settle will tell. */
int64_t takt_shadow_settle(const takt_permit *permit, int64_t actual);

/* The next shadow waiter that has its slot and whose real cost is known; NULL: no more.  It is
 * valid until the scheduler is asked for anything else. */
const takt_shadow_waiter *takt_shadow_next_settle(takt_shadows *shadows);

/* Whether there are shadow waiters, and nobody but them holds anything. */
bool takt_shadow_is_all(const takt_shadows *shadows);

/* What is known of a limit. */
void takt_shadow_tell(const takt_shadows *shadows, const char *limit, takt_shadow *shadow);

#endif
