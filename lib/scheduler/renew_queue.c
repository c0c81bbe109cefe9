/*
 * renew_queue.c: see renew_queue.h.
 */
#include "scheduler/renew_queue.h"

#include "scheduler/claims.h"
#include "scheduler/order.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"

/* Numbers learned from an award stay in use until the policy has caught up. */
void takt_renew_queue(takt_scheduler *scheduler, takt_queue *queue, const takt_limit *limit)
{
    bool is_learned = queue->numbers == queue->newer;

    takt_queue_accept(queue);
    queue->limit = limit;
    if (!is_learned || queue->newer->revision <= limit->numbers.revision)
        queue->numbers = &limit->numbers; /* `newer` stays: a claim under way may refer to it */
    takt_waiter_review(scheduler, queue);
    if (queue->waiters.total > 0)
        takt_claims_nudge(scheduler, queue);
    else
        takt_registry_touch(scheduler, queue);
}

void takt_renew_nested(takt_scheduler *scheduler, takt_queue *queue, const takt_chain *chain)
{
    takt_queue_accept(queue);
    for (int i = 0; i < queue->nest->count; i++)
        queue->nest->inner[i].limit = chain->limits[i];
    takt_order_unpark(scheduler, queue);
    takt_renew_queue(scheduler, queue, chain->limits[queue->nest->count]);
}
