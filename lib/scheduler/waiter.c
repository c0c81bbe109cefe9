/*
 * waiter.c: see waiter.h.
 */
#include "scheduler/waiter.h"

#include <string.h>

#include "scheduler/registry.h"
#include "scheduler/unused.h"

/* ---- what it holds --------------------------------------------------------------------------- */

void takt_waiter_take(takt_queue *queue, takt_permit *permit, int64_t fence)
{
    permit->holds[permit->hold_count] = (takt_hold){queue, fence};
    if (permit->hold_count++ == 0)
        permit->fence = fence;
    queue->holding.running++;
}

void takt_waiter_pass(takt_queue *queue, takt_permit *permit, int64_t slot_us)
{
    permit->passed[permit->passed_count++] =
        (takt_passed){queue, slot_us, permit->cost, permit->more};
    queue->gone_on++;
}

/* The slot of the last inner limit that it has passed. */
static takt_passed unpass(takt_scheduler *scheduler, takt_permit *permit)
{
    takt_passed passed = permit->passed[--permit->passed_count];

    passed.queue->gone_on--;
    takt_registry_touch(scheduler, passed.queue);
    return passed;
}

void takt_waiter_expect_none(takt_scheduler *scheduler, takt_permit *permit)
{
    while (permit->outer_count > 0) {
        takt_queue *queue = permit->outer[--permit->outer_count];
        queue->coming--;
        takt_registry_touch(scheduler, queue);
    }
}

static void let_go(takt_scheduler *scheduler, takt_queue *queue)
{
    if (queue->holding.running > 0) /* it is 0 when the client is closing */
        queue->holding.running--;
    takt_registry_touch(scheduler, queue);
}

void takt_waiter_drop(takt_scheduler *scheduler, takt_permit *permit)
{
    while (permit->hold_count > 0) {
        takt_queue *queue = permit->holds[--permit->hold_count].queue;
        if (queue) /* NULL: lost */
            let_go(scheduler, queue);
    }
    while (permit->passed_count > 0) {
        takt_passed passed = unpass(scheduler, permit);
        takt_run slot = takt_run_at(passed.slot_at_us, 1, passed.cost, passed.more);
        takt_unused_add(scheduler, passed.queue, &slot);
    }
    takt_waiter_expect_none(scheduler, permit);
}

/* ---- its moves ------------------------------------------------------------------------------- */

void takt_waiter_fire(takt_scheduler *scheduler, takt_permit *permit, int status)
{
    takt_queue_remove(permit->queue, permit);
    if (status != 0) {
        takt_waiter_drop(scheduler, permit);
        permit->slot_at_us = 0; /* nothing to settle for an inner limit's slot */
        permit->uncharged = false;
    }
    permit->status = (int16_t)status;
    permit->state = TAKT_PERMIT_FIRED;
    takt_list_append(&scheduler->fired, &permit->line);
}

/* Fires a waiter that has nothing to wait for: its key is unlimited, or its cost is impossible. */
static void decide(takt_scheduler *scheduler, const takt_queue *queue, takt_permit *permit)
{
    if (queue->limit->access == TAKT_ACCESS_UNLIMITED) {
        permit->uncharged = true;
        takt_waiter_fire(scheduler, permit, 0);
    } else if (!takt_queue_can_give(queue, permit)) {
        takt_waiter_fire(scheduler, permit, TAKT_E_COST);
    }
}

void takt_waiter_acquire(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit)
{
    permit->queue = queue;
    permit->state = TAKT_PERMIT_WAITING;
    permit->uncharged = false;
    takt_queue_add(queue, permit);
    takt_registry_touch(scheduler, queue);
    /* other rules of our revision may have ended: a claim asks */
    if ((queue->newer && queue->numbers == takt_queue_stated(queue)) ||
        queue->limit->access != TAKT_ACCESS_LIMITED)
        decide(scheduler, queue, permit);
}

/* Its slot is that of the last limit that it has passed, if any enforced. */
void takt_waiter_start(takt_scheduler *scheduler, takt_permit *permit)
{
    permit->uncharged = permit->passed_count == 0;
    if (permit->uncharged) {
        permit->queue = permit->outer[permit->outer_count - 1];
    } else {
        const takt_passed *last = &permit->passed[permit->passed_count - 1];
        permit->queue = last->queue;
        permit->nested = last->queue->nest != NULL;
        permit->slot_at_us = last->slot_at_us;
        permit->cost = last->cost;
        permit->more = last->more;
    }
    permit->status = 0;
    permit->state = TAKT_PERMIT_FIRED;
    takt_list_append(&scheduler->fired, &permit->line);
}

void takt_waiter_expect(takt_scheduler *scheduler, takt_queue *queue, int32_t cost, takt_more more,
                        takt_permit *permit)
{
    permit->outer_more[permit->outer_count] = more;
    permit->outer_costs[permit->outer_count] = cost;
    permit->outer[permit->outer_count++] = queue;
    queue->coming++;
    takt_registry_touch(scheduler, queue); /* the queue is no longer idle */
}

void takt_waiter_take_over(takt_permit *permit, takt_permit *from)
{
    memcpy(permit->outer, from->outer, sizeof permit->outer);
    memcpy(permit->outer_costs, from->outer_costs, sizeof permit->outer_costs);
    memcpy(permit->outer_more, from->outer_more, sizeof permit->outer_more);
    permit->outer_count = from->outer_count;
    from->outer_count = 0;
}

takt_queue *takt_waiter_next_queue(takt_scheduler *scheduler, takt_permit *permit)
{
    int at = takt_waiter_next(permit);
    takt_queue *queue;

    if (at < 0)
        return NULL;
    queue = permit->outer[at];
    permit->cost = permit->outer_costs[at];
    permit->more = permit->outer_more[at];
    for (permit->outer_count--; at < permit->outer_count; at++) {
        permit->outer[at] = permit->outer[at + 1];
        permit->outer_costs[at] = permit->outer_costs[at + 1];
        permit->outer_more[at] = permit->outer_more[at + 1];
    }
    queue->coming--;
    takt_registry_touch(scheduler, queue);
    /* a permit that holds something is in the list of granted ones */
    takt_list_remove(&permit->line);
    return queue;
}

/* The callback did not come, so the permit's slot is in hand again.  A slot that no ledger gave is
 * dropped: the next waiter gets its own. */
static void put_back(takt_scheduler *scheduler, const takt_permit *permit, int64_t fence)
{
    takt_run slot = takt_run_at(permit->slot_at_us, 1, permit->cost, permit->more);

    if (!permit->uncharged && takt_slots_add(&permit->queue->in_hand, &slot, 1, fence) < 0)
        scheduler->out_of_memory = true; /* the slot lapses */
}

/* The fencing number of the permit that it holds of its present queue; 0: none. */
static int64_t last_fence(const takt_permit *permit)
{
    const takt_hold *last = permit->hold_count > 0 ? &permit->holds[permit->hold_count - 1] : NULL;

    return last && last->queue == permit->queue ? last->fence : 0;
}

/* Its callback was due.  Now it is not, or it comes with another status. */
static void withdraw(takt_scheduler *scheduler, takt_permit *permit, int status)
{
    if (permit->status == 0) {
        put_back(scheduler, permit, last_fence(permit));
        if (permit->passed_count > 0 &&
            permit->passed[permit->passed_count - 1].queue == permit->queue)
            (void)unpass(scheduler, permit);
        takt_waiter_drop(scheduler, permit);
        permit->slot_at_us = 0;
        permit->uncharged = false;
    }
    permit->status = (int16_t)status;
    if (status != 0)
        return;
    takt_list_remove(&permit->line);
    permit->state = TAKT_PERMIT_IDLE;
}

void takt_waiter_leave(takt_scheduler *scheduler, takt_permit *permit, int status)
{
    takt_registry_touch(scheduler, permit->queue);
    if (permit->state == TAKT_PERMIT_FIRED) {
        withdraw(scheduler, permit, status);
        return;
    }
    if (status != 0) {
        takt_waiter_fire(scheduler, permit, status);
        return;
    }
    takt_queue_remove(permit->queue, permit);
    takt_waiter_drop(scheduler, permit);
    permit->state = TAKT_PERMIT_IDLE;
}

void takt_waiter_release(takt_scheduler *scheduler, takt_permit *permit)
{
    takt_list_remove(&permit->line);
    takt_waiter_drop(scheduler, permit);
    permit->state = TAKT_PERMIT_IDLE;
}

void takt_waiter_begin(takt_scheduler *scheduler, takt_permit *permit)
{
    while (permit->passed_count > 0)
        (void)unpass(scheduler, permit);
}

void takt_waiter_grant(takt_scheduler *scheduler, takt_permit *permit)
{
    permit->state = TAKT_PERMIT_GRANTED;
    if (takt_waiter_next(permit) < 0)
        takt_waiter_begin(scheduler, permit);
    takt_list_remove(&permit->line);
    if (permit->hold_count > 0)
        takt_list_append(&scheduler->granted, &permit->line);
}

void takt_waiter_go_on(takt_scheduler *scheduler, takt_permit *permit)
{
    takt_queue *queue = takt_waiter_next_queue(scheduler, permit);

    if (!queue) {
        takt_waiter_start(scheduler, permit);
        return;
    }
    takt_waiter_acquire(scheduler, queue, permit);
    if (permit->state == TAKT_PERMIT_WAITING) /* nobody has asked yet what it takes there */
        decide(scheduler, queue, permit);
}

/* Its limit is in shadow now: the permit is to pass it when it starts. */
static void pass_by(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit)
{
    takt_queue_remove(queue, permit);
    takt_waiter_expect(scheduler, queue, permit->cost, permit->more, permit);
    permit->nested = 0;
    takt_waiter_go_on(scheduler, permit);
}

void takt_waiter_review(takt_scheduler *scheduler, takt_queue *queue)
{
    bool in_shadow = queue->limit->mode == TAKT_MODE_SHADOW;
    takt_permit *permit;

    for (int i = 0; i < TAKT_PRIORITIES; i++)
        for (takt_link *at = queue->waiters.lists[i].next, *next; at != &queue->waiters.lists[i];
             at = next) {
            next = at->next;
            permit = TAKT_HOLDER(at, takt_permit, line);
            if (in_shadow && !permit->shadow && !permit->ticket)
                pass_by(scheduler, queue, permit);
            else
                decide(scheduler, queue, permit);
        }
}
