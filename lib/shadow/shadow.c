/*
 * shadow.c: see shadow.h.
 */
#include "shadow/shadow.h"

#include "scheduler/registry.h"
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

    if (shadow_waiter->permit.hold_count == 0 || ends_at_us <= now_us) {
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

/* All limits have granted it: the work would begin. */
static void begin_work(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter)
{
    shadow_waiter->permit.state = TAKT_PERMIT_GRANTED;
    takt_waiter_begin(shadows->scheduler, &shadow_waiter->permit); /* further levels enforce */
    shadow_waiter->granted_at_us = shadows->now_us;
    if (shadow_waiter->used.of[TAKT_UNIT_TOKENS] != TAKT_SHADOW_UNKNOWN &&
        slot_of(shadow_waiter) != 0)
        takt_list_append(&shadows->settling, &shadow_waiter->settle);
    takt_list_remove(&shadow_waiter->permit.line);
    if (shadow_waiter->permit.hold_count > 0) /* its loss is not reported */
        takt_list_append(&shadows->scheduler->quiet, &shadow_waiter->permit.line);
    if (shadow_waiter->work_us != TAKT_SHADOW_UNKNOWN)
        end_work(shadows, shadow_waiter, shadows->now_us);
    else if (shadow_waiter->permit.hold_count == 0)
        rest(shadows, shadow_waiter);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void enter(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter, takt_queue *queue,
                  int64_t now_us)
{
    shadow_waiter->arrived_at_us = now_us;
    shadow_waiter->shadow_stats->counts.acquires++;
    if (!takt_queue_can_give(queue, &shadow_waiter->permit)) { /* it would wait for ever */
        takt_shadow_stats_refuse(shadow_waiter->shadow_stats, TAKT_E_COST);
        finish(shadows, shadow_waiter);
        return;
    }
    shadow_waiter->shadow_stats->counts.waiting++;
    takt_waiter_acquire(shadows->scheduler, queue, &shadow_waiter->permit);
}

/* Makes the shadow waiter of a permit at one limit and the limits around it.  NULL: there are too
 * many, or there is no memory. */
static takt_shadow_waiter *new_waiter(takt_shadows *shadows, const takt_queue *queue,
                                      takt_permit *permit, int64_t now_us)
{
    takt_shadow_stats *shadow_stats = takt_shadows_stats(shadows, queue->limit->name);
    takt_shadow_waiter *shadow_waiter;

    if (permit->shadow_count == TAKT_SHADOWS_MAX)
        return NULL;
    shadow_waiter = shadow_stats ? takt_shadow_waiter_new(shadows, shadow_stats) : NULL;
    permit->shadows[permit->shadow_count++] =
        (takt_shadow_ref){shadow_waiter, shadow_waiter ? shadow_waiter->number : 0};
    if (!shadow_waiter)
        return NULL;
    shadow_waiter->permit.shadow = TAKT_SHADOW_WAITS;
    shadow_waiter->permit.cost = permit->cost;
    shadow_waiter->permit.more = permit->more;
    shadow_waiter->permit.priority = permit->priority;
    shadow_waiter->permit.deadline_at_us = permit->deadline_at_us;
    shadow_waiter->entered_at_us = now_us;
    for (int i = 0; i < permit->outer_count; i++)
        takt_waiter_expect(shadows->scheduler, permit->outer[i], permit->outer_costs[i],
                           permit->outer_more[i], &shadow_waiter->permit);
    return shadow_waiter;
}

static void leave_behind(takt_shadows *shadows, takt_queue *queue, takt_permit *permit,
                         int64_t now_us)
{
    takt_shadow_waiter *shadow_waiter = new_waiter(shadows, queue, permit, now_us);
    takt_shadow_stats *shadow_stats;

    if (shadow_waiter) {
        enter(shadows, shadow_waiter, queue, now_us);
        return;
    }
    shadow_stats = takt_shadows_stats(shadows, queue->limit->name);
    if (shadow_stats) {
        shadow_stats->counts.acquires++;
        shadow_stats->counts.unmeasured++;
    }
}

void takt_shadow_acquire(takt_shadows *shadows, takt_queue *queue, takt_permit *permit,
                         int64_t now_us)
{
    /* after another shadow limit its shadow waiter comes here by itself */
    if (permit->shadow != TAKT_SHADOW_PASSED)
        leave_behind(shadows, queue, permit, now_us);
    takt_registry_touch(shadows->scheduler, queue); /* keeps the queue while the callback is due */
    permit->shadow = TAKT_SHADOW_PASSED;
    permit->queue = queue;
    permit->status = 0;
    permit->state = TAKT_PERMIT_FIRED;
    takt_list_append(&shadows->scheduler->fired, &permit->line);
}

void takt_shadow_enforce(takt_shadows *shadows, takt_queue *queue, takt_permit *permit)
{
    permit->shadow = TAKT_SHADOW_NONE;
    takt_waiter_acquire(shadows->scheduler, queue, permit);
}

/* The queue of the outer limit, if that is a shadow limit too. */
static takt_queue *next_queue(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter)
{
    const takt_queue *outer = takt_waiter_outer(&shadow_waiter->permit);
    takt_shadow_stats *shadow_stats;

    if (!outer || outer->limit->mode != TAKT_MODE_SHADOW || shadows->scheduler->all_left)
        return NULL;
    shadow_stats = takt_shadows_stats(shadows, outer->limit->name);
    if (!shadow_stats)
        return NULL;
    shadow_waiter->shadow_stats = shadow_stats;
    return takt_waiter_next_queue(shadows->scheduler, &shadow_waiter->permit);
}

void takt_shadow_advance(takt_shadows *shadows, takt_permit *permit)
{
    takt_shadow_waiter *shadow_waiter = waiter_of(permit);
    takt_shadow_stats *shadow_stats = shadow_waiter->shadow_stats;
    int64_t now_us = shadows->now_us;
    takt_queue *outer;

    shadow_stats->counts.waiting--;
    if (permit->status == TAKT_E_CANCELED) {
        shadow_stats->counts.acquires--;
        finish(shadows, shadow_waiter);
        return;
    }
    if (permit->status != 0) {
        takt_shadow_stats_refuse(shadow_stats, permit->status);
        finish(shadows, shadow_waiter);
        return;
    }
    takt_shadow_stats_grant(shadow_stats, now_us - shadow_waiter->arrived_at_us,
                            2 * permit->queue->awarded.round_trip_us);
    outer = next_queue(shadows, shadow_waiter);
    if (outer)
        enter(shadows, shadow_waiter, outer, now_us);
    else
        begin_work(shadows, shadow_waiter);
}

/* ---- the work -------------------------------------------------------------------------------- */

void takt_shadow_release(takt_shadows *shadows, takt_permit *permit, int64_t now_us)
{
    for (int i = 0; i < permit->shadow_count; i++) {
        takt_shadow_waiter *shadow_waiter = takt_shadow_waiter_of(&permit->shadows[i]);
        if (!shadow_waiter || shadow_waiter->gone || shadow_waiter->work_us != TAKT_SHADOW_UNKNOWN)
            continue;
        shadow_waiter->work_us = now_us - shadow_waiter->entered_at_us;
        if (shadow_waiter->permit.state == TAKT_PERMIT_GRANTED)
            end_work(shadows, shadow_waiter, now_us);
    }
}

void takt_shadow_vanish(takt_shadows *shadows, takt_permit *permit)
{
    while (permit->shadow_count > 0) {
        takt_shadow_waiter *shadow_waiter =
            takt_shadow_waiter_of(&permit->shadows[--permit->shadow_count]);
        if (!shadow_waiter || shadow_waiter->gone)
            continue;
        if (shadow_waiter->permit.state != TAKT_PERMIT_GRANTED) {
            shadow_waiter->shadow_stats->counts.waiting--;
            shadow_waiter->shadow_stats->counts.acquires--;
            takt_waiter_leave(shadows->scheduler, &shadow_waiter->permit, 0);
        }
        finish(shadows, shadow_waiter);
    }
}

/* The slot of a permit whose callback is due does not belong to the shadow limit that it passed
 * last. */
static void forget_slot(takt_permit *permit)
{
    if (permit->state == TAKT_PERMIT_FIRED && permit->status == 0 &&
        permit->shadow == TAKT_SHADOW_PASSED)
        permit->uncharged = true;
}

void takt_shadow_leave(takt_shadows *shadows, takt_permit *permit, int status)
{
    bool ends = permit->state == TAKT_PERMIT_FIRED || status == 0;

    forget_slot(permit);
    takt_waiter_leave(shadows->scheduler, permit, status);
    if (ends) /* otherwise its shadow waiters leave when its callback comes */
        takt_shadow_vanish(shadows, permit);
}

/* Shadow waiters whose slots are due keep them: their work has begun. */
void takt_shadow_leave_all(takt_shadows *shadows, int status)
{
    takt_link *fired = &shadows->scheduler->fired, due;

    takt_list_init(&due);
    for (takt_link *at = fired->next, *next; at != fired; at = next) {
        takt_permit *permit = TAKT_HOLDER(at, takt_permit, line);
        next = at->next;
        forget_slot(permit);
        if (permit->status == 0 && permit->shadow == TAKT_SHADOW_WAITS) {
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
    for (takt_link *at = fired->next; at != fired; at = at->next) {
        takt_permit *permit = TAKT_HOLDER(at, takt_permit, line);
        if (permit->status != 0)
            takt_shadow_vanish(shadows, permit);
    }
}

takt_permit *takt_shadow_try(takt_shadows *shadows, takt_queue *queue, takt_permit *permit,
                             int64_t slot_us, int64_t now_us)
{
    takt_shadow_waiter *shadow_waiter = new_waiter(shadows, queue, permit, now_us);

    if (!shadow_waiter)
        return NULL;
    shadow_waiter->permit.queue = queue;
    shadow_waiter->permit.slot_at_us = slot_us;
    shadows->now_us = now_us;
    return &shadow_waiter->permit;
}

void takt_shadow_begin(takt_shadows *shadows, takt_permit *shadow_waiter)
{
    begin_work(shadows, waiter_of(shadow_waiter));
}

void takt_shadow_tried(takt_shadows *shadows, const char *limit, int status)
{
    takt_shadow_stats *shadow_stats = takt_shadows_stats(shadows, limit);

    if (!shadow_stats)
        return;
    shadow_stats->counts.tries++;
    shadow_stats->counts.tries_refused += status != 0;
}

int64_t takt_shadow_settle(const takt_permit *permit, takt_amounts used, bool unbegun)
{
    takt_shadow_waiter *shadow_waiter =
        permit->shadow_count > 0 ? takt_shadow_waiter_of(&permit->shadows[permit->shadow_count - 1])
                                 : NULL;

    if (!shadow_waiter)
        return 0;
    if (!shadow_waiter->gone && shadow_waiter->permit.state != TAKT_PERMIT_GRANTED) {
        shadow_waiter->used = used;
        shadow_waiter->unbegun = unbegun;
        return 0;
    }
    return slot_of(shadow_waiter);
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
