/*
 * turns.c: see turns.h.
 */
#include "scheduler/turns.h"

#include <stdlib.h>
#include <string.h>

void takt_turns_step_back(takt_turn *turn)
{
    if (!turn->stands)
        return;
    turn->stands = false;
    turn->of->standing[turn->priority]--;
    turn->of->standing_count--;
}

/* The turns of a limit and key, made if necessary; NULL: no memory. */
static takt_turns *turns_at(takt_scheduler *scheduler, const char *id, size_t size)
{
    takt_entry *entry = takt_table_find(&scheduler->turns, id, size);
    takt_turns *turns;

    if (entry)
        return TAKT_HOLDER(entry, takt_turns, entry);
    turns = calloc(1, sizeof *turns + size);
    if (!turns)
        return NULL;
    memcpy(turns->id, id, size);
    turns->entry.key = turns->id;
    turns->entry.size = size;
    takt_list_init(&turns->queues);
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        takt_list_init(&turns->order[i]);
    takt_table_add(&scheduler->turns, &turns->entry);
    return turns;
}

static void free_if_unused(takt_scheduler *scheduler, takt_turns *turns)
{
    if (!turns || !takt_list_empty(&turns->queues))
        return;
    takt_table_remove(&scheduler->turns, &turns->entry);
    free(turns->pace.share);
    free(turns);
}

/* A queue that had no tenant so far brings what it knows of the pace. */
static void take_over(takt_turns *turns, takt_queue *queue)
{
    turns->alone += queue->loss.alone;
    turns->in_line += queue->awarded.in_line != 0;
    if (queue->loss.pace.seen.workers > turns->pace.seen.workers)
        turns->pace.seen = queue->loss.pace.seen;
    if (turns->pace.share)
        return;
    turns->pace.share = queue->loss.pace.share;
    queue->loss.pace.share = NULL;
}

bool takt_turns_join(takt_scheduler *scheduler, const char *id, size_t size, takt_queue *queue,
                     const char *tenant)
{
    takt_turns *turns = turns_at(scheduler, id, size);
    takt_turn *turn = turns ? calloc(1, sizeof *turn) : NULL;

    if (!turn) {
        free_if_unused(scheduler, turns);
        return false;
    }
    *turn = (takt_turn){.queue = queue, .of = turns, .tenant = tenant, .priority = -1};
    queue->turn = turn;
    takt_list_append(&turns->queues, &turn->all);
    takt_list_init(&turn->link);
    take_over(turns, queue);
    return true;
}

void takt_turns_leave(takt_scheduler *scheduler, takt_queue *queue)
{
    takt_turn *turn = queue->turn;

    if (!turn)
        return;
    turn->of->alone -= queue->loss.alone;
    turn->of->in_line -= queue->awarded.in_line != 0;
    takt_turns_step_back(turn);
    takt_list_remove(&turn->link);
    takt_list_remove(&turn->all);
    free_if_unused(scheduler, turn->of);
}

/* The queue of work that names no tenant and is not nested: its id is that of the limit and key. */
static bool is_plain(const takt_queue *queue)
{
    return !queue->nest && !(queue->turn && queue->turn->tenant[0]);
}

takt_queue *takt_turns_next(takt_scheduler *scheduler, const char *id, size_t size,
                            const takt_queue *before)
{
    takt_entry *entry = takt_table_find(&scheduler->turns, id, size);
    const takt_turns *turns = entry ? TAKT_HOLDER(entry, takt_turns, entry) : NULL;
    const takt_link *next;

    if (!turns)
        return NULL;
    next = before && !is_plain(before) ? before->turn->all.next : turns->queues.next;
    for (; next != &turns->queues; next = next->next)
        if (!is_plain(TAKT_HOLDER(next, takt_turn, all)->queue))
            return TAKT_HOLDER(next, takt_turn, all)->queue;
    return NULL;
}
