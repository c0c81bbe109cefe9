/*
 * waiter.c: see waiter.h.
 */
#include "scheduler/waiter.h"

#include "scheduler/registry.h"

/* ---- what it holds --------------------------------------------------------------------------- */

void takt_waiter_take(takt_queue *queue, takt_permit *permit, int64_t fence)
{
    permit->queue = queue;
    permit->hold = TAKT_HOLD_HELD;
    permit->fence = fence;
    queue->holding.running++;
}

void takt_waiter_expect(takt_scheduler *scheduler, takt_queue *queue, int32_t cost, takt_more more,
                        takt_permit *permit)
{
    permit->shadow_queue = queue;
    permit->shadow_cost = cost;
    permit->shadow_more = more;
    queue->coming++;
    takt_registry_touch(scheduler, queue); /* the queue is no longer idle */
}

void takt_waiter_expect_none(takt_scheduler *scheduler, takt_permit *permit)
{
    if (!permit->shadow_queue)
        return;
    permit->shadow_queue->coming--;
    takt_registry_touch(scheduler, permit->shadow_queue);
    permit->shadow_queue = NULL;
}

static void let_go(takt_scheduler *scheduler, takt_queue *queue)
{
    if (queue->holding.running > 0) /* it is 0 when the client is closing */
        queue->holding.running--;
    takt_registry_touch(scheduler, queue);
}

void takt_waiter_drop(takt_scheduler *scheduler, takt_permit *permit)
{
    if (permit->hold == TAKT_HOLD_HELD)
        let_go(scheduler, permit->queue);
    permit->hold = TAKT_HOLD_NONE;
    takt_waiter_expect_none(scheduler, permit);
}

/* ---- its moves ------------------------------------------------------------------------------- */

void takt_waiter_fire(takt_scheduler *scheduler, takt_permit *permit, int status)
{
    takt_queue_remove(permit->queue, permit);
    if (status != 0) {
        takt_waiter_drop(scheduler, permit);
        permit->slot_at_us = 0; /* nothing to settle */
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

/* Whether the numbers in use of each level are those that claims state.  Other rules of our
 * revision may have ended: a claim asks. */
static bool uses_stated(const takt_queue *queue)
{
    bool same = queue->numbers == takt_queue_stated(queue);

    for (int i = 0; queue->nest && i < queue->nest->count; i++)
        same = same && queue->nest->inner[i].numbers == takt_inner_stated(&queue->nest->inner[i]);
    return same;
}

/* Whether the numbers in use may be others than those by which the cost was checked: an award has
 * told them, or the permit is a ticket, which a program has checked. */
static bool is_unchecked(const takt_queue *queue, const takt_permit *permit)
{
    bool learned = queue->newer != NULL || permit->ticket;

    for (int i = 0; queue->nest && i < queue->nest->count; i++)
        learned = learned || queue->nest->inner[i].newer;
    return learned;
}

void takt_waiter_acquire(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit)
{
    permit->queue = queue;
    permit->state = TAKT_PERMIT_WAITING;
    permit->uncharged = false;
    takt_queue_add(queue, permit);
    takt_registry_touch(scheduler, queue);
    if ((is_unchecked(queue, permit) && uses_stated(queue)) ||
        queue->limit->access != TAKT_ACCESS_LIMITED)
        decide(scheduler, queue, permit);
}

void takt_waiter_moved(takt_scheduler *scheduler, takt_permit *permit)
{
    if (uses_stated(permit->queue))
        decide(scheduler, permit->queue, permit);
}

void takt_waiter_start(takt_scheduler *scheduler, takt_permit *permit)
{
    permit->queue = permit->shadow_queue;
    permit->uncharged = true;
    permit->status = 0;
    permit->state = TAKT_PERMIT_FIRED;
    takt_list_append(&scheduler->fired, &permit->line);
}

/* The callback did not come, so the permit's slot is in hand again.  A slot that no ledger gave is
 * dropped: the next waiter gets its own. */
static void put_back(takt_scheduler *scheduler, const takt_permit *permit)
{
    takt_run slot = takt_run_at(permit->slot_at_us, 1, permit->cost, permit->more);
    int64_t fence = permit->hold == TAKT_HOLD_HELD ? permit->fence : 0;

    if (!permit->uncharged && takt_slots_add(&permit->queue->in_hand, &slot, 1, fence) < 0)
        scheduler->out_of_memory = true; /* the slot lapses */
}

/* Its callback was due.  Now it is not, or it comes with another status. */
static void withdraw(takt_scheduler *scheduler, takt_permit *permit, int status)
{
    if (permit->status == 0) {
        put_back(scheduler, permit);
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

void takt_waiter_grant(takt_scheduler *scheduler, takt_permit *permit)
{
    permit->state = TAKT_PERMIT_GRANTED;
    takt_list_remove(&permit->line);
    if (permit->hold != TAKT_HOLD_NONE)
        takt_list_append(&scheduler->granted, &permit->line);
}

void takt_waiter_review(takt_scheduler *scheduler, takt_queue *queue)
{
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        for (takt_link *at = queue->waiters.lists[i].next, *next; at != &queue->waiters.lists[i];
             at = next) {
            next = at->next;
            decide(scheduler, queue, takt_queue_permit(at));
        }
}
