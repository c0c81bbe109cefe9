/*
 * shadow.h: shadow limits: work passes at once, and a shadow waiter waits in its place.
 *
 * The shadow waiter is like any other waiter: it is claimed for, takes its slot from the ledger,
 * holds a permit for as long as the work took, moves on to the outer limit if that is a shadow
 * limit too, and can be refused.  Its waiting time is what the work would have waited.  If the work
 * does not begin after all, the shadow waiter leaves as if it had never existed.
 *
 * The scheduler below knows nothing of this.  Its driver, a client or a simulated worker, brings
 * permits for shadow limits, and due callbacks, here first.
 */
#ifndef TAKT_SHADOW_SHADOW_H
#define TAKT_SHADOW_SHADOW_H

#include "shadow/shadow_waiter.h"

/* A permit passes a shadow limit: its callback is due, or it moves on to the outer limit.  `now_us`
 * is the time of the acquire.  Otherwise as takt_waiter_acquire. */
void takt_shadow_acquire(takt_shadows *shadows, takt_queue *queue, takt_permit *permit,
                         int64_t now_us);

/* A permit waits for an enforced limit.  It may come from a shadow limit. */
void takt_shadow_enforce(takt_shadows *shadows, takt_queue *queue, takt_permit *permit);

/* The work of a granted permit is done. */
void takt_shadow_release(takt_shadows *shadows, takt_permit *permit, int64_t now_us);

/* In a pass, before the scheduler runs: shadow waiters release the permits that they have held long
 * enough. */
void takt_shadow_tick(takt_shadows *shadows, int64_t now_us);

/* When that is needed next; TAKT_NEVER: no time is set. */
static inline int64_t takt_shadow_pass_at(const takt_shadows *shadows)
{
    const takt_node *first = shadows->ends.first;

    return first ? TAKT_HOLDER(first, takt_shadow_waiter, end)->ends_at_us : TAKT_NEVER;
}

/* One permit leaves, as in takt_waiter_leave, or all leave, as in takt_scheduler_leave_all; so do
 * their shadow waiters. */
void takt_shadow_leave(takt_shadows *shadows, takt_permit *permit, int status);
void takt_shadow_leave_all(takt_shadows *shadows, int status);

/* The work of a permit will not begin: its shadow waiters leave. */
void takt_shadow_vanish(takt_shadows *shadows, takt_permit *permit);

/* A shadow waiter has its slot, or has failed. */
void takt_shadow_advance(takt_shadows *shadows, takt_permit *permit);

/* A permit's callback is due. True: it was a shadow waiter, and there is nothing more to do; false:
 * call the caller's callback. */
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
 * A try at a shadow limit was granted at that slot.  Returns the permit of a new shadow waiter: it
 * gets what the try was given, then takt_shadow_begin starts it.  NULL: there is none.
 */
takt_permit *takt_shadow_try(takt_shadows *shadows, takt_queue *queue, takt_permit *permit,
                             int64_t slot_us, int64_t now_us);
void takt_shadow_begin(takt_shadows *shadows, takt_permit *shadow_waiter);

/* A try at a shadow limit has ended with that status. */
void takt_shadow_tried(takt_shadows *shadows, const char *limit, int status);

/* A permit's work has used less than was taken, or was not begun.  Returns the slot to settle; 0:
 * it is not known, or not yet: then takt_shadow_next_settle will return it. */
int64_t takt_shadow_settle(const takt_permit *permit, takt_amounts used, bool unbegun);

/* The next shadow waiter whose slot and used amounts are known; NULL: none. It is valid until the
 * next call to the scheduler. */
const takt_shadow_waiter *takt_shadow_next_settle(takt_shadows *shadows);

/* Whether there are shadow waiters, and nothing else holds anything. */
bool takt_shadow_is_all(const takt_shadows *shadows);

/* The statistics of a limit. */
void takt_shadow_tell(const takt_shadows *shadows, const char *limit, takt_shadow *shadow);

#endif
