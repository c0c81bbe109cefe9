/*
 * queue_bound.c: see queue_bound.h.
 */
#include "scheduler/queue_bound.h"

#include "scheduler/queue_cover.h"
#include "scheduler/turns.h"

/* The lower bound of two levels; `lowest` may be NULL. */
static const takt_numbers *lower(const takt_numbers *lowest, const takt_numbers *level,
                                 bool refusing)
{
    if (level->max_waiting == 0 || (refusing && takt_numbers_drops(level)))
        return lowest;
    return !lowest || level->max_waiting < lowest->max_waiting ? level : lowest;
}

/* The inner level with the lowest bound, if that is lower than one already found. */
static const takt_numbers *inner_bound_of(const takt_queue *queue, const takt_numbers *lowest,
                                          bool refusing)
{
    for (int i = 0; queue->nest && i < queue->nest->count; i++)
        lowest = lower(lowest, takt_inner_stated(&queue->nest->inner[i]), refusing);
    return lowest;
}

/* The level with the lowest bound, or the lowest of those that refuse; NULL: there is none. */
static const takt_numbers *bound_of(const takt_queue *queue, bool refusing)
{
    return inner_bound_of(queue, lower(NULL, takt_queue_stated(queue), refusing), refusing);
}

/* Whether the outermost ledger counts all waiters.  Nested work that its inner limits hold up does
 * not stand in that line. */
static bool is_counted_outside(const takt_queue *queue)
{
    for (int i = 0; queue->nest && i < TAKT_PRIORITIES; i++)
        if (queue->waiters.count[i] > 0 && (queue->awarded.in_line & (1U << i)) == 0)
            return false;
    return true;
}

bool takt_queue_has_bound(const takt_queue *queue)
{
    return bound_of(queue, false) != NULL;
}

takt_when_full takt_queue_when_full(const takt_queue *queue)
{
    const takt_numbers *bound = lower(NULL, queue->numbers, false);

    for (int i = 0; queue->nest && i < queue->nest->count; i++)
        bound = lower(bound, queue->nest->inner[i].numbers, false);
    return (bound ? bound : queue->numbers)->when_full;
}

/* Whether there is a bound, and waiters that no award has counted. */
static bool has_newcomers(const takt_queue *queue)
{
    return queue->waiters.total > queue->waiters.counted && takt_queue_has_bound(queue);
}

bool takt_queue_may_overflow(const takt_queue *queue, int64_t newcomers)
{
    int64_t bound = takt_queue_stated(queue)->max_waiting;

    if (bound > 0 && queue->awarded.waiting + newcomers > bound / 2)
        return true;
    for (int i = 0; queue->nest && i < queue->nest->count; i++) {
        bound = takt_inner_stated(&queue->nest->inner[i])->max_waiting;
        if (bound > 0 && (queue->awarded.crowded || newcomers > bound / 2))
            return true;
    }
    return false;
}

/* Whether some of that many waiters exceed a bound that refuses even if a claim finds the rules at
 * rest. */
static bool exceed(const takt_numbers *numbers, int64_t waiting, int64_t lookahead_us)
{
    int64_t more = waiting - numbers->max_waiting, reach_us = lookahead_us;
    takt_amounts taken = takt_amounts_of_cost(more);

    if (numbers->max_waiting == 0 || takt_numbers_drops(numbers) || more <= 0)
        return false;
    taken.of[TAKT_UNIT_REQUESTS] = more;
    for (int i = 0; i < numbers->rule_count; i++) /* a window may end within the lookahead */
        if (!numbers->rules[i].algorithm->paced)
            reach_us = lookahead_us + takt_numbers_span(numbers);
    return (numbers->concurrency > 0 && more > numbers->concurrency) ||
           takt_numbers_due_at_best(numbers, 0, taken) > reach_us;
}

/* Whether a queue that waits for its turn in the line has waiters that its claim would lose.  Inner
 * limits may hold up nested work, which then does not count for the outermost bound. */
static bool exceeds_in_any_case(const takt_queue *queue)
{
    int64_t waiting = queue->waiters.total - queue->in_hand.count;
    int64_t lookahead_us = takt_queue_stated(queue)->lookahead_us;
    bool any = !queue->nest && exceed(takt_queue_stated(queue), waiting, lookahead_us);

    for (int i = 0; queue->nest && i < queue->nest->count; i++)
        any = any || exceed(takt_inner_stated(&queue->nest->inner[i]), waiting, lookahead_us);
    return any;
}

bool takt_queue_is_full(const takt_queue *queue)
{
    const takt_numbers *bound;

    if (!has_newcomers(queue))
        return false;
    bound = is_counted_outside(queue) ? bound_of(queue, true) : inner_bound_of(queue, NULL, true);
    return (bound && queue->waiters.counted - queue->in_hand.count >= bound->max_waiting) ||
           (takt_turns_hold_up(queue) && !queue->loss.alone && exceeds_in_any_case(queue));
}

/* The last waiter of the least urgent priority that was stated so; NULL: there is none. */
static takt_permit *last_that_is(const takt_queue *queue, int stated)
{
    for (int i = TAKT_PRIORITIES - 1; i >= 0; i--) {
        const takt_link *head = &queue->waiters.lists[i];
        for (const takt_link *at = head->previous;
             at != head && takt_queue_permit(at)->counted <= stated; at = at->previous)
            if (takt_queue_permit(at)->counted == stated)
                return takt_queue_permit(at);
    }
    return NULL;
}

takt_permit *takt_queue_unstated(const takt_queue *queue)
{
    return last_that_is(queue, TAKT_UNSTATED);
}

/* Waiters in an earlier state are in this one from now on.  Returns how many. */
static int64_t move_on(takt_queue *queue, int state)
{
    int64_t count = 0;

    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        const takt_link *head = &queue->waiters.lists[i];
        for (const takt_link *at = head->previous;
             at != head && takt_queue_permit(at)->counted != TAKT_COUNTED; at = at->previous) {
            if (takt_queue_permit(at)->counted + 1 < state)
                continue;
            takt_queue_permit(at)->counted = (uint8_t)state;
            count++;
        }
    }
    return count;
}

int64_t takt_queue_mark_stated(takt_queue *queue)
{
    int64_t newcomers = has_newcomers(queue) ? move_on(queue, TAKT_STATED) : 0;

    return bound_of(queue, true) ? newcomers : 0;
}

void takt_queue_count(takt_queue *queue)
{
    if (has_newcomers(queue))
        queue->waiters.counted += move_on(queue, TAKT_COUNTED);
}

void takt_queue_accept(takt_queue *queue)
{
    if (takt_queue_has_bound(queue))
        return;
    (void)move_on(queue, TAKT_STATED);
    queue->waiters.counted += move_on(queue, TAKT_COUNTED);
}

bool takt_queue_is_accepted(const takt_queue *queue, const takt_permit *permit)
{
    return permit->counted == TAKT_COUNTED || !takt_queue_has_bound(queue);
}

void takt_queue_accept_waiter(takt_queue *queue, takt_permit *permit)
{
    const takt_link *head = &queue->waiters.lists[permit->priority];

    for (takt_link *at = &permit->line;
         at != head && takt_queue_permit(at)->counted != TAKT_COUNTED; at = at->previous) {
        takt_queue_permit(at)->counted = TAKT_COUNTED;
        queue->waiters.counted++;
    }
}

takt_permit *takt_queue_excess(const takt_queue *queue, takt_when_full way)
{
    if (way == TAKT_WHEN_FULL_REFUSE)
        return last_that_is(queue, TAKT_STATED);
    return way == TAKT_WHEN_FULL_DROP_LOWEST ? takt_queue_last(queue)
                                             : takt_queue_least_urgent_uncovered(queue);
}

takt_permit *takt_queue_excess_after(const takt_queue *queue, takt_when_full way,
                                     const takt_permit *permit)
{
    bool oldest = way == TAKT_WHEN_FULL_DROP_OLDEST;
    const takt_link *next = oldest ? permit->line.next : permit->line.previous;

    if (next == &queue->waiters.lists[permit->priority])
        return NULL;
    return way != TAKT_WHEN_FULL_REFUSE || takt_queue_permit(next)->counted == TAKT_STATED
               ? takt_queue_permit(next)
               : NULL;
}
