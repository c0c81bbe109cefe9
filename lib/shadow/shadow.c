/*
 * shadow.c: see shadow.h.
 */
#include "shadow/shadow.h"

#include <string.h>

#include "scheduler/waiter.h"

#define RESTING_MAX 4096 /* shadow waiters kept only for a later takt_settle */

static takt_shadow_waiter *waiter_of(takt_permit *permit)
{
    return (takt_shadow_waiter *)permit; /* its first member */
}

/* ---- the end of a shadow waiter -------------------------------------------------------------- */

static void finish(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter)
{
    takt_list_remove(&shadow_waiter->permit.line);
    shadows->resting_count -= shadow_waiter->resting;
    shadow_waiter->resting = false;
    if (shadow_waiter->ends_at_us != TAKT_NEVER)
        takt_heap_remove(&shadows->ends, &shadow_waiter->end);
    shadow_waiter->ends_at_us = TAKT_NEVER;
    takt_waiter_drop(shadows->scheduler, &shadow_waiter->permit);
    shadow_waiter->permit.state = TAKT_PERMIT_IDLE;
    shadow_waiter->gone = true;
    if (takt_list_empty(&shadow_waiter->settle)) /* otherwise takt_shadow_next_settle frees it */
        takt_shadow_waiter_free(shadows, shadow_waiter);
}

/* Releases its permits at the time when the work would have ended. */
static void end_work(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter, int64_t now_us)
{
    int64_t ends_at_us = shadow_waiter->granted_at_us + shadow_waiter->work_us;

    if (shadow_waiter->permit.hold == TAKT_HOLD_NONE || ends_at_us <= now_us) {
        finish(shadows, shadow_waiter);
        return;
    }
    shadow_waiter->ends_at_us = ends_at_us;
    takt_heap_add(&shadows->ends, &shadow_waiter->end);
}

static void rest(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter)
{
    shadow_waiter->resting = true;
    takt_list_append(&shadows->resting, &shadow_waiter->permit.line);
    if (++shadows->resting_count > RESTING_MAX)
        finish(shadows, TAKT_HOLDER(shadows->resting.next, takt_shadow_waiter, permit.line));
}

/* The slot that its ledger knows; 0: there is none. */
static int64_t slot_of(const takt_shadow_waiter *shadow_waiter)
{
    return shadow_waiter->permit.uncharged ? 0 : shadow_waiter->permit.slot_at_us;
}

/* Its limits have granted it: the work would begin. */
static void begin_work(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter)
{
    shadow_waiter->permit.state = TAKT_PERMIT_GRANTED;
    shadow_waiter->granted_at_us = shadows->now_us;
    if (shadow_waiter->used.of[TAKT_UNIT_TOKENS] != TAKT_SHADOW_UNKNOWN &&
        slot_of(shadow_waiter) != 0)
        takt_list_append(&shadows->settling, &shadow_waiter->settle);
    takt_list_remove(&shadow_waiter->permit.line);
    if (shadow_waiter->permit.hold != TAKT_HOLD_NONE) /* its loss is not reported */
        takt_list_append(&shadows->scheduler->quiet, &shadow_waiter->permit.line);
    if (shadow_waiter->work_us != TAKT_SHADOW_UNKNOWN)
        end_work(shadows, shadow_waiter, shadows->now_us);
    else if (shadow_waiter->permit.hold == TAKT_HOLD_NONE)
        rest(shadows, shadow_waiter);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool add_stats(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter, const char *limit)
{
    takt_shadow_stats *stats = takt_shadows_stats(shadows, limit);

    if (stats)
        shadow_waiter->stats[shadow_waiter->stats_count++] = stats;
    return stats != NULL;
}

/* It is to wait for the limits of that queue.  False: no memory. */
static bool aim(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter, const takt_queue *queue)
{
    bool known;

    shadow_waiter->stats_count = 0;
    known = add_stats(shadows, shadow_waiter, queue->limit->name);
    for (int i = 0; known && queue->nest && i < queue->nest->count; i++)
        known = add_stats(shadows, shadow_waiter, queue->nest->inner[i].limit->name);
    return known;
}

/* As many acquires and waiters more, or less, at the limits that it waits for. */
static void count(takt_shadow_waiter *shadow_waiter, int acquires, int waiting)
{
    for (int i = 0; i < shadow_waiter->stats_count; i++) {
        shadow_waiter->stats[i]->counts.acquires += acquires;
        shadow_waiter->stats[i]->counts.waiting += waiting;
    }
}

static void refuse(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter, int status)
{
    for (int i = 0; i < shadow_waiter->stats_count; i++)
        takt_shadow_stats_refuse(shadow_waiter->stats[i], status);
    finish(shadows, shadow_waiter);
}

/* It comes to the queue that waits for it. */
static void enter(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter, takt_queue *queue)
{
    if (!aim(shadows, shadow_waiter, queue)) {
        finish(shadows, shadow_waiter);
        return;
    }
    count(shadow_waiter, 1, 0);
    if (!takt_queue_can_give(queue, &shadow_waiter->permit)) { /* it would wait for ever */
        refuse(shadows, shadow_waiter, TAKT_E_COST);
        return;
    }
    count(shadow_waiter, 0, 1);
    takt_waiter_acquire(shadows->scheduler, queue, &shadow_waiter->permit);
}

/* Makes the shadow waiter of a permit, which begins at a queue.  NULL: there are too many, or there
 * is no memory. */
static takt_shadow_waiter *new_waiter(takt_shadows *shadows, const takt_queue *queue,
                                      takt_permit *permit)
{
    takt_shadow_stats *home = takt_shadows_stats(shadows, queue->limit->name);
    takt_shadow_waiter *shadow_waiter = home ? takt_shadow_waiter_new(shadows, home) : NULL;

    if (!shadow_waiter)
        return NULL;
    permit->shadow_ref = (takt_shadow_ref){shadow_waiter, shadow_waiter->number};
    shadow_waiter->permit.shadow = true;
    shadow_waiter->permit.priority = permit->priority;
    shadow_waiter->permit.deadline_at_us = permit->deadline_at_us;
    shadow_waiter->entered_at_us = shadows->now_us;
    return shadow_waiter;
}

/* Work that has no shadow waiter counts at all limits in shadow. */
static void count_unmeasured(takt_shadows *shadows, const takt_queue *queue)
{
    takt_shadow_waiter nobody;

    (void)aim(shadows, &nobody, queue);
    count(&nobody, 1, 0);
    for (int i = 0; i < nobody.stats_count; i++)
        nobody.stats[i]->counts.unmeasured++;
}

void takt_shadow_leave_behind(takt_shadows *shadows, takt_permit *permit)
{
    takt_queue *queue = permit->shadow_queue;
    takt_shadow_waiter *shadow_waiter = new_waiter(shadows, queue, permit);

    if (shadow_waiter) {
        shadow_waiter->permit.cost = permit->shadow_cost;
        shadow_waiter->permit.more = permit->shadow_more;
        enter(shadows, shadow_waiter, queue);
    } else {
        count_unmeasured(shadows, queue);
    }
    takt_waiter_expect_none(shadows->scheduler, permit);
}

void takt_shadow_advance(takt_shadows *shadows, takt_permit *permit)
{
    takt_shadow_waiter *shadow_waiter = waiter_of(permit);
    bool canceled = permit->status == TAKT_E_CANCELED;

    count(shadow_waiter, canceled ? -1 : 0, -1);
    if (canceled) {
        finish(shadows, shadow_waiter);
        return;
    }
    if (permit->status != 0) {
        refuse(shadows, shadow_waiter, permit->status);
        return;
    }
    for (int i = 0; i < shadow_waiter->stats_count; i++)
        takt_shadow_stats_grant(shadow_waiter->stats[i],
                                shadows->now_us - shadow_waiter->entered_at_us,
                                2 * permit->queue->awarded.round_trip_us);
    begin_work(shadows, shadow_waiter);
}

/* ---- the work -------------------------------------------------------------------------------- */

void takt_shadow_release(takt_shadows *shadows, takt_permit *permit, int64_t now_us)
{
    takt_shadow_waiter *shadow_waiter = takt_shadow_waiter_of(&permit->shadow_ref);

    if (!shadow_waiter || shadow_waiter->gone || shadow_waiter->work_us != TAKT_SHADOW_UNKNOWN)
        return;
    shadow_waiter->work_us = now_us - shadow_waiter->entered_at_us;
    if (shadow_waiter->permit.state == TAKT_PERMIT_GRANTED)
        end_work(shadows, shadow_waiter, now_us);
}

/* Shadow waiters whose slots are due keep them: their work has begun. */
void takt_shadow_leave_all(takt_shadows *shadows, int status)
{
    takt_link *fired = &shadows->scheduler->fired, due;

    takt_list_init(&due);
    for (takt_link *at = fired->next, *next; at != fired; at = next) {
        takt_permit *permit = takt_queue_permit(at);
        next = at->next;
        if (permit->status == 0 && permit->shadow) {
            takt_list_remove(at);
            takt_list_append(&due, at);
        }
    }
    takt_scheduler_leave_all(shadows->scheduler, status);
    while (!takt_list_empty(&due)) {
        takt_link *first = due.next;
        takt_list_remove(first);
        takt_list_append(fired, first);
    }
}

/* ---- tries ----------------------------------------------------------------------------------- */

takt_permit *takt_shadow_try(takt_shadows *shadows, takt_queue *queue, takt_permit *permit,
                             const takt_run *slot, int64_t now_us)
{
    takt_shadow_waiter *shadow_waiter;

    shadows->now_us = now_us;
    shadow_waiter = new_waiter(shadows, queue, permit);
    if (!shadow_waiter)
        return NULL;
    (void)aim(shadows, shadow_waiter, queue); /* without memory its slot is not settled */
    shadow_waiter->permit.queue = queue;
    shadow_waiter->permit.cost = slot->cost;
    shadow_waiter->permit.more = slot->more;
    shadow_waiter->permit.slot_at_us = slot->first.us;
    return &shadow_waiter->permit;
}

void takt_shadow_try_end(takt_shadows *shadows, takt_permit *permit, bool begins)
{
    takt_shadow_waiter *shadow_waiter = takt_shadow_waiter_of(&permit->shadow_ref);

    if (!shadow_waiter)
        return;
    if (begins)
        begin_work(shadows, shadow_waiter);
    else
        finish(shadows, shadow_waiter);
}

void takt_shadow_tried(takt_shadows *shadows, const takt_queue *queue, int status)
{
    takt_shadow_waiter nobody;

    (void)aim(shadows, &nobody, queue);
    for (int i = 0; i < nobody.stats_count; i++) {
        nobody.stats[i]->counts.tries++;
        nobody.stats[i]->counts.tries_refused += status != 0;
    }
}

/* ---- what the work has used ------------------------------------------------------------------ */

/* Whether it still waits for its slot. */
static bool waits(const takt_shadow_waiter *shadow_waiter)
{
    return !shadow_waiter->gone && shadow_waiter->permit.state != TAKT_PERMIT_GRANTED;
}

const takt_queue *takt_shadow_queue(const takt_permit *permit)
{
    const takt_shadow_waiter *shadow_waiter = takt_shadow_waiter_of(&permit->shadow_ref);

    return shadow_waiter && waits(shadow_waiter) ? shadow_waiter->permit.queue : NULL;
}

bool takt_shadow_is_nested(const takt_permit *permit)
{
    const takt_shadow_waiter *shadow_waiter = takt_shadow_waiter_of(&permit->shadow_ref);

    return !shadow_waiter || shadow_waiter->stats_count != 1;
}

static bool is_of(const takt_queue *queue, const char *limit)
{
    for (int i = 0; queue->nest && i < queue->nest->count; i++)
        if (strcmp(queue->nest->inner[i].limit->name, limit) == 0)
            return true;
    return strcmp(queue->limit->name, limit) == 0;
}

bool takt_shadow_covers(const takt_permit *permit, const char *limit)
{
    const takt_shadow_waiter *shadow_waiter = takt_shadow_waiter_of(&permit->shadow_ref);
    const takt_queue *queue = takt_shadow_queue(permit);

    if (queue)
        return is_of(queue, limit);
    for (int i = 0; shadow_waiter && i < shadow_waiter->stats_count; i++)
        if (strcmp(shadow_waiter->stats[i]->limit, limit) == 0)
            return true;
    return false;
}

int64_t takt_shadow_slot(const takt_permit *permit)
{
    const takt_shadow_waiter *shadow_waiter = takt_shadow_waiter_of(&permit->shadow_ref);

    return shadow_waiter && !waits(shadow_waiter) ? slot_of(shadow_waiter) : 0;
}

void takt_shadow_note(takt_permit *permit, takt_amounts used, bool unbegun)
{
    takt_shadow_waiter *shadow_waiter = takt_shadow_waiter_of(&permit->shadow_ref);

    shadow_waiter->used = used;
    shadow_waiter->unbegun = unbegun;
}

const takt_shadow_waiter *takt_shadow_next_settle(takt_shadows *shadows)
{
    takt_shadow_waiter *shadow_waiter;

    if (takt_list_empty(&shadows->settling))
        return NULL;
    shadow_waiter = TAKT_HOLDER(shadows->settling.next, takt_shadow_waiter, settle);
    takt_list_remove(&shadow_waiter->settle);
    if (shadow_waiter->gone)
        takt_shadow_waiter_free(shadows, shadow_waiter);
    return shadow_waiter;
}

/* ---- time and statistics --------------------------------------------------------------------- */

void takt_shadow_tick(takt_shadows *shadows, int64_t now_us)
{
    shadows->now_us = now_us;
    while (takt_shadow_pass_at(shadows) <= now_us)
        finish(shadows, TAKT_HOLDER(shadows->ends.first, takt_shadow_waiter, end));
}

bool takt_shadow_is_all(const takt_shadows *shadows)
{
    return shadows->count > 0 && takt_list_empty(&shadows->scheduler->granted) &&
           takt_list_empty(&shadows->scheduler->losers);
}

void takt_shadow_tell(const takt_shadows *shadows, const char *limit, takt_shadow *shadow)
{
    const takt_shadow_stats *shadow_stats = takt_shadows_find_stats(shadows, limit);

    *shadow = (takt_shadow){0};
    if (!shadow_stats)
        return;
    *shadow = shadow_stats->counts;
    shadow->p50_us = takt_shadow_stats_percentile(shadow_stats, 50);
    shadow->p99_us = takt_shadow_stats_percentile(shadow_stats, 99);
}
