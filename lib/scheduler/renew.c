/*
 * renew.c: see renew.h.
 */
#include "scheduler/renew.h"

#include "scheduler/claims.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"

/* Numbers learned from an award stay in use until the policy has caught up. */
void takt_renew_queue(takt_scheduler *scheduler, takt_queue *queue, const takt_limit *limit)
{
    bool is_learned = queue->numbers == queue->newer;

    queue->limit = limit;
    if (!is_learned || queue->newer->revision <= limit->numbers.revision)
        queue->numbers = &limit->numbers; /* `newer` stays: a claim under way may refer to it */
    takt_waiter_review(scheduler, queue);
    if (queue->waiters.total > 0)
        takt_claims_nudge(scheduler, queue);
    else
        takt_registry_touch(scheduler, queue);
}

void takt_renew_policy(takt_scheduler *scheduler,
                       const takt_limit *(*find)(const void *data, const takt_limit *limit,
                                                 const char *key),
                       const void *data)
{
    for (size_t i = 0; i < scheduler->queues.used; i++)
        for (takt_entry *entry = scheduler->queues.buckets[i]; entry; entry = entry->next) {
            takt_queue *queue = TAKT_HOLDER(entry, takt_queue, registry.entry);
            const takt_limit *limit = find(data, queue->limit, queue->key);
            if (limit)
                takt_renew_queue(scheduler, queue, limit);
        }
}

bool takt_renew_is_used(const takt_scheduler *scheduler,
                        bool (*is_among)(const void *data, const takt_limit *limit),
                        const void *data)
{
    for (size_t i = 0; i < scheduler->queues.used; i++)
        for (const takt_entry *entry = scheduler->queues.buckets[i]; entry; entry = entry->next) {
            const takt_limit *at = TAKT_HOLDER(entry, takt_queue, registry.entry)->limit;
            for (; at; at = at->within)
                if (is_among(data, at))
                    return true;
        }
    return false;
}
