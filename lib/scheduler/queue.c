/*
 * queue.c: see queue.h.
 */
#include "scheduler/queue.h"

#include <stdlib.h>

#include "base/integers.h"

#define LOOK_BACK 64 /* waiters passed over to find one that a slot suits */

static bool sooner(const takt_node *a, const takt_node *b)
{
    return TAKT_HOLDER(a, takt_permit, deadline)->deadline_at_us <
           TAKT_HOLDER(b, takt_permit, deadline)->deadline_at_us;
}

void takt_queue_init(takt_queue *queue, const takt_limit *limit, const char *key)
{
    *queue = (takt_queue){.limit = limit,
                          .numbers = &limit->numbers,
                          .key = key,
                          .awarded.least_urgent = -1,
                          .registry.pass_at_us = TAKT_NEVER};
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        takt_list_init(&queue->waiters.lists[i]);
    takt_heap_init(&queue->waiters.deadlines, sooner);
    takt_list_init(&queue->registry.link);
    takt_list_init(&queue->loss.fallback);
    takt_list_init(&queue->unused.link);
}

void takt_queue_close(takt_queue *queue)
{
    takt_slots_close(&queue->in_hand);
    takt_slots_close(&queue->unused.slots);
    takt_list_remove(&queue->loss.fallback);
    takt_list_remove(&queue->unused.link);
    free(queue->newer);
    free(queue->loss.pace.share);
    free(queue->turn);
    free(queue->nest);
}

static bool takes_same(const takt_permit *a, const takt_permit *b)
{
    return a->cost == b->cost && takt_more_same(a->more, b->more);
}

/* 1 if both are waiters and their amounts differ. */
static int differ(const takt_link *head, const takt_link *a, const takt_link *b)
{
    return a != head && b != head && !takes_same(takt_queue_permit(a), takt_queue_permit(b));
}

void takt_queue_add(takt_queue *queue, takt_permit *permit)
{
    takt_link *head = &queue->waiters.lists[permit->priority];

    permit->counted = TAKT_UNSTATED;
    takt_list_append(head, &permit->line);
    if (permit->line.previous != head)
        queue->waiters.changes += differ(head, permit->line.previous, &permit->line);
    queue->waiters.count[permit->priority]++;
    queue->waiters.total++;
    queue->waiters.tokens += permit->cost;
    if (permit->deadline_at_us != TAKT_NEVER)
        takt_heap_add(&queue->waiters.deadlines, &permit->deadline);
}

void takt_queue_remove(takt_queue *queue, takt_permit *permit)
{
    takt_link *head = &queue->waiters.lists[permit->priority];
    takt_link *before = permit->line.previous, *after = permit->line.next;

    if (before != after) /* else it is alone */
        queue->waiters.changes += differ(head, before, after) -
                                  differ(head, before, &permit->line) -
                                  differ(head, &permit->line, after);
    takt_list_remove(&permit->line);
    queue->waiters.count[permit->priority]--;
    queue->waiters.total--;
    queue->waiters.tokens -= permit->cost;
    queue->waiters.counted -= permit->counted == TAKT_COUNTED;
    if (permit->deadline_at_us != TAKT_NEVER)
        takt_heap_remove(&queue->waiters.deadlines, &permit->deadline);
}

/* Looks for a waiter of one priority that a slot suits, at most *looks of them.  *smaller is the
 * first of all that takes less. */
static takt_permit *match_in(const takt_link *head, const takt_run *slot, int *looks,
                             takt_permit **smaller)
{
    for (const takt_link *at = head->next; at != head && *looks > 0; at = at->next, --*looks) {
        takt_permit *permit = takt_queue_permit(at);
        if (permit->cost == slot->cost && takt_more_same(permit->more, slot->more))
            return permit;
        if (permit->cost <= slot->cost && takt_more_within(permit->more, slot->more) && !*smaller)
            *smaller = permit;
    }
    return NULL;
}

takt_permit *takt_queue_match(const takt_queue *queue, const takt_run *slot)
{
    const takt_link *head = queue->waiters.lists;
    takt_permit *smaller = NULL, *same = NULL;
    int looks = LOOK_BACK;

    for (int i = 0; i < TAKT_PRIORITIES && !same; i++, head++)
        if (head->next != head)
            same = match_in(head, slot, &looks, &smaller);
    return same ? same : smaller;
}

takt_permit *takt_queue_first(const takt_queue *queue)
{
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        if (queue->waiters.count[i] > 0)
            return takt_queue_permit(queue->waiters.lists[i].next);
    return NULL;
}

takt_permit *takt_queue_last(const takt_queue *queue)
{
    for (int i = TAKT_PRIORITIES - 1; i >= 0; i--)
        if (queue->waiters.count[i] > 0)
            return takt_queue_permit(queue->waiters.lists[i].previous);
    return NULL;
}

takt_permit *takt_queue_first_deadline(const takt_queue *queue)
{
    return queue->waiters.deadlines.first
               ? TAKT_HOLDER(queue->waiters.deadlines.first, takt_permit, deadline)
               : NULL;
}

/* ---- what its limits say --------------------------------------------------------------------- */

takt_unit_map takt_queue_units(const takt_queue *queue)
{
    takt_unit_map map = TAKT_UNIT_MAP_PLAIN;

    if (queue->nest)
        map.units = (int8_t)takt_numbers_units(takt_queue_stated(queue));
    return map;
}

takt_unit_map takt_inner_units(const takt_inner *inner)
{
    takt_unit_map map = inner->units;

    map.units = (int8_t)takt_numbers_units(takt_inner_stated(inner));
    return map;
}

bool takt_queue_can_give(const takt_queue *queue, const takt_permit *permit)
{
    takt_amounts taken = takt_amounts_of(permit->cost, permit->more);

    for (int i = 0; queue->nest && i < queue->nest->count; i++) {
        const takt_inner *inner = &queue->nest->inner[i];
        if (inner->limit->access == TAKT_ACCESS_REFUSED ||
            !takt_numbers_can_give(inner->numbers, takt_amounts_by(takt_inner_units(inner), taken)))
            return false;
    }
    return queue->limit->access != TAKT_ACCESS_REFUSED &&
           takt_numbers_can_give(queue->numbers, takt_amounts_by(takt_queue_units(queue), taken));
}

int takt_queue_next_priority(const takt_queue *queue)
{
    unsigned from = queue->awarded.in_line >> queue->claims.foremost;
    int priority = queue->claims.foremost;

    for (; from != 0 && (from & 1) == 0; from >>= 1)
        priority++;
    return priority;
}

bool takt_queue_has_permits(const takt_queue *queue)
{
    bool has = queue->numbers->concurrency > 0;

    for (int i = 0; queue->nest && i < queue->nest->count; i++)
        has = has || queue->nest->inner[i].numbers->concurrency > 0;
    return has;
}

int64_t takt_queue_lease(const takt_queue *queue)
{
    int64_t lease_us = queue->numbers->concurrency > 0 ? queue->numbers->lease_us : TAKT_NEVER;

    for (int i = 0; queue->nest && i < queue->nest->count; i++) {
        const takt_numbers *numbers = queue->nest->inner[i].numbers;
        if (numbers->concurrency > 0)
            lease_us = takt_min(lease_us, numbers->lease_us);
    }
    return lease_us;
}

int64_t takt_queue_guard(const takt_queue *queue)
{
    int64_t guard_us = takt_numbers_guard(queue->numbers);

    for (int i = 0; queue->nest && i < queue->nest->count; i++)
        guard_us = takt_min(guard_us, takt_numbers_guard(queue->nest->inner[i].numbers));
    return guard_us;
}
