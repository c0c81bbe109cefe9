/*
 * move.h: a new policy puts limits into shadow, or out of it, while work waits: the work moves to
 * the queues that new work with its keys waits in (path.h).
 */
#ifndef TAKT_SCHEDULER_MOVE_H
#define TAKT_SCHEDULER_MOVE_H

#include "scheduler/renew.h"

/*
 * To be called before the queues get their new limits; `find`, `weigh` and `data` as in renew.h.
 * What waits keeps its priority, its deadline and its place among those that move with it; if a
 * bound has accepted it, it stays accepted.  Work whose callback is due moves too if one of its
 * limits in shadow enforces now: its slot is in hand again.  Work that has started, and its shadow
 * waiter, stay, and so do the tickets of an agent.  What there is no memory for stays where it is.
 */
void takt_move_waiters(takt_scheduler *scheduler, takt_finder *find, takt_weigher *weigh,
                       const void *data);

#endif
