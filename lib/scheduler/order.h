/*
 * order.h: whose turn it is among the queues of tenants.
 *
 * Queues whose waiters need slots take turns, by the priority of their most urgent waiter, then by
 * their tags (core/tenants.h), then in order.  The first TAKT_TURNS_IN_LINE of them may stand in
 * the ledger's line; the others wait here until one of those was served or has left.  So a claim of
 * a worker with 10,000 tenants costs what one with 32 costs.  Which of those in line is served the
 * ledger decides.  While the store is lost all tenants share one pace (loss.h), and the first in
 * turn has its next slot.
 *
 * An award tells the tag of its queue, and the answer to a settle what this adds to it.  A queue
 * whose tenant was also served by other workers has a tag here that is too low until its next
 * claim.  The tags of a ledger may begin anew, for example when it was lost.  So a tag that is
 * lower than the one before moves all later ones up.
 *
 * A subject of nested work may have several queues, one for each of its tenants.  Those of it that
 * stand in line have their turns before the others, so with each of them the others' tags are one
 * start higher.  While other subjects wait, it takes no more places than its turns need.
 *
 * A queue of nested work whose inner limits let nothing start soon is parked: it leaves its place
 * to others, and comes into turn again at the end when its time has come.
 */
#ifndef TAKT_SCHEDULER_ORDER_H
#define TAKT_SCHEDULER_ORDER_H

#include "scheduler/turns.h"

/* At a pass: the queue comes into turn when its waiters need slots, and leaves when they do not. */
void takt_order_review(takt_scheduler *scheduler, takt_queue *queue);

/* Until that instant, by the local clock, no waiter of that priority or a less urgent one has a
 * turn; takt_order_unpark ends this. */
void takt_order_park(takt_queue *queue, int priority, int64_t until_us);
void takt_order_unpark(takt_scheduler *scheduler, takt_queue *queue);

/* An award tells the tag of the queue (0: it tells none). */
void takt_order_told(takt_queue *queue, int64_t tag);

/* Work of a tenant, of that priority, has used another amount than it took: what that adds to the
 * tags of the tenant's queues.  Those of a subject with several queues learn it with an award. */
void takt_order_corrected(takt_scheduler *scheduler, const char *limit, const char *key,
                          const char *tenant, int priority, int64_t change);

/* The tag from which the queue has waited for a place in line, as the ledger counts; 0: it has one,
 * or the tag is not known. */
int64_t takt_order_waited_from(const takt_queue *queue);

/* The queue was served: its next turn comes after those of its tag. */
void takt_order_served(takt_scheduler *scheduler, takt_queue *queue);

/* Whether other queues of the same urgency wait in this process for a place in line. */
bool takt_order_is_waited_for(const takt_queue *queue);

/* The queue claims now: others that are in line and in turn may claim with it. */
void takt_order_claims(takt_scheduler *scheduler, const takt_queue *queue, int64_t now_us);

/* Without the store all queues of the turns share one pace.  Whether any of them has waiters that
 * need slots, and whether the next slot is for this queue. */
bool takt_order_any_waits(const takt_queue *queue);
bool takt_order_is_first(const takt_queue *queue);

/* Without the store: the queue has started a waiter.  A turn has as many starts as the tenant's
 * weight. */
void takt_order_started(takt_scheduler *scheduler, takt_queue *queue);

#endif
