/*
 * move.h: under a new policy other limits hold up work that waits.  A limit is in shadow now, or
 * enforces now; or the new policy puts other limits around that of the work.  The work moves to the
 * queues that new work with its keys waits in (path.h).
 */
#ifndef TAKT_SCHEDULER_MOVE_H
#define TAKT_SCHEDULER_MOVE_H

#include "scheduler/renew.h"

/*
 * To be called before the queues get their new limits.  What waits keeps its priority, its deadline
 * and its place among those that move with it; if a bound has accepted it, it stays accepted.  At a
 * limit that it had before it keeps its key; at another one it has none.  Work whose callback is
 * due moves too if a limit enforces now that it did not wait for: its slot is in hand again.  Work
 * that has started, and its shadow waiter, stay, and so do the tickets of an agent.  What there is
 * no memory for stays where it is, and so does work whose innermost limit is gone.
 */
void takt_move_waiters(takt_scheduler *scheduler, const takt_successor *to);

#endif
