/*
 * queue_cover.c: see queue_cover.h.
 */
#include "scheduler/queue_cover.h"

#include "base/integers.h"

#define WALK_MAX  4096 /* waiters looked at for one claim */
#define COSTS_MAX 16   /* different costs of slots in hand that are counted */

/* The slots in hand by their amounts.  Slots beyond the arrays are not counted. */
typedef struct cover {
    int32_t cost[COSTS_MAX];
    takt_more more[COSTS_MAX];
    int64_t count[COSTS_MAX];
    int size;
} cover;

static void count_slots(const takt_slots *in_hand, cover *slots)
{
    slots->size = 0;
    for (int i = 0; i < in_hand->run_count; i++) {
        const takt_run *run = &in_hand->runs[in_hand->first + i];
        int at = 0;
        while (at < slots->size &&
               (slots->cost[at] != run->cost || !takt_more_same(slots->more[at], run->more)))
            at++;
        if (at == COSTS_MAX)
            continue;
        if (at == slots->size) {
            slots->cost[at] = run->cost;
            slots->more[at] = run->more;
            slots->count[at] = 0;
            slots->size++;
        }
        slots->count[at] += run->count;
    }
}

/* Uses up slots for waiters like this one: slots of its amounts first, then larger ones.  Returns
 * for how many waiters there was one. */
static int64_t use_slots(cover *slots, const takt_permit *permit, int64_t waiters)
{
    int64_t used = 0;

    for (int higher = 0; higher < 2 && slots->size > 0; higher++)
        for (int i = 0; i < slots->size && used < waiters; i++) {
            int64_t n = takt_min(waiters - used, slots->count[i]);
            bool same =
                slots->cost[i] == permit->cost && takt_more_same(slots->more[i], permit->more);
            if (higher ? same || slots->cost[i] < permit->cost ||
                             !takt_more_within(permit->more, slots->more[i])
                       : !same)
                continue;
            slots->count[i] -= n;
            used += n;
        }
    return used;
}

static const takt_permit *first_of(const takt_queue *queue, int priority)
{
    return takt_queue_permit(queue->waiters.lists[priority].next);
}

int takt_queue_uncovered_priority(const takt_queue *queue)
{
    cover slots;

    if (queue->waiters.changes > 0) {
        const takt_permit *first = takt_queue_uncovered(queue);
        return first ? first->priority : -1;
    }
    count_slots(&queue->in_hand, &slots);
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        if (queue->waiters.count[i] > 0 &&
            use_slots(&slots, first_of(queue, i), queue->waiters.count[i]) <
                queue->waiters.count[i])
            return i;
    return -1;
}

bool takt_queue_is_covered(const takt_queue *queue)
{
    if (queue->waiters.total > queue->in_hand.count)
        return false;
    return queue->waiters.total == 0 || takt_queue_uncovered_priority(queue) < 0;
}

takt_permit *takt_queue_uncovered(const takt_queue *queue)
{
    cover slots;

    count_slots(&queue->in_hand, &slots);
    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        const takt_link *head = &queue->waiters.lists[i];
        for (const takt_link *at = head->next; at != head; at = at->next)
            if (use_slots(&slots, takt_queue_permit(at), 1) == 0)
                return takt_queue_permit(at);
    }
    return NULL;
}

/* The first waiter of a priority without a slot; NULL: there is one for each. */
static takt_permit *first_without(const takt_queue *queue, int priority, cover *slots)
{
    const takt_link *head = &queue->waiters.lists[priority];
    takt_permit *first = NULL;

    for (const takt_link *at = head->next; at != head; at = at->next) {
        if (use_slots(slots, takt_queue_permit(at), 1) == 1)
            continue;
        first = first ? first : takt_queue_permit(at);
        if (queue->waiters.changes == 0 || slots->size == 0) /* nor for the waiters behind it */
            break;
    }
    return first;
}

takt_permit *takt_queue_least_urgent_uncovered(const takt_queue *queue)
{
    takt_permit *found = NULL;
    cover slots;

    count_slots(&queue->in_hand, &slots);
    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        takt_permit *first = first_without(queue, i, &slots);
        found = first ? first : found;
    }
    return found;
}

/* ---- what a claim wants ---------------------------------------------------------------------- */

/* Adds `count` waiters to the wants; to the last run if it wants the same.  False: no space. */
static bool want(takt_claim *claim, const takt_permit *permit, int64_t latest_us, int64_t count)
{
    takt_want *last = claim->want_count > 0 ? &claim->wants[claim->want_count - 1] : NULL;

    if (last && last->priority == permit->priority && last->cost == permit->cost &&
        last->latest_us == latest_us && takt_more_same(last->more, permit->more)) {
        last->count += count;
        return true;
    }
    if (claim->want_count == TAKT_WANTS_MAX)
        return false;
    last = &claim->wants[claim->want_count++];
    last->count = count;
    last->latest_us = latest_us;
    last->cost = permit->cost;
    last->priority = permit->priority;
    last->more = permit->more;
    return true;
}

/* Makes one run for each priority, without a look at each waiter. */
static void want_alike(const takt_queue *queue, cover *slots, takt_claim *claim)
{
    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        int64_t count = queue->waiters.count[i];
        if (count == 0)
            continue;
        count -= use_slots(slots, first_of(queue, i), count);
        if (count > 0)
            want(claim, first_of(queue, i), TAKT_NEVER, count);
    }
}

static void want_each(const takt_queue *queue, cover *slots, int64_t soon_us, int64_t offset_us,
                      takt_claim *claim)
{
    int walked = 0;

    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        const takt_link *head = &queue->waiters.lists[i];
        for (const takt_link *at = head->next; at != head; at = at->next) {
            const takt_permit *permit = takt_queue_permit(at);
            bool soon = permit->deadline_at_us <= soon_us;
            if (use_slots(slots, permit, 1) == 1)
                continue;
            if (++walked > WALK_MAX ||
                !want(claim, permit, soon ? permit->deadline_at_us - offset_us : TAKT_NEVER, 1))
                return;
        }
    }
}

void takt_queue_wants(const takt_queue *queue, int64_t deadline_soon_us, int64_t offset_us,
                      takt_claim *claim)
{
    const takt_permit *first = takt_queue_first_deadline(queue);
    int64_t covered = takt_min(queue->in_hand.count, queue->waiters.total), listed = 0;
    cover slots;

    claim->want_count = 0;
    count_slots(&queue->in_hand, &slots);
    if (queue->waiters.changes == 0 && !(first && first->deadline_at_us <= deadline_soon_us))
        want_alike(queue, &slots, claim);
    else
        want_each(queue, &slots, deadline_soon_us, offset_us, claim);
    for (int i = 0; i < claim->want_count; i++)
        listed += claim->wants[i].count;
    claim->waiting = takt_max(queue->waiters.total - covered, listed);
}
