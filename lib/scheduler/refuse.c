/*
 * refuse.c: see refuse.h.
 */
#include "scheduler/refuse.h"

#include "base/integers.h"
#include "scheduler/queue_bound.h"
#include "scheduler/turns.h"
#include "scheduler/waiter.h"

void takt_refuse(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit, int status,
                 int64_t now_us)
{
    int64_t after_us =
        takt_clock_local(&queue->server->clock, queue->awarded.next_slot_at_us) - now_us;

    if (after_us <= 0 && (takt_queue_has_permits(queue) || takt_turns_hold_up(queue)))
        after_us = takt_max(queue->numbers->lookahead_us, 1);
    permit->retry_after_us = queue->server->clock.known ? takt_max(after_us, 0) : 0;
    takt_waiter_fire(scheduler, permit, status);
}

/* Too many wait: one leaves in that way. */
static void refuse_one(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit,
                       takt_when_full way, int64_t now_us)
{
    permit->left = (uint8_t)way;
    takt_refuse(scheduler, queue, permit, TAKT_E_FULL, now_us);
}

/* Returns how many left. */
static int64_t refuse_some(takt_scheduler *scheduler, takt_queue *queue, takt_leave leave,
                           int64_t now_us)
{
    takt_permit *permit, *next;
    int64_t left = leave.count;

    while (left > 0 && (permit = takt_queue_excess(queue, leave.way)))
        for (; permit && left > 0; permit = next, left--) {
            next = takt_queue_excess_after(queue, leave.way, permit);
            refuse_one(scheduler, queue, permit, leave.way, now_us);
        }
    return leave.count - left;
}

void takt_refuse_excess(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                        int64_t now_us)
{
    takt_leave rest = {takt_queue_when_full(queue), award->refused};
    takt_permit *permit;

    if (award->leave_count == 0)
        rest.count -= refuse_some(scheduler, queue, rest, now_us);
    for (int i = 0; i < award->leave_count; i++)
        rest.count -= refuse_some(scheduler, queue, award->leaves[i], now_us);
    if (!scheduler->relayed)
        return;
    for (; rest.count > 0 && (permit = takt_queue_last(queue)); rest.count--)
        refuse_one(scheduler, queue, permit, rest.way, now_us);
}

void takt_refuse_unstated(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    takt_permit *permit;

    if (scheduler->relayed && queue->nest)
        return;
    while (takt_queue_is_full(queue) && (permit = takt_queue_unstated(queue)))
        refuse_one(scheduler, queue, permit, TAKT_WHEN_FULL_REFUSE, now_us);
}

static int64_t tokens_in_hand(const takt_queue *queue)
{
    int64_t tokens = 0;

    for (int i = 0; i < queue->in_hand.run_count; i++)
        tokens += queue->in_hand.runs[queue->in_hand.first + i].count *
                  queue->in_hand.runs[queue->in_hand.first + i].cost;
    return tokens;
}

/* The last waiter has no slot before that, by the store's clock, if those before it stay. */
static int64_t last_slot_at(const takt_queue *queue)
{
    int64_t tokens = queue->waiters.tokens - tokens_in_hand(queue);
    takt_amounts wanted = takt_amounts_of_cost(tokens); /* of further units at least 1 */
    int64_t at_us;

    wanted.of[TAKT_UNIT_REQUESTS] = queue->waiters.total - queue->in_hand.count;

    if (tokens <= 0 || queue->awarded.next_slot_at_us == TAKT_NEVER)
        return tokens <= 0 ? 0 : TAKT_NEVER;
    at_us = takt_numbers_due_at_best(queue->numbers, queue->awarded.next_slot_at_us, wanted);
    for (int i = 0; queue->nest && i < queue->nest->count; i++)
        at_us =
            takt_max(at_us, takt_numbers_due_at_best(
                                queue->nest->inner[i].numbers, queue->awarded.next_slot_at_us,
                                takt_amounts_by(takt_inner_units(&queue->nest->inner[i]), wanted)));
    return at_us;
}

static bool takes_as_much(const takt_permit *permit, const takt_amounts *least)
{
    takt_amounts taken = takt_amounts_of(permit->cost, permit->more);

    for (int unit = 0; unit < TAKT_UNITS; unit++)
        if (taken.of[unit] < least->of[unit])
            return false;
    return true;
}

/* Whether the deadline is over by that instant, and what the award says of the next slot holds for
 * this waiter, which may have come after the claim. */
static bool is_too_late(const takt_queue *queue, const takt_permit *permit, int64_t store_us)
{
    return permit->deadline_at_us < takt_clock_local(&queue->server->clock, store_us) &&
           takes_as_much(permit, &queue->claims.least) &&
           permit->priority >= takt_queue_next_priority(queue);
}

void takt_refuse_hopeless(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    takt_permit *permit;

    if (!takt_queue_first_deadline(queue))
        return;
    while (queue->in_hand.count == 0 && (permit = takt_queue_first_deadline(queue)) &&
           is_too_late(queue, permit, queue->awarded.next_slot_at_us))
        takt_refuse(scheduler, queue, permit, TAKT_E_DEADLINE, now_us);
    while ((permit = takt_queue_last(queue)) && permit->deadline_at_us != TAKT_NEVER &&
           is_too_late(queue, permit, last_slot_at(queue)))
        takt_refuse(scheduler, queue, permit, TAKT_E_DEADLINE, now_us);
}
