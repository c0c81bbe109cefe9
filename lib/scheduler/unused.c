/*
 * unused.c: see unused.h.
 */
#include "scheduler/unused.h"

void takt_unused_add(takt_scheduler *scheduler, takt_queue *queue, const takt_run *run)
{
    bool heard =
        !queue->server->loss.lost && queue->loss.trouble == 0 && queue->claims.hint == UNHINTED;

    if (!heard || queue->numbers->rule_count == 0)
        return;
    if (takt_slots_add(&queue->unused.slots, run, 1, 0) < 0) {
        scheduler->out_of_memory = true; /* the slots lapse */
        return;
    }
    takt_list_remove(&queue->unused.link);
    takt_list_append(&scheduler->handing_back, &queue->unused.link);
}

void takt_unused_gather(takt_scheduler *scheduler, takt_queue *queue)
{
    takt_run run;

    while (queue->waiters.total == 0 && takt_slots_pop_last(&queue->in_hand, &run))
        takt_unused_add(scheduler, queue, &run);
}

takt_queue *takt_unused_next(takt_scheduler *scheduler, takt_run *run)
{
    takt_queue *queue;

    if (takt_list_empty(&scheduler->handing_back))
        return NULL;
    queue = TAKT_HOLDER(scheduler->handing_back.next, takt_queue, unused.link);
    (void)takt_slots_pop_last(&queue->unused.slots, run);
    if (queue->unused.slots.count == 0)
        takt_list_remove(&queue->unused.link);
    return queue;
}
