/*
 * unused.c: see unused.h.
 */
#include "scheduler/unused.h"

#define LOOK_BACK 16 /* runs that a slot may be joined to */

/* Joins a slot to those of its instant and amounts, such as a burst whose work gave up: one call
 * hands them all back. */
static bool join(takt_slots *slots, const takt_run *run)
{
    for (int i = slots->run_count - 1; i >= 0 && i >= slots->run_count - LOOK_BACK; i--) {
        takt_run *at = &slots->runs[slots->first + i];
        bool same = at->cost == run->cost && takt_more_same(at->more, run->more) &&
                    at->whole == run->whole && at->first.us == run->first.us &&
                    at->first.parts == run->first.parts;
        if (same && run->count == 1 &&
            (at->count == 1 || (at->step.us == 0 && at->step.parts == 0))) {
            at->step = (takt_fraction){0, 0};
            at->count++;
            slots->count++;
            return true;
        }
    }
    return false;
}

static bool has_rules(const takt_queue *queue)
{
    return queue->numbers->rule_count > 0 || queue->nest; /* inner limits have rules */
}

void takt_unused_add(takt_scheduler *scheduler, takt_queue *queue, const takt_run *run)
{
    bool heard =
        !queue->server->loss.lost && queue->loss.trouble == 0 && queue->claims.hint == UNHINTED;

    if (!heard || !has_rules(queue))
        return;
    if (!join(&queue->unused.slots, run) && takt_slots_add(&queue->unused.slots, run, 1, 0) < 0) {
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
