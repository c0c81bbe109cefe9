/*
 * queue.c: see queue.h.
 */
#include "scheduler/queue.h"

#include <stdlib.h>

#include "base/integers.h"
#include "scheduler/turns.h"

#define LOOK_BACK 64   /* waiters passed over to find one that a slot suits */
#define WALK_MAX  4096 /* waiters looked at for one claim */
#define COSTS_MAX 16   /* different costs of slots in hand that are counted */

/* takt_permit.counted */
enum { UNSTATED, STATED, COUNTED };

static takt_permit *permit_of(const takt_link *link)
{
    return TAKT_HOLDER(link, takt_permit, line);
}

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

takt_unit_map takt_queue_units(const takt_queue *queue)
{
    takt_unit_map map = TAKT_UNIT_MAP_PLAIN;

    if (queue->nest)
        map.units = (int8_t)takt_numbers_units(takt_queue_stated(queue));
    return map;
}

bool takt_queue_can_give(const takt_queue *queue, const takt_permit *permit)
{
    takt_amounts taken = takt_amounts_of(permit->cost, permit->more);

    for (int i = 0; queue->nest && i < queue->nest->count; i++)
        if (queue->nest->inner[i].limit->access == TAKT_ACCESS_REFUSED ||
            !takt_numbers_can_give(&queue->nest->inner[i].limit->numbers,
                                   takt_amounts_by(queue->nest->inner[i].units, taken)))
            return false;
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
        has = has || queue->nest->inner[i].limit->numbers.concurrency > 0;
    return has;
}

int64_t takt_queue_lease(const takt_queue *queue)
{
    int64_t lease_us = queue->numbers->concurrency > 0 ? queue->numbers->lease_us : TAKT_NEVER;

    for (int i = 0; queue->nest && i < queue->nest->count; i++) {
        const takt_numbers *numbers = &queue->nest->inner[i].limit->numbers;
        if (numbers->concurrency > 0)
            lease_us = takt_min(lease_us, numbers->lease_us);
    }
    return lease_us;
}

int64_t takt_queue_guard(const takt_queue *queue)
{
    int64_t guard_us = takt_numbers_guard(queue->numbers);

    for (int i = 0; queue->nest && i < queue->nest->count; i++)
        guard_us = takt_min(guard_us, takt_numbers_guard(&queue->nest->inner[i].limit->numbers));
    return guard_us;
}

static bool takes_same(const takt_permit *a, const takt_permit *b)
{
    return a->cost == b->cost && takt_more_same(a->more, b->more);
}

/* 1 if both are waiters and their amounts differ. */
static int differ(const takt_link *head, const takt_link *a, const takt_link *b)
{
    return a != head && b != head && !takes_same(permit_of(a), permit_of(b));
}

void takt_queue_add(takt_queue *queue, takt_permit *permit)
{
    takt_link *head = &queue->waiters.lists[permit->priority];

    permit->counted = UNSTATED;
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
    queue->waiters.counted -= permit->counted == COUNTED;
    if (permit->deadline_at_us != TAKT_NEVER)
        takt_heap_remove(&queue->waiters.deadlines, &permit->deadline);
}

/* Looks for a waiter of one priority that a slot suits, at most *looks of them.  *smaller is the
 * first of all that takes less. */
static takt_permit *match_in(const takt_link *head, const takt_run *slot, int *looks,
                             takt_permit **smaller)
{
    for (const takt_link *at = head->next; at != head && *looks > 0; at = at->next, --*looks) {
        takt_permit *permit = permit_of(at);
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
            return permit_of(queue->waiters.lists[i].next);
    return NULL;
}

takt_permit *takt_queue_last(const takt_queue *queue)
{
    for (int i = TAKT_PRIORITIES - 1; i >= 0; i--)
        if (queue->waiters.count[i] > 0)
            return permit_of(queue->waiters.lists[i].previous);
    return NULL;
}

takt_permit *takt_queue_first_deadline(const takt_queue *queue)
{
    return queue->waiters.deadlines.first
               ? TAKT_HOLDER(queue->waiters.deadlines.first, takt_permit, deadline)
               : NULL;
}

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
            int64_t n = waiters - used < slots->count[i] ? waiters - used : slots->count[i];
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
    return permit_of(queue->waiters.lists[priority].next);
}

bool takt_queue_is_covered(const takt_queue *queue)
{
    cover slots;

    if (queue->waiters.total > queue->in_hand.count)
        return false;
    if (queue->waiters.total == 0)
        return true;
    if (queue->waiters.changes > 0)
        return takt_queue_uncovered(queue) == NULL;
    count_slots(&queue->in_hand, &slots);
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        if (queue->waiters.count[i] > 0 &&
            use_slots(&slots, first_of(queue, i), queue->waiters.count[i]) <
                queue->waiters.count[i])
            return false;
    return true;
}

takt_permit *takt_queue_uncovered(const takt_queue *queue)
{
    cover slots;

    count_slots(&queue->in_hand, &slots);
    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        const takt_link *head = &queue->waiters.lists[i];
        for (const takt_link *at = head->next; at != head; at = at->next)
            if (use_slots(&slots, permit_of(at), 1) == 0)
                return permit_of(at);
    }
    return NULL;
}

/* The first waiter of a priority without a slot; NULL: there is one for each. */
static takt_permit *first_without(const takt_queue *queue, int priority, cover *slots)
{
    const takt_link *head = &queue->waiters.lists[priority];
    takt_permit *first = NULL;

    for (const takt_link *at = head->next; at != head; at = at->next) {
        if (use_slots(slots, permit_of(at), 1) == 1)
            continue;
        first = first ? first : permit_of(at);
        if (queue->waiters.changes == 0 || slots->size == 0) /* nor for the waiters behind it */
            break;
    }
    return first;
}

/* ---- max_waiting ----------------------------------------------------------------------------- */

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
        lowest = lower(lowest, &queue->nest->inner[i].limit->numbers, refusing);
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
    const takt_numbers *bound = bound_of(queue, false);

    return (bound ? bound : takt_queue_stated(queue))->when_full;
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
        bound = queue->nest->inner[i].limit->numbers.max_waiting;
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
        any = any || exceed(&queue->nest->inner[i].limit->numbers, waiting, lookahead_us);
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
        for (const takt_link *at = head->previous; at != head && permit_of(at)->counted <= stated;
             at = at->previous)
            if (permit_of(at)->counted == stated)
                return permit_of(at);
    }
    return NULL;
}

takt_permit *takt_queue_unstated(const takt_queue *queue)
{
    return last_that_is(queue, UNSTATED);
}

/* From now on waiters that were added are those of a later state. */
static int64_t move_on(takt_queue *queue, int state)
{
    int64_t count = 0;

    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        const takt_link *head = &queue->waiters.lists[i];
        for (const takt_link *at = head->previous; at != head && permit_of(at)->counted != COUNTED;
             at = at->previous) {
            if (permit_of(at)->counted + 1 < state)
                continue;
            permit_of(at)->counted = (uint8_t)state;
            count++;
        }
    }
    return count;
}

int64_t takt_queue_mark_stated(takt_queue *queue)
{
    int64_t newcomers = has_newcomers(queue) ? move_on(queue, STATED) : 0;

    return bound_of(queue, true) ? newcomers : 0;
}

void takt_queue_count(takt_queue *queue)
{
    if (has_newcomers(queue))
        queue->waiters.counted += move_on(queue, COUNTED);
}

void takt_queue_accept(takt_queue *queue)
{
    if (takt_queue_has_bound(queue))
        return;
    (void)move_on(queue, STATED);
    queue->waiters.counted += move_on(queue, COUNTED);
}

bool takt_queue_is_accepted(const takt_queue *queue, const takt_permit *permit)
{
    return permit->counted == COUNTED || !takt_queue_has_bound(queue);
}

void takt_queue_accept_waiter(takt_queue *queue, takt_permit *permit)
{
    const takt_link *head = &queue->waiters.lists[permit->priority];

    for (takt_link *at = &permit->line; at != head && permit_of(at)->counted != COUNTED;
         at = at->previous) {
        permit_of(at)->counted = COUNTED;
        queue->waiters.counted++;
    }
}

takt_permit *takt_queue_excess(const takt_queue *queue, takt_when_full way)
{
    takt_permit *excess = NULL;
    cover slots;

    if (way == TAKT_WHEN_FULL_REFUSE)
        return last_that_is(queue, STATED);
    if (way == TAKT_WHEN_FULL_DROP_LOWEST)
        return takt_queue_last(queue);
    count_slots(&queue->in_hand, &slots);
    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        takt_permit *first = first_without(queue, i, &slots);
        excess = first ? first : excess;
    }
    return excess;
}

takt_permit *takt_queue_excess_after(const takt_queue *queue, takt_when_full way,
                                     const takt_permit *permit)
{
    bool oldest = way == TAKT_WHEN_FULL_DROP_OLDEST;
    const takt_link *next = oldest ? permit->line.next : permit->line.previous;

    if (next == &queue->waiters.lists[permit->priority])
        return NULL;
    return way != TAKT_WHEN_FULL_REFUSE || permit_of(next)->counted == STATED ? permit_of(next)
                                                                              : NULL;
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
            const takt_permit *permit = permit_of(at);
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
    int64_t covered =
        queue->in_hand.count < queue->waiters.total ? queue->in_hand.count : queue->waiters.total;
    int64_t listed = 0;
    cover slots;

    claim->want_count = 0;
    count_slots(&queue->in_hand, &slots);
    if (queue->waiters.changes == 0 && !(first && first->deadline_at_us <= deadline_soon_us))
        want_alike(queue, &slots, claim);
    else
        want_each(queue, &slots, deadline_soon_us, offset_us, claim);
    for (int i = 0; i < claim->want_count; i++)
        listed += claim->wants[i].count;
    claim->waiting =
        queue->waiters.total - covered > listed ? queue->waiters.total - covered : listed;
}
