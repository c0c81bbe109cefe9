/*
 * renew.c: see renew.h.
 */
#include "scheduler/renew.h"

#include "scheduler/move.h"
#include "scheduler/renew_queue.h"

/* The limits that a nested queue has, with their keys. */
static takt_chain chain_of(const takt_queue *queue)
{
    const takt_nest *nest = queue->nest;
    takt_chain chain = {.count = nest->count + 1,
                        .numbered = nest->numbered,
                        .stated = nest->stated,
                        .inside = nest->inside};

    for (int i = 0; i < nest->count; i++) {
        chain.limits[i] = nest->inner[i].limit;
        chain.keys[i] = nest->inner[i].key;
        chain.maps[i] = nest->inner[i].units;
    }
    chain.limits[nest->count] = queue->limit;
    chain.keys[nest->count] = queue->key;
    return chain;
}

/* The limits that a nested queue continues with.  What is in it now stays: it waits for the limits
 * that it asked for, also if these are within others now.  False: the queue keeps the old ones. */
static bool find_chain(const takt_queue *queue, const takt_successor *to, takt_chain *chain)
{
    *chain = chain_of(queue);
    for (int i = 0; i < chain->count; i++) {
        chain->limits[i] = to->find(to->data, chain->limits[i], chain->keys[i]);
        if (!chain->limits[i])
            return false;
    }
    return takt_chain_is_nested(chain) && takt_nest_continues(queue->nest, chain) &&
           (!chain->numbered || takt_chain_follows(chain));
}

static void renew(takt_scheduler *scheduler, takt_queue *queue, const takt_successor *to)
{
    takt_chain chain = {.limits = {to->find(to->data, queue->limit, queue->key)}};

    if (queue->nest ? !find_chain(queue, to, &chain) : !chain.limits[0])
        return;
    if (queue->nest && queue->nest->inside == TAKT_INSIDE_WITHIN)
        queue->nest->weight =
            to->weigh(to->data, chain.limits[0], queue->nest->tenant, queue->nest->weight);
    else if (queue->turn)
        queue->turn->weight =
            to->weigh(to->data, chain.limits[queue->nest ? queue->nest->count : 0],
                      queue->turn->tenant, queue->turn->weight);
    if (queue->nest)
        takt_renew_nested(scheduler, queue, &chain);
    else
        takt_renew_queue(scheduler, queue, chain.limits[0]);
}

void takt_renew_policy(takt_scheduler *scheduler, const takt_successor *to)
{
    takt_move_waiters(scheduler, to);
    for (size_t i = 0; i < scheduler->queues.used; i++)
        for (takt_entry *entry = scheduler->queues.buckets[i]; entry; entry = entry->next)
            renew(scheduler, TAKT_HOLDER(entry, takt_queue, registry.entry), to);
}

/* Whether the limit, or one that it is within, is among them. */
static bool reaches(bool (*is_among)(const void *data, const takt_limit *limit), const void *data,
                    const takt_limit *limit)
{
    for (; limit; limit = limit->within)
        if (is_among(data, limit))
            return true;
    return false;
}

bool takt_renew_is_used(const takt_scheduler *scheduler,
                        bool (*is_among)(const void *data, const takt_limit *limit),
                        const void *data)
{
    for (size_t i = 0; i < scheduler->queues.used; i++)
        for (const takt_entry *entry = scheduler->queues.buckets[i]; entry; entry = entry->next) {
            const takt_queue *queue = TAKT_HOLDER(entry, takt_queue, registry.entry);
            if (reaches(is_among, data, queue->limit))
                return true;
            for (int j = 0; queue->nest && j < queue->nest->count; j++)
                if (reaches(is_among, data, queue->nest->inner[j].limit))
                    return true;
        }
    return false;
}
