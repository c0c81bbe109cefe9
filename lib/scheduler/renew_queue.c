/*
 * renew_queue.c: see renew_queue.h.
 */
#include "scheduler/renew_queue.h"

#include "scheduler/claims.h"
#include "scheduler/order.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"

/* Numbers learned from an award stay in use until the policy has caught up.  The memory of learned
 * ones stays: a claim under way may refer to it. */
static const takt_numbers *renewed(const takt_numbers *used, const takt_numbers *newer,
                                   const takt_limit *limit)
{
    return used == newer && newer->revision > limit->numbers.revision ? newer : &limit->numbers;
}

void takt_renew_queue(takt_scheduler *scheduler, takt_queue *queue, const takt_limit *limit)
{
    takt_queue_accept(queue);
    queue->limit = limit;
    queue->numbers = renewed(queue->numbers, queue->newer, limit);
    takt_waiter_review(scheduler, queue);
    if (queue->waiters.total > 0)
        takt_claims_nudge(scheduler, queue);
    else
        takt_registry_touch(scheduler, queue);
}

void takt_renew_nested(takt_scheduler *scheduler, takt_queue *queue, const takt_chain *chain)
{
    takt_queue_accept(queue);
    for (int i = 0; i < queue->nest->count; i++) {
        takt_inner *inner = &queue->nest->inner[i];
        inner->limit = chain->limits[i];
        inner->numbers = renewed(inner->numbers, inner->newer, inner->limit);
    }
    takt_order_unpark(scheduler, queue);
    takt_renew_queue(scheduler, queue, chain->limits[queue->nest->count]);
}
