/*
 * shadow.c: see shadow.h.
 */
#include "scheduler/shadow.h"

#include "scheduler/registry.h"
#include "scheduler/waiter.h"

#define RESTING_MAX 4096 /* ghosts kept only because their work's real cost may be told */

static takt_ghost *ghost_of(takt_permit *permit)
{
    return (takt_ghost *)permit; /* its first member */
}

/* ---- the end of a ghost ---------------------------------------------------------------------- */

static void finish(takt_scheduler *scheduler, takt_ghost *ghost)
{
    takt_shades *shades = &scheduler->shades;

    takt_list_remove(&ghost->permit.line);
    shades->resting_count -= ghost->resting;
    ghost->resting = false;
    if (ghost->ends_at_us != TAKT_NEVER)
        takt_heap_remove(&shades->ends, &ghost->end);
    ghost->ends_at_us = TAKT_NEVER;
    takt_waiter_drop(scheduler, &ghost->permit);
    ghost->permit.state = TAKT_PERMIT_IDLE;
    ghost->gone = true;
    if (takt_list_empty(&ghost->settle)) /* else it is freed when that was told */
        takt_ghost_free(shades, ghost);
}

/* What it holds is given back when the work would have been done. */
static void end_work(takt_scheduler *scheduler, takt_ghost *ghost, int64_t now_us)
{
    int64_t ends_at_us = ghost->granted_at_us + ghost->work_us;

    if (ghost->permit.hold_count == 0 || ends_at_us <= now_us) {
        finish(scheduler, ghost);
        return;
    }
    ghost->ends_at_us = ends_at_us;
    takt_heap_add(&scheduler->shades.ends, &ghost->end);
}

static void rest(takt_scheduler *scheduler, takt_ghost *ghost)
{
    takt_shades *shades = &scheduler->shades;

    ghost->resting = true;
    takt_list_append(&shades->resting, &ghost->permit.line);
    if (++shades->resting_count > RESTING_MAX)
        finish(scheduler, TAKT_HOLDER(shades->resting.next, takt_ghost, permit.line));
}

/* The slot that its ledger knows of; 0: there is none. */
static int64_t slot_of(const takt_ghost *ghost)
{
    return ghost->permit.uncharged ? 0 : ghost->permit.slot_at_us;
}

/* All limits have granted it: the work would begin. */
static void begin_work(takt_scheduler *scheduler, takt_ghost *ghost)
{
    takt_shades *shades = &scheduler->shades;

    ghost->permit.state = TAKT_PERMIT_GRANTED;
    ghost->granted_at_us = shades->now_us;
    if (ghost->actual != TAKT_GHOST_UNKNOWN && slot_of(ghost) != 0)
        takt_list_append(&shades->settling, &ghost->settle);
    if (ghost->permit.hold_count > 0)
        takt_list_append(&shades->granted, &ghost->permit.line);
    if (ghost->work_us != TAKT_GHOST_UNKNOWN)
        end_work(scheduler, ghost, shades->now_us);
    else if (ghost->permit.hold_count == 0)
        rest(scheduler, ghost);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void enter(takt_scheduler *scheduler, takt_ghost *ghost, takt_queue *queue, int64_t now_us)
{
    ghost->arrived_at_us = now_us;
    ghost->tally->counts.acquires++;
    if (ghost->permit.cost >
        takt_numbers_capacity(queue->numbers, NULL)) { /* it would wait for ever */
        takt_tally_refuse(ghost->tally, TAKT_E_COST);
        finish(scheduler, ghost);
        return;
    }
    ghost->tally->counts.waiting++;
    takt_waiter_acquire(scheduler, queue, &ghost->permit);
}

/* The ghost of a permit at one limit and those around it.  NULL: there are too many, or there is no
 * memory. */
static takt_ghost *new_ghost(takt_scheduler *scheduler, const takt_queue *queue,
                             takt_permit *permit, int64_t now_us)
{
    takt_tally *tally = takt_shades_tally(&scheduler->shades, queue->limit->name);
    takt_ghost *ghost;

    if (permit->shade_count == TAKT_SHADES_MAX)
        return NULL;
    ghost = tally ? takt_ghost_new(&scheduler->shades, tally) : NULL;
    permit->shades[permit->shade_count++] = (takt_shade){ghost, ghost ? ghost->number : 0};
    if (!ghost)
        return NULL;
    ghost->permit.shadow = TAKT_SHADOW_GHOST;
    ghost->permit.cost = permit->cost;
    ghost->permit.priority = permit->priority;
    ghost->permit.deadline_at_us = permit->deadline_at_us;
    ghost->entered_at_us = now_us;
    for (int i = 0; i < permit->outer_count; i++)
        takt_waiter_expect(scheduler, permit->outer[i], &ghost->permit);
    return ghost;
}

static void leave_behind(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit,
                         int64_t now_us)
{
    takt_ghost *ghost = new_ghost(scheduler, queue, permit, now_us);
    takt_tally *tally;

    if (ghost) {
        enter(scheduler, ghost, queue, now_us);
        return;
    }
    tally = takt_shades_tally(&scheduler->shades, queue->limit->name);
    if (tally) {
        tally->counts.acquires++;
        tally->counts.unmeasured++;
    }
}

void takt_shadow_acquire(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit,
                         int64_t now_us)
{
    /* coming from a limit that is in shadow too, its ghost will come here by itself */
    if (permit->shadow != TAKT_SHADOW_PASSED)
        leave_behind(scheduler, queue, permit, now_us);
    takt_registry_touch(scheduler, queue); /* not to be forgotten while the callback is due */
    permit->shadow = TAKT_SHADOW_PASSED;
    permit->queue = queue;
    permit->status = 0;
    permit->state = TAKT_PERMIT_FIRED;
    takt_list_append(&scheduler->fired, &permit->line);
}

/* The limit around the last one, where it is in shadow too. */
static takt_queue *next_queue(takt_scheduler *scheduler, takt_ghost *ghost)
{
    const takt_permit *permit = &ghost->permit;
    const takt_queue *outer =
        permit->outer_count > 0 ? permit->outer[permit->outer_count - 1] : NULL;
    takt_tally *tally;

    if (!outer || outer->limit->mode != TAKT_MODE_SHADOW || scheduler->parting)
        return NULL;
    tally = takt_shades_tally(&scheduler->shades, outer->limit->name);
    if (!tally)
        return NULL;
    ghost->tally = tally;
    return takt_waiter_next_queue(scheduler, &ghost->permit);
}

void takt_shadow_fired(takt_scheduler *scheduler, takt_permit *permit)
{
    takt_ghost *ghost = ghost_of(permit);
    takt_tally *tally = ghost->tally;
    int64_t now_us = scheduler->shades.now_us;
    takt_queue *outer;

    tally->counts.waiting--;
    if (permit->status == TAKT_E_CANCELED) {
        tally->counts.acquires--;
        finish(scheduler, ghost);
        return;
    }
    if (permit->status != 0) {
        takt_tally_refuse(tally, permit->status);
        finish(scheduler, ghost);
        return;
    }
    takt_tally_grant(tally, now_us - ghost->arrived_at_us, 2 * permit->queue->round_trip_us);
    outer = next_queue(scheduler, ghost);
    if (outer)
        enter(scheduler, ghost, outer, now_us);
    else
        begin_work(scheduler, ghost);
}

/* ---- what becomes of the work ---------------------------------------------------------------- */

void takt_shadow_release(takt_scheduler *scheduler, takt_permit *permit, int64_t now_us)
{
    for (int i = 0; i < permit->shade_count; i++) {
        takt_ghost *ghost = takt_ghost_of(&permit->shades[i]);
        if (!ghost || ghost->gone || ghost->work_us != TAKT_GHOST_UNKNOWN)
            continue;
        ghost->work_us = now_us - ghost->entered_at_us;
        if (ghost->permit.state == TAKT_PERMIT_GRANTED)
            end_work(scheduler, ghost, now_us);
    }
}

void takt_shadow_vanish(takt_scheduler *scheduler, takt_permit *permit)
{
    while (permit->shade_count > 0) {
        takt_ghost *ghost = takt_ghost_of(&permit->shades[--permit->shade_count]);
        if (!ghost || ghost->gone)
            continue;
        if (ghost->permit.state != TAKT_PERMIT_GRANTED) {
            ghost->tally->counts.waiting--;
            ghost->tally->counts.acquires--;
            takt_waiter_leave(scheduler, &ghost->permit, 0);
        }
        finish(scheduler, ghost);
    }
}

takt_permit *takt_shadow_try(takt_scheduler *scheduler, takt_queue *queue, takt_permit *permit,
                             int64_t slot_us, int64_t now_us)
{
    takt_ghost *ghost = new_ghost(scheduler, queue, permit, now_us);

    if (!ghost)
        return NULL;
    ghost->permit.queue = queue;
    ghost->permit.slot_at_us = slot_us;
    scheduler->shades.now_us = now_us;
    return &ghost->permit;
}

void takt_shadow_begin(takt_scheduler *scheduler, takt_permit *ghost)
{
    begin_work(scheduler, ghost_of(ghost));
}

void takt_shadow_tried(takt_scheduler *scheduler, const char *limit, int status)
{
    takt_tally *tally = takt_shades_tally(&scheduler->shades, limit);

    if (!tally)
        return;
    tally->counts.tries++;
    tally->counts.tries_refused += status != 0;
}

int64_t takt_shadow_settle(const takt_permit *permit, int64_t actual)
{
    takt_ghost *ghost =
        permit->shade_count > 0 ? takt_ghost_of(&permit->shades[permit->shade_count - 1]) : NULL;

    if (!ghost)
        return 0;
    if (!ghost->gone && ghost->permit.state != TAKT_PERMIT_GRANTED) {
        ghost->actual = actual;
        return 0;
    }
    return slot_of(ghost);
}

const takt_ghost *takt_shadow_next_settle(takt_scheduler *scheduler)
{
    takt_shades *shades = &scheduler->shades;
    takt_ghost *ghost;

    if (takt_list_empty(&shades->settling))
        return NULL;
    ghost = TAKT_HOLDER(shades->settling.next, takt_ghost, settle);
    takt_list_remove(&ghost->settle);
    if (ghost->gone)
        takt_ghost_free(shades, ghost);
    return ghost;
}

/* ---- time, and what is told ------------------------------------------------------------------ */

void takt_shadow_tick(takt_scheduler *scheduler, int64_t now_us)
{
    scheduler->shades.now_us = now_us;
    while (takt_shadow_wake_at(scheduler) <= now_us)
        finish(scheduler, TAKT_HOLDER(scheduler->shades.ends.first, takt_ghost, end));
}

int64_t takt_shadow_wake_at(const takt_scheduler *scheduler)
{
    const takt_node *first = scheduler->shades.ends.first;

    return first ? TAKT_HOLDER(first, takt_ghost, end)->ends_at_us : TAKT_NEVER;
}

bool takt_shadow_is_all(const takt_scheduler *scheduler)
{
    return scheduler->shades.count > 0 && takt_list_empty(&scheduler->granted) &&
           takt_list_empty(&scheduler->losers);
}

void takt_shadow_tell(const takt_scheduler *scheduler, const char *limit, takt_shadow *shadow)
{
    const takt_tally *tally = takt_shades_find(&scheduler->shades, limit);

    *shadow = (takt_shadow){0};
    if (!tally)
        return;
    *shadow = tally->counts;
    shadow->p50_us = takt_tally_percentile(tally, 50);
    shadow->p99_us = takt_tally_percentile(tally, 99);
}
