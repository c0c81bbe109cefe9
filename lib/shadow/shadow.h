/*
 * shadow.h: shadow limits: when work starts, a shadow waiter waits in its place.
 *
 * The work has waited for its limits that enforce, if it has any.  Its shadow waiter is like any
 * other waiter: it is claimed for, takes its slot from the ledger, holds a permit for as long as
 * the work took, and can be refused.  Several limits in shadow are one decision, as several that
 * enforce are.  Its waiting time is what the work would have waited besides.
 *
 * The scheduler below knows nothing of this.  Its driver, a client or a simulated worker, brings
 * permits for shadow limits, and due callbacks, here first.
 */
#ifndef TAKT_SHADOW_SHADOW_H
#define TAKT_SHADOW_SHADOW_H

#include "shadow/shadow_waiter.h"

/* The work of a permit starts that has a shadow queue: a shadow waiter comes to it. */
void takt_shadow_leave_behind(takt_shadows *shadows, takt_permit *permit);

/* To be called when the callback of a permit comes. */
static inline void takt_shadow_start(takt_shadows *shadows, takt_permit *permit)
{
    if (permit->status == 0 && permit->shadow_queue)
        takt_shadow_leave_behind(shadows, permit);
}

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

/* All leave, as in takt_scheduler_leave_all, but shadow waiters whose slots are due. */
void takt_shadow_leave_all(takt_shadows *shadows, int status);

/* A shadow waiter has its slot, or has failed. */
void takt_shadow_advance(takt_shadows *shadows, takt_permit *permit);

/* A permit's callback is due. True: it was a shadow waiter, and there is nothing more to do; false:
 * call the caller's callback. */
static inline bool takt_shadow_call_back(takt_shadows *shadows, takt_permit *permit)
{
    if (!permit->shadow)
        return false;
    takt_shadow_advance(shadows, permit);
    return true;
}

/*
 * A try at the limits of a queue in shadow was given that slot.  Returns the permit of its shadow
 * waiter, which gets what the try was given.  takt_shadow_try_end starts it, or lets go of all if
 * the work does not begin.  NULL: there is none.
 */
takt_permit *takt_shadow_try(takt_shadows *shadows, takt_queue *queue, takt_permit *permit,
                             const takt_run *slot, int64_t now_us);
void takt_shadow_try_end(takt_shadows *shadows, takt_permit *permit, bool begins);

/* A try at the limits of a queue in shadow has ended with that status. */
void takt_shadow_tried(takt_shadows *shadows, const takt_queue *queue, int status);

/* Whether one decision gives its shadow waiter the slots of all its limits; true if that is not
 * known any longer. */
bool takt_shadow_is_nested(const takt_permit *permit);

/* Whether the limit of that name is one that a permit's shadow waiter has its slot of, or will
 * have. */
bool takt_shadow_covers(const takt_permit *permit, const char *limit);

/* That slot; 0: there is none, or not yet.  Then takt_shadow_queue has the queue that will give it;
 * NULL: none will.  What the work has used there, in the amounts of its waiters, is noted until
 * then: takt_shadow_next_settle returns it. */
int64_t takt_shadow_slot(const takt_permit *permit);
const takt_queue *takt_shadow_queue(const takt_permit *permit);
void takt_shadow_note(takt_permit *permit, takt_amounts used, bool unbegun);

/* The next shadow waiter whose slot and used amounts are known; NULL: none. It is valid until the
 * next call to the scheduler. */
const takt_shadow_waiter *takt_shadow_next_settle(takt_shadows *shadows);

/* Whether there are shadow waiters, and nothing else holds anything. */
bool takt_shadow_is_all(const takt_shadows *shadows);

/* The statistics of a limit. */
void takt_shadow_tell(const takt_shadows *shadows, const char *limit, takt_shadow *shadow);

#endif
