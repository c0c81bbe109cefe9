/*
 * scheduler.c: see scheduler.h.  Decides when each queue claims and which waiter a slot goes to.
 */
#include "scheduler/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

#define IDLE_MAX 1024 /* idle queues kept, so that their memory need not be made anew */
#define RETRY_FIRST                                                                                \
    INT64_C(50000) /* after a failed claim: at random within 50 ms, doubled with each failure */
#define RETRY_LONGEST INT64_C(2000000)

enum { NOWHERE, TOUCHED, CLAIMING, IDLE };

static takt_queue *queue_of(const takt_link *link)
{
    return TAKT_HOLDER(link, takt_queue, link);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool wakes_sooner(const takt_node *a, const takt_node *b)
{
    return TAKT_HOLDER(a, takt_queue, timer)->wake_at_us <
           TAKT_HOLDER(b, takt_queue, timer)->wake_at_us;
}

int takt_scheduler_init(takt_scheduler *scheduler, uint64_t worker, uint64_t seed, void *owner)
{
    *scheduler = (takt_scheduler){.worker = worker, .random = seed, .owner = owner};
    takt_heap_init(&scheduler->timers, wakes_sooner);
    takt_list_init(&scheduler->touched);
    takt_list_init(&scheduler->claiming);
    takt_list_init(&scheduler->idle);
    takt_list_init(&scheduler->fired);
    return takt_table_init(&scheduler->queues, takt_random(&scheduler->random));
}

/* ---- queues: found, put in lists, forgotten -------------------------------------------------- */

static void put(takt_scheduler *scheduler, takt_queue *queue, int place)
{
    takt_link *const lists[] = {NULL, &scheduler->touched, &scheduler->claiming, &scheduler->idle};

    if (queue->place == place)
        return;
    scheduler->idle_count += (place == IDLE) - (queue->place == IDLE);
    takt_list_remove(&queue->link);
    if (place != NOWHERE)
        takt_list_append(lists[place], &queue->link);
    queue->place = (uint8_t)place;
}

static void touch(takt_scheduler *scheduler, takt_queue *queue)
{
    if (queue->place != CLAIMING)
        put(scheduler, queue, TOUCHED);
}

static void set_timer(takt_scheduler *scheduler, takt_queue *queue, int64_t wake_at_us)
{
    if (queue->wake_at_us == wake_at_us)
        return;
    if (queue->wake_at_us != TAKT_NEVER)
        takt_heap_remove(&scheduler->timers, &queue->timer);
    queue->wake_at_us = wake_at_us;
    if (wake_at_us != TAKT_NEVER)
        takt_heap_add(&scheduler->timers, &queue->timer);
}

static void forget(takt_scheduler *scheduler, takt_queue *queue)
{
    put(scheduler, queue, NOWHERE);
    set_timer(scheduler, queue, TAKT_NEVER);
    takt_table_remove(&scheduler->queues, &queue->entry);
    if (scheduler->last == queue)
        scheduler->last = NULL;
    takt_queue_close(queue);
    free(queue);
}

void takt_scheduler_close(takt_scheduler *scheduler)
{
    takt_entry *entry;

    while ((entry = takt_table_any(&scheduler->queues)))
        forget(scheduler, TAKT_HOLDER(entry, takt_queue, entry));
    takt_table_close(&scheduler->queues);
}

/* The table's key: the limit's name, NUL, the key. */
static takt_queue *make_queue(takt_scheduler *scheduler, const takt_limit *limit, const char *id,
                              size_t size)
{
    takt_queue *queue = malloc(sizeof *queue + size + 1);
    char *text;

    if (!queue)
        return NULL;
    text = (char *)(queue + 1);
    memcpy(text, id, size);
    text[size] = '\0';
    takt_queue_init(queue, limit, text + strlen(limit->name) + 1);
    queue->owner = scheduler->owner;
    queue->entry.key = text;
    queue->entry.size = size;
    takt_table_add(&scheduler->queues, &queue->entry);
    return queue;
}

takt_queue *takt_scheduler_queue(takt_scheduler *scheduler, const takt_limit *limit,
                                 const char *key)
{
    char id[TAKT_NAME_SIZE_MAX + 1 + TAKT_KEY_SIZE_MAX];
    size_t name_size, key_size;
    takt_entry *entry;
    takt_queue *queue = scheduler->last;

    if (queue && queue->limit == limit && strcmp(queue->key, key) == 0)
        return queue;
    name_size = strlen(limit->name);
    key_size = strlen(key);
    memcpy(id, limit->name, name_size + 1);
    memcpy(id + name_size + 1, key, key_size);
    entry = takt_table_find(&scheduler->queues, id, name_size + 1 + key_size);
    queue = entry ? TAKT_HOLDER(entry, takt_queue, entry)
                  : make_queue(scheduler, limit, id, name_size + 1 + key_size);
    scheduler->last = queue;
    return queue;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void fire(takt_scheduler *scheduler, takt_permit *permit, int status)
{
    takt_queue_remove(permit->queue, permit);
    permit->status = (int16_t)status;
    permit->state = TAKT_PERMIT_FIRED;
    takt_list_append(&scheduler->fired, &permit->line);
}

void takt_scheduler_acquire(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit)
{
    permit->queue = queue;
    permit->state = TAKT_PERMIT_WAITING;
    takt_queue_add(queue, permit);
    touch(scheduler, queue);
    if (queue->newer && permit->cost > takt_limit_capacity(queue->limit, NULL))
        fire(scheduler, permit, TAKT_E_COST);
}

/* The slot of a permit whose callback did not come goes to the next waiter. */
static void hand_back(takt_queue *queue, const takt_permit *permit)
{
    takt_run slot = {{permit->slot_at_us, 0}, {0, 0}, 1, 1, permit->cost};

    if (queue->total > 0)
        (void)takt_hand_add(&queue->hand, &slot, 1); /* without memory it lapses */
}

void takt_scheduler_leave(takt_scheduler *scheduler, takt_permit *permit, int status)
{
    touch(scheduler, permit->queue);
    if (permit->state == TAKT_PERMIT_FIRED) { /* its callback was due, and is not any more */
        takt_list_remove(&permit->line);
        permit->state = TAKT_PERMIT_IDLE;
        if (permit->status == 0)
            hand_back(permit->queue, permit);
        return;
    }
    if (status != 0) {
        fire(scheduler, permit, status);
        return;
    }
    takt_queue_remove(permit->queue, permit);
    permit->state = TAKT_PERMIT_IDLE;
}

/* When a waiter that is refused now could be served, as far as the last award told. */
static void refuse(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit, int status,
                   int64_t now_us)
{
    int64_t slot_us = takt_clock_local(&scheduler->clock, queue->next_slot_at_us);

    permit->retry_after_us = scheduler->clock.known ? most(slot_us - now_us, 0) : 0;
    fire(scheduler, permit, status);
}

/* Goes on with the numbers that hold, where the policy of another worker is newer than ours. */
static void learn(takt_queue *queue, const takt_limit *newer)
{
    const takt_limit *within = queue->limit->within;

    if (!queue->newer)
        queue->newer = malloc(sizeof *queue->newer);
    if (!queue->newer)
        return; /* the next award tells it again */
    *queue->newer = *newer;
    queue->newer->within = within;
    queue->limit = queue->newer;
}

/* Those whose cost is more than a rule can ever give under the numbers that hold now. */
static void refuse_impossible(takt_scheduler *scheduler, takt_queue *queue)
{
    int64_t capacity = takt_limit_capacity(queue->limit, NULL);

    for (int i = 0; i < TAKT_PRIORITIES; i++)
        for (takt_link *at = queue->waiting[i].next, *next; at != &queue->waiting[i]; at = next) {
            takt_permit *permit = TAKT_HOLDER(at, takt_permit, line);
            next = at->next;
            if (permit->cost > capacity)
                fire(scheduler, permit, TAKT_E_COST);
        }
}

void takt_scheduler_award(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                          int64_t sent_us, int64_t received_us)
{
    takt_clock *clock = &scheduler->clock;
    takt_permit *permit;
    int64_t next_us;

    queue->in_flight = false;
    queue->failures = 0;
    queue->not_before_us = 0;
    queue->awarded_at_us = received_us;
    queue->round_trip_us = received_us - sent_us;
    touch(scheduler, queue);
    takt_clock_note(clock, sent_us, received_us, award->now_us);
    if (award->stale)
        return; /* a younger claim's answer counts, and there is one at the latest by the next
                   keepalive */
    if (award->outdated) {
        learn(queue, &award->newer);
        refuse_impossible(scheduler, queue);
    }
    (void)takt_hand_add(&queue->hand, award->runs,
                        award->run_count); /* without memory the slots lapse */
    takt_hand_drop_before(&queue->hand, award->blocked_until_us);
    queue->in_line = award->in_line;
    queue->least_urgent = award->least_urgent;
    queue->again_at_us = award->claim_again_at_us == TAKT_NEVER
                             ? TAKT_NEVER
                             : takt_clock_local(clock, award->claim_again_at_us);
    queue->next_slot_at_us = award->next_slot_at_us;
    for (int64_t i = 0; i < award->refused && (permit = takt_queue_last(queue)); i++)
        refuse(scheduler, queue, permit, TAKT_E_FULL, received_us);
    next_us = takt_clock_local(clock, queue->next_slot_at_us);
    while (queue->hand.count == 0 && (permit = takt_queue_first_deadline(queue)) &&
           permit->deadline_at_us < next_us)
        refuse(scheduler, queue, permit, TAKT_E_DEADLINE, received_us);
}

void takt_scheduler_failed(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    int64_t longest = RETRY_FIRST << least(queue->failures, 10);

    queue->in_flight = false;
    queue->failures++;
    queue->not_before_us =
        now_us + 1 + takt_random_below(&scheduler->random, least(longest, RETRY_LONGEST));
    touch(scheduler, queue);
}

void takt_scheduler_wake(takt_scheduler *scheduler, takt_queue *queue, int64_t blocked_until_us)
{
    takt_hand_drop_before(&queue->hand, blocked_until_us);
    queue->again_at_us = 0;
    touch(scheduler, queue);
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* Gives the slots that are due to waiters.  One that finds nobody it suits lapses. */
static void fire_due(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    int64_t due_us = takt_clock_store(&scheduler->clock, now_us);
    int64_t slot_us;

    while ((slot_us = takt_hand_next(&queue->hand)) <= due_us) {
        takt_permit *permit = takt_queue_match(queue, takt_hand_next_cost(&queue->hand));
        takt_hand_pop(&queue->hand);
        if (!permit)
            continue;
        permit->slot_at_us = slot_us;
        fire(scheduler, permit, 0);
    }
}

/* Slots further ahead than an award can reach are of a clock that has been set back since.  They
 * would cover waiters, who then ask for nothing, until that clock is there again. */
static void drop_foreign(const takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    int64_t reach_us = queue->limit->lookahead_us + TAKT_LOOKAHEAD_MAX_US;
    int64_t furthest_us = takt_clock_store(&scheduler->clock, now_us) + reach_us;

    if (queue->hand.count > 0 && takt_hand_next(&queue->hand) > furthest_us)
        takt_hand_drop_before(&queue->hand, TAKT_NEVER);
}

static int64_t first_deadline(const takt_queue *queue)
{
    const takt_permit *permit = takt_queue_first_deadline(queue);

    return permit ? permit->deadline_at_us : TAKT_NEVER;
}

/* The most urgent priority that somebody waits with; there is one. */
static int most_urgent(const takt_queue *queue)
{
    int priority = 0;

    while (queue->count[priority] == 0)
        priority++;
    return priority;
}

/* Whether we stand in line with that priority or a more urgent one. */
static bool stands_for(const takt_queue *queue, int priority)
{
    return (queue->in_line & ((2U << priority) - 1)) != 0;
}

/*
 * When a queue that was served is to ask for its new waiters: not at each of them, but when half a
 * lookahead of the slots in hand is left, or half of those that there were, if they reach less far;
 * early enough, in any case, for the answer to come before the hand is empty.
 */
static int64_t refill_at(const takt_scheduler *scheduler, const takt_queue *queue)
{
    int64_t last_us = takt_clock_local(&scheduler->clock, takt_hand_last(&queue->hand));
    int64_t half_us = least(queue->limit->lookahead_us, last_us - queue->awarded_at_us) / 2;

    return last_us - most(half_us, 2 * queue->round_trip_us);
}

/* When this queue has something to say to its ledger. */
static int64_t claim_at(const takt_scheduler *scheduler, const takt_queue *queue, int64_t now_us)
{
    int64_t at_us = now_us;

    if (queue->in_flight)
        return TAKT_NEVER;
    if (takt_queue_is_covered(queue)) { /* nothing to say but good-bye */
        if (queue->in_line == 0)
            return TAKT_NEVER;
    } else if (queue->in_line == 0) {
        if (queue->hand.count > 0 && most_urgent(queue) >= queue->least_urgent)
            at_us = refill_at(scheduler, queue);
    } else if (queue->hand.count > 0 || stands_for(queue, most_urgent(queue))) {
        at_us = least(queue->again_at_us, queue->claimed_at_us + TAKT_KEEPALIVE_US);
    } /* else somebody waits here who goes before others in the fleet: at once */
    return most(at_us, queue->not_before_us);
}

static void update(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    int64_t claim_us, wake_us;

    while (first_deadline(queue) < now_us) /* a process that was held up serves nobody too late */
        refuse(scheduler, queue, takt_queue_first_deadline(queue), TAKT_E_DEADLINE, now_us);
    fire_due(scheduler, queue, now_us);
    drop_foreign(scheduler, queue, now_us);
    while (first_deadline(queue) <= now_us)
        refuse(scheduler, queue, takt_queue_first_deadline(queue), TAKT_E_DEADLINE, now_us);
    claim_us = claim_at(scheduler, queue, now_us);
    wake_us = first_deadline(queue);
    if (queue->hand.count > 0)
        wake_us = least(wake_us, takt_clock_local(&scheduler->clock, takt_hand_next(&queue->hand)));
    if (claim_us <= now_us) {
        put(scheduler, queue, CLAIMING);
    } else {
        wake_us = least(wake_us, claim_us);
        put(scheduler, queue, wake_us == TAKT_NEVER && !queue->in_flight ? IDLE : NOWHERE);
    }
    set_timer(scheduler, queue, wake_us);
}

void takt_scheduler_run(takt_scheduler *scheduler, int64_t now_us)
{
    /* those idle since before this pass: no permit that is still to be called back refers to them
     */
    while (scheduler->idle_count > IDLE_MAX)
        forget(scheduler, queue_of(scheduler->idle.next));
    while (!takt_list_empty(&scheduler->touched))
        update(scheduler, queue_of(scheduler->touched.next), now_us);
    while (takt_scheduler_wake_at(scheduler) <= now_us)
        update(scheduler, TAKT_HOLDER(scheduler->timers.first, takt_queue, timer), now_us);
}

takt_permit *takt_scheduler_next_fired(takt_scheduler *scheduler)
{
    takt_permit *permit;

    if (takt_list_empty(&scheduler->fired))
        return NULL;
    permit = TAKT_HOLDER(scheduler->fired.next, takt_permit, line);
    takt_list_remove(&permit->line);
    permit->state = permit->status == 0 ? TAKT_PERMIT_GRANTED : TAKT_PERMIT_IDLE;
    return permit;
}

takt_queue *takt_scheduler_next_claim(takt_scheduler *scheduler, int64_t now_us, takt_claim *claim)
{
    takt_queue *queue;

    if (takt_list_empty(&scheduler->claiming))
        return NULL;
    queue = queue_of(scheduler->claiming.next);
    put(scheduler, queue, NOWHERE);
    claim->worker = scheduler->worker;
    claim->seq = ++scheduler->seq;
    takt_queue_wants(queue, now_us + queue->limit->lookahead_us,
                     now_us - takt_clock_store(&scheduler->clock, now_us), claim);
    queue->in_flight = true;
    queue->claimed_at_us = now_us;
    return queue;
}

int64_t takt_scheduler_wake_at(const takt_scheduler *scheduler)
{
    return scheduler->timers.first
               ? TAKT_HOLDER(scheduler->timers.first, takt_queue, timer)->wake_at_us
               : TAKT_NEVER;
}

void takt_scheduler_leave_all(takt_scheduler *scheduler, int status)
{
    for (size_t i = 0; i < scheduler->queues.used; i++)
        for (takt_entry *entry = scheduler->queues.buckets[i]; entry; entry = entry->next) {
            takt_queue *queue = TAKT_HOLDER(entry, takt_queue, entry);
            takt_permit *permit;
            while ((permit = takt_queue_last(queue)))
                takt_scheduler_leave(scheduler, permit, status);
        }
}
