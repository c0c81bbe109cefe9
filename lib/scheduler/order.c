/*
 * order.c: see order.h.
 */
#include "scheduler/order.h"

#include "base/integers.h"
#include "core/tenants.h"
#include "scheduler/queue_cover.h"
#include "scheduler/registry.h"

#define MOVED_MAX 32 /* tags that one free place in line may change */

static takt_turn *turn_of(const takt_link *link)
{
    return TAKT_HOLDER(link, takt_turn, link);
}

/* The subject that the queue takes turns in; NULL: it takes turns by itself. */
static takt_subject *subject_of(const takt_turn *turn)
{
    return turn->subject && turn->queue->nest->inside == TAKT_INSIDE_WITHIN ? turn->subject : NULL;
}

/* Queues of a subject that stand in line have their turns before the others of it. */
static int64_t least_tag(const takt_turn *turn)
{
    const takt_subject *subject = subject_of(turn);

    return subject && subject->told[turn->priority] > 0
               ? subject->told[turn->priority] + subject->standing * subject->step
               : turn->tag;
}

/* The first one of those in turn that do not stand in line; NULL: there is none.  A subject with
 * thousands of tenants may have its turn too soon: this looks at some of them at a time. */
static takt_turn *first_held_up(takt_turns *turns, int priority)
{
    takt_turn *first = takt_turns_first_held_up(turns, priority);

    for (int i = 0; i < MOVED_MAX && first && first->tag < least_tag(first); i++) {
        takt_turns_set_tag(first, least_tag(first));
        first = takt_turns_first_held_up(turns, priority);
    }
    return first;
}

/* The next queues in turn take the free places in line. */
static void fill(takt_scheduler *scheduler, takt_turns *turns)
{
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        while (turns->standing_count < TAKT_TURNS_IN_LINE) {
            takt_turn *next = first_held_up(turns, i);
            if (!next)
                break;
            takt_turns_stand(next);
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
        if (!takt_list_empty(&turns->standing[i]))
            other = turn_of(turns->standing[i].next);
    if (!other)
        return;
    takt_turns_step_back(other);
    takt_registry_touch(scheduler, other->queue);
    takt_turns_stand(turn);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static takt_turn *first_in_turn(const takt_turns *turns)
{
    takt_turn *first = NULL;

    for (int i = 0; i < TAKT_PRIORITIES && !first; i++)
        first = takt_turns_first(turns, i);
    return first;
}

/* Without the store the first queue has the timer of the shared pace. */
static void tell_first(takt_scheduler *scheduler, const takt_turns *turns, const takt_turn *before)
{
    const takt_turn *first = first_in_turn(turns);

    if (first && first != before && first->queue->loss.alone)
        takt_registry_touch(scheduler, first->queue);
}

/* The priority of the most urgent waiter without a slot; -1: there is none, or none that can start
 * soon. */
static int wanted_priority(const takt_queue *queue)
{
    int priority = takt_queue_uncovered_priority(queue);

    return queue->awarded.parked_until_us != 0 && priority >= queue->awarded.parked_priority
               ? -1
               : priority;
}

/* The tag with which a queue comes into turn that was not in turn: it saves nothing while it has no
 * waiters. */
static int64_t first_tag(const takt_turns *turns, int priority)
{
    const takt_turn *first = takt_turns_first(turns, priority);

    return first ? first->tag : 0;
}

/* Of a subject with tenants one queue after the other has a turn, so that many tenants of one
 * subject do not delay the others. */
static int64_t tag_in_subject(const takt_turn *turn, int priority)
{
    const takt_subject *subject = subject_of(turn);
    const takt_link *others = subject ? &subject->in_turn[priority] : NULL;

    if (!others || takt_list_empty(others))
        return turn->tag;
    return takt_max(turn->tag,
                    TAKT_HOLDER(others->previous, takt_turn, of_subject)->tag + TAKT_TENANT_STEP);
}

/* The queue comes into turn with that priority, behind the others of its tag; -1: it is in turn no
 * longer.  `given`: what adds to its tag. */
static void move_to_end(takt_scheduler *scheduler, takt_turn *turn, int priority, int64_t given)
{
    const takt_turn *before = first_in_turn(turn->of);
    bool stays = turn->priority == priority;

    takt_turns_take_out(turn);
    turn->started = 0;
    turn->told = stays ? turn->told : 0;
    turn->has_waited = stays && turn->has_waited;
    if (priority >= 0) {
        turn->tag = stays ? turn->tag + given : first_tag(turn->of, priority);
        turn->tag = tag_in_subject(turn, priority);
        takt_turns_enter(turn, priority);
    }
    if (!scheduler->relayed) {
        fill(scheduler, turn->of);
        if (priority >= 0)
            push_aside(scheduler, turn);
        turn->has_waited = turn->has_waited || (priority >= 0 && !turn->stands);
    } else if (priority >= 0) {
        takt_turns_stand_in_order(turn);
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
        move_to_end(scheduler, queue->turn, priority, 0);
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

static void tell_subject(takt_subject *subject, int priority, int64_t tag)
{
    int64_t before = subject->told[priority];

    if (before > 0 && tag > before)
        subject->step = tag - before;
    subject->told[priority] = tag;
}

void takt_order_told(takt_queue *queue, int64_t tag)
{
    takt_turn *turn = queue->turn;
    int64_t *shift;

    if (!turn || turn->priority < 0 || tag == 0)
        return;
    shift = &turn->of->shift[turn->priority];
    *shift += takt_max(turn->told - (tag + *shift), 0);
    turn->told = tag + *shift;
    if (subject_of(turn))
        tell_subject(turn->subject, turn->priority, turn->told);
    takt_turns_set_tag(turn, turn->told);
}

/* No tag is so high or low that sums of them overflow. */
static int64_t corrected(int64_t tag, int64_t change, int64_t least)
{
    return takt_min(takt_max(tag + change, least), TAKT_EXACT_MAX);
}

static void correct(takt_turn *turn, int64_t change)
{
    if (turn->told != 0)
        turn->told = corrected(turn->told, change, 1);
    takt_turns_set_tag(turn, corrected(turn->tag, change, -TAKT_EXACT_MAX));
}

void takt_order_corrected(takt_scheduler *scheduler, const char *limit, const char *key,
                          const char *tenant, int priority, int64_t change)
{
    takt_turn *turn = NULL;

    while (change != 0 &&
           (turn = takt_registry_turn(scheduler, limit, key, tenant, turn)) != NULL) {
        if (turn->priority == priority)
            correct(turn, change);
    }
}

int64_t takt_order_waited_from(const takt_queue *queue)
{
    const takt_turn *turn = queue->turn;

    if (!turn || !turn->stands || queue->awarded.in_line != 0 ||
        (turn->told == 0 && !turn->has_waited))
        return 0;
    return takt_max(turn->tag - turn->of->shift[turn->priority], turn->told != 0);
}

void takt_order_served(takt_scheduler *scheduler, takt_queue *queue)
{
    if (queue->turn && queue->turn->priority >= 0)
        move_to_end(scheduler, queue->turn, queue->turn->priority, 0);
}

void takt_order_claims(takt_scheduler *scheduler, const takt_queue *queue, int64_t now_us)
{
    takt_turns *turns = queue->nest && !scheduler->relayed ? queue->turn->of : NULL;

    if (!turns)
        return;
    if (turns->claimed_at_us == now_us) {
        turns->claims++;
        return;
    }
    turns->claimed_at_us = now_us;
    turns->claims = 1;
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        for (const takt_link *at = turns->standing[i].next; at != &turns->standing[i];
             at = at->next)
            takt_registry_touch(scheduler, turn_of(at)->queue);
}

bool takt_order_is_waited_for(const takt_queue *queue)
{
    for (int i = 0; i <= queue->turn->priority; i++)
        if (takt_turns_first_held_up(queue->turn->of, i))
            return true;
    return false;
}

bool takt_order_is_first(const takt_queue *queue)
{
    return first_in_turn(queue->turn->of) == queue->turn;
}

bool takt_order_any_waits(const takt_queue *queue)
{
    return first_in_turn(queue->turn->of) != NULL;
}

void takt_order_started(takt_scheduler *scheduler, takt_queue *queue)
{
    takt_turn *turn = queue->turn;

    if (++turn->started >= turn->weight && turn->priority >= 0)
        move_to_end(scheduler, turn, turn->priority, TAKT_TENANT_STEP);
}
