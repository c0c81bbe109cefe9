/*
 * order.c: see order.h.
 */
#include "scheduler/order.h"

#include "scheduler/nest.h"
#include "scheduler/registry.h"

static takt_turn *turn_of(const takt_link *link)
{
    return TAKT_HOLDER(link, takt_turn, link);
}

/* ---- the line -------------------------------------------------------------------------------- */

static void stand(takt_turn *turn)
{
    turn->stands = true;
    turn->of->standing[turn->priority]++;
    turn->of->standing_count++;
}

/* The first queue in turn that stands in line, or does not; NULL: there is none. */
static takt_turn *first_that(const takt_turns *turns, int priority, bool stands)
{
    const takt_link *head = &turns->order[priority];

    for (const takt_link *at = head->next; at != head; at = at->next)
        if (turn_of(at)->stands == stands)
            return turn_of(at);
    return NULL;
}

/* The next queues in turn take the free places in line. */
static void fill(takt_scheduler *scheduler, takt_turns *turns)
{
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        while (turns->standing_count < TAKT_TURNS_IN_LINE) {
            takt_turn *next = first_that(turns, i, false);
            if (!next)
                break;
            stand(next);
            takt_registry_touch(scheduler, next->queue);
        }
}

/* A queue takes the place of a less urgent one, which then leaves the line. */
static void push_aside(takt_scheduler *scheduler, takt_turn *turn)
{
    takt_turns *turns = turn->of;
    takt_turn *other = NULL;

    if (turn->stands)
        return;
    for (int i = TAKT_PRIORITIES - 1; i > turn->priority && !other; i--)
        if (turns->standing[i] > 0)
            other = first_that(turns, i, true);
    if (!other)
        return;
    takt_turns_step_back(other);
    takt_registry_touch(scheduler, other->queue);
    stand(turn);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static takt_turn *first_in_turn(const takt_turns *turns)
{
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        if (!takt_list_empty(&turns->order[i]))
            return turn_of(turns->order[i].next);
    return NULL;
}

/* Without the store the first queue has the timer of the shared pace. */
static void tell_first(takt_scheduler *scheduler, const takt_turns *turns, const takt_turn *before)
{
    const takt_turn *first = first_in_turn(turns);

    if (first && first != before && first->queue->loss.alone)
        takt_registry_touch(scheduler, first->queue);
}

/* The priority of the most urgent waiter; -1: no waiter needs a slot, or none can start soon. */
static int wanted_priority(const takt_queue *queue)
{
    int priority = 0;

    if (takt_queue_is_covered(queue))
        return -1;
    while (queue->waiters.count[priority] == 0)
        priority++;
    return queue->awarded.parked_until_us != 0 && priority >= queue->awarded.parked_priority
               ? -1
               : priority;
}

/* The round of its subjects in which a queue has its next turn.  Of a subject with tenants one
 * queue has a turn in each round, so that many tenants of one subject do not delay the others. */
static int64_t next_round(const takt_turn *turn)
{
    const takt_link *order = &turn->of->order[turn->priority];
    int64_t now = takt_list_empty(order) ? 0 : turn_of(order->next)->round;
    int64_t last = turn->round;
    const takt_nest *nest = turn->queue->nest;
    const takt_link *queues =
        nest && nest->inside == TAKT_INSIDE_WITHIN ? &nest->inner[0].ledger->queues : NULL;

    for (const takt_link *at = queues ? queues->next : NULL; at != queues; at = at->next) {
        const takt_turn *other = TAKT_HOLDER(at, takt_inner, link)->queue->turn;
        if (other && other->of == turn->of && other->priority == turn->priority &&
            other->round > last)
            last = other->round;
    }
    return last >= now ? last + 1 : now;
}

static void append(takt_turn *turn)
{
    takt_link *order = &turn->of->order[turn->priority], *next = order;

    if (turn->of->has_subjects) {
        turn->round = next_round(turn);
        while (next->previous != order && turn_of(next->previous)->round > turn->round)
            next = next->previous;
    }
    takt_list_append(next, &turn->link);
}

static void move_to_end(takt_scheduler *scheduler, takt_turn *turn, int priority)
{
    const takt_turn *before = first_in_turn(turn->of);

    takt_turns_step_back(turn);
    takt_list_remove(&turn->link);
    if (turn->priority != priority)
        turn->round = 0;
    turn->priority = (int8_t)priority;
    turn->started = 0;
    if (priority >= 0)
        append(turn);
    if (!scheduler->relayed) {
        fill(scheduler, turn->of);
        if (priority >= 0)
            push_aside(scheduler, turn);
    } else if (priority >= 0) {
        stand(turn);
    }
    tell_first(scheduler, turn->of, before);
}

void takt_order_review(takt_scheduler *scheduler, takt_queue *queue)
{
    int priority;

    if (!queue->turn)
        return;
    priority = wanted_priority(queue);
    if (priority != queue->turn->priority)
        move_to_end(scheduler, queue->turn, priority);
}

void takt_order_park(takt_queue *queue, int priority, int64_t until_us)
{
    if (!queue->turn)
        return;
    queue->awarded.parked_until_us = until_us;
    queue->awarded.parked_priority = priority;
}

void takt_order_unpark(takt_scheduler *scheduler, takt_queue *queue)
{
    if (queue->awarded.parked_until_us == 0)
        return;
    queue->awarded.parked_until_us = 0;
    takt_registry_touch(scheduler, queue);
}

void takt_order_served(takt_scheduler *scheduler, takt_queue *queue)
{
    if (queue->turn && queue->turn->priority >= 0)
        move_to_end(scheduler, queue->turn, queue->turn->priority);
}

void takt_order_claims(takt_scheduler *scheduler, const takt_queue *queue, int64_t now_us)
{
    takt_turns *turns = queue->nest && !scheduler->relayed ? queue->turn->of : NULL;

    if (!turns || turns->claimed_at_us == now_us)
        return;
    turns->claimed_at_us = now_us;
    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        const takt_link *at = turns->order[i].next;
        for (int left = turns->standing[i]; left > 0; at = at->next) {
            if (!turn_of(at)->stands)
                continue;
            takt_registry_touch(scheduler, turn_of(at)->queue);
            left--;
        }
    }
}

bool takt_order_is_waited_for(const takt_queue *queue)
{
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        if (first_that(queue->turn->of, i, false))
            return true;
    return false;
}

bool takt_order_is_first(const takt_queue *queue)
{
    return first_in_turn(queue->turn->of) == queue->turn;
}

bool takt_order_wait(const takt_queue *queue)
{
    return first_in_turn(queue->turn->of) != NULL;
}

void takt_order_started(takt_scheduler *scheduler, takt_queue *queue)
{
    if (++queue->turn->started >= queue->turn->weight)
        takt_order_served(scheduler, queue);
}
