/*
 * move.c: see move.h.
 */
#include "scheduler/move.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/path.h"
#include "scheduler/waiter.h"

/* ---- the levels of a permit ------------------------------------------------------------------ */

static const char *tenant_of(const takt_queue *queue, int32_t *weight)
{
    const takt_nest *nest = queue->nest;

    *weight = queue->turn ? queue->turn->weight : 1;
    if (!nest)
        return queue->turn ? queue->turn->tenant : "";
    if (nest->inside == TAKT_INSIDE_WITHIN)
        *weight = nest->weight;
    return nest->tenant;
}

/* A level with its old limit.  What it takes comes from the amounts of its old chain. */
static takt_level level_of(const takt_queue *queue, const takt_limit *limit, const char *key,
                           takt_unit_map map, takt_run taken)
{
    takt_run part = takt_chain_part(&limit->numbers, map, taken);
    takt_level level = {.limit = limit, .key = key, .cost = part.cost, .more = part.more};

    level.tenant = tenant_of(queue, &level.weight);
    return level;
}

/* The levels of one of its queues, the innermost first.  Returns how many there are. */
static int levels_in(const takt_queue *queue, int32_t cost, takt_more more, takt_level *levels)
{
    takt_run taken = takt_run_at(0, 1, cost, more);
    int count = 0;

    for (; queue->nest && count < queue->nest->count; count++) {
        const takt_inner *inner = &queue->nest->inner[count];
        levels[count] = level_of(queue, inner->limit, inner->key, inner->units, taken);
    }
    levels[count] = level_of(queue, queue->limit, queue->key, TAKT_UNIT_MAP_PLAIN, taken);
    return count + 1;
}

/* The levels of some work. */
typedef struct levels {
    takt_level of[TAKT_LEVELS_MAX];
    bool in_shadow[TAKT_LEVELS_MAX]; /* they have not held up the work */
    int count;
} levels;

/* All its levels with their old limits, in the order of its request: the innermost first.  These
 * limits may be of different policies, so that their `within` does not tell the order. */
static void list_levels(const takt_permit *permit, levels *all)
{
    takt_level enforcing[TAKT_LEVELS_MAX], shadowed[TAKT_LEVELS_MAX];
    bool waits = permit->queue != permit->shadow_queue; /* or is granted, by limits that enforce */
    int enforcing_count =
        waits ? levels_in(permit->queue, permit->cost, permit->more, enforcing) : 0;
    int shadowed_count = permit->shadow_queue ? levels_in(permit->shadow_queue, permit->shadow_cost,
                                                          permit->shadow_more, shadowed)
                                              : 0;
    int at = 0;

    all->count = enforcing_count + shadowed_count;
    for (int i = 0; i < all->count; i++) {
        all->in_shadow[i] =
            at < shadowed_count && (permit->shadowed >> i & 1 || i - at == enforcing_count);
        all->of[i] = all->in_shadow[i] ? shadowed[at] : enforcing[i - at];
        at += all->in_shadow[i];
    }
}

/* ---- its levels under the next policy -------------------------------------------------------- */

/* The level at a limit of that name; NULL: there is none. */
static const takt_level *level_at(const levels *all, const char *name)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->of[i].limit->name, name) == 0)
            return &all->of[i];
    return NULL;
}

static bool is_among(const takt_limit *limits, const char *name)
{
    while (limits && strcmp(limits->name, name) != 0)
        limits = limits->within;
    return limits;
}

/* Whether the new policy puts a limit around the work's that was not around it before.  If it was,
 * and the work has no level there, the work's key was unlimited. */
static bool is_new(const takt_successor *to, const levels *old, const takt_limit *limit)
{
    return !level_at(old, limit->name) &&
           !is_among(to->before(to->data, old->of[0].limit->name), limit->name);
}

/* The work's innermost limit under the next policy, which tells those around it; NULL: it is gone.
 */
static const takt_limit *innermost(const takt_successor *to, const levels *old)
{
    return to->find(to->data, old->of[0].limit, old->of[0].key);
}

static const char *tenant_of_work(const levels *all)
{
    const char *tenant = "";

    for (int i = 0; i < all->count; i++)
        if (all->of[i].tenant[0])
            tenant = all->of[i].tenant;
    return tenant;
}

/* Amounts that its request has not stated are 1, as for a ledger with newer numbers. */
static void fill_amounts(takt_level *level)
{
    if (level->cost < 1)
        level->cost = 1;
    for (int i = 1; i < TAKT_AMOUNTS_MAX; i++)
        if (takt_unit_at(i) < takt_numbers_units(&level->limit->numbers) &&
            level->more.of[i - 1] < 1)
            level->more.of[i - 1] = 1;
}

static void renew_level(const takt_successor *to, takt_level *level, const char *tenant)
{
    const takt_limit *limit = to->find(to->data, level->limit, level->key);

    if (limit)
        level->limit = limit; /* otherwise it is gone, and the work waits for it as it was */
    if (!level->tenant[0])
        level->tenant = tenant;
    if (level->limit->fair == TAKT_FAIR_WORKER)
        level->tenant = NULL;
    else
        level->weight = to->weigh(to->data, level->limit, level->tenant, level->weight);
}

/* Sets its levels under the next policy.  If its innermost limit is gone, it has those that it had.
 * False: they cannot be told. */
static bool follow(const takt_successor *to, const levels *old, levels *next)
{
    const char *tenant = tenant_of_work(old);
    const takt_limit *first = innermost(to, old);

    *next = *old;
    if (first)
        next->count = 0;
    for (const takt_limit *at = first; at && next->count < TAKT_LEVELS_MAX; at = at->within) {
        const takt_level *known = level_at(old, at->name);
        if (known)
            next->of[next->count++] = *known;
        else if (is_new(to, old, at)) {
            takt_level *joined = &next->of[next->count++];
            if (!to->join(to->data, old->of, old->count, joined - 1, at, tenant, joined))
                return false;
        }
    }
    for (int i = 0; i < next->count; i++) {
        if (level_at(old, next->of[i].limit->name))
            renew_level(to, &next->of[i], tenant);
        fill_amounts(&next->of[i]);
    }
    return true;
}

/* ---- which work moves ------------------------------------------------------------------------ */

static const takt_limit *renewed(const takt_successor *to, const takt_limit *limit, const char *key)
{
    const takt_limit *found = to->find(to->data, limit, key);

    return found ? found : limit;
}

static bool holds_up(const takt_limit *limit)
{
    return limit->mode == TAKT_MODE_ENFORCE && limit->access != TAKT_ACCESS_UNLIMITED;
}

/* What was looked up last: waiters of one queue mostly have one shadow queue. */
typedef struct answers {
    bool any;
    const takt_queue *queue, *shadow_queue;
    bool others; /* the work waits for other limits than before, or will do so in shadow */
    bool stops;  /* a limit holds up the work that did not do so before */
} answers;

static void look_up(const takt_successor *to, const takt_permit *permit, answers *known)
{
    const takt_limit *first;
    levels old;

    if (known->any && known->queue == permit->queue && known->shadow_queue == permit->shadow_queue)
        return;
    *known = (answers){.any = true, .queue = permit->queue, .shadow_queue = permit->shadow_queue};
    list_levels(permit, &old);
    first = innermost(to, &old);
    for (int i = 0; i < old.count; i++) {
        const takt_level *level = &old.of[i];
        bool stays = !first || is_among(first, level->limit->name);
        bool holds = stays && holds_up(renewed(to, level->limit, level->key));
        known->others |= !stays || holds == old.in_shadow[i];
        known->stops |= holds && old.in_shadow[i];
    }
    for (const takt_limit *at = first; at; at = at->within)
        if (is_new(to, &old, at)) {
            known->others = true;
            known->stops |= holds_up(at);
        }
}

static bool moves(const takt_successor *to, const takt_permit *permit, answers *known)
{
    if (permit->ticket || permit->shadow)
        return false;
    look_up(to, permit, known);
    return known->stops || (known->others && permit->state == TAKT_PERMIT_WAITING);
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* The work stays, and only its shadow waiter will come elsewhere; or its key is unlimited now, and
 * the review of its queue starts it. */
static void reserve(takt_scheduler *scheduler, takt_permit *permit, const takt_path *path)
{
    takt_waiter_expect_none(scheduler, permit);
    permit->shadowed = path->shadowed;
    if (path->count > 1)
        takt_waiter_expect(scheduler, path->queues[1], path->costs[1], path->more[1], permit);
}

static void move(takt_scheduler *scheduler, const takt_successor *to, takt_permit *permit)
{
    bool accepted =
        permit->state == TAKT_PERMIT_FIRED || takt_queue_is_accepted(permit->queue, permit);
    levels old, next;
    takt_path path;

    list_levels(permit, &old);
    if (!follow(to, &old, &next) ||
        takt_path_find(scheduler, next.of, next.count, false, &path) < 0)
        return;
    if (permit->state == TAKT_PERMIT_WAITING && path.enforcing && path.queues[0] == permit->queue) {
        reserve(scheduler, permit, &path);
        return;
    }
    takt_waiter_leave(scheduler, permit, 0);
    permit->fence = 0;
    takt_path_enter(scheduler, permit, &path);
    if (permit->state == TAKT_PERMIT_WAITING && accepted)
        takt_queue_accept_waiter(permit->queue, permit);
    if (permit->state == TAKT_PERMIT_WAITING)
        takt_waiter_moved(scheduler, permit);
}

/* Those whose callbacks are due have come before those that wait. */
static void move_due(takt_scheduler *scheduler, const takt_successor *to)
{
    const takt_link *fired = &scheduler->fired;
    answers known = {.any = false};

    for (const takt_link *at = fired->next, *next; at != fired; at = next) {
        takt_permit *permit = takt_queue_permit(at);
        next = at->next;
        if (permit->status == 0 && moves(to, permit, &known))
            move(scheduler, to, permit);
    }
}

static void move_from(takt_scheduler *scheduler, const takt_successor *to, const takt_queue *queue)
{
    answers known = {.any = false};

    for (int priority = 0; priority < TAKT_PRIORITIES; priority++) {
        const takt_link *waiting = &queue->waiters.lists[priority];
        for (const takt_link *at = waiting->next, *next; at != waiting; at = next) {
            takt_permit *permit = takt_queue_permit(at);
            next = at->next;
            if (moves(to, permit, &known))
                move(scheduler, to, permit);
        }
    }
}

/* Moving makes queues, so those with waiters are listed before. */
void takt_move_waiters(takt_scheduler *scheduler, const takt_successor *to)
{
    const takt_table *all = &scheduler->queues;
    const takt_queue **queues;
    size_t count = 0;

    move_due(scheduler, to);
    queues = malloc((all->count + 1) * sizeof *queues);
    for (size_t i = 0; queues && i < all->used; i++)
        for (takt_entry *entry = all->buckets[i]; entry; entry = entry->next) {
            const takt_queue *queue = TAKT_HOLDER(entry, takt_queue, registry.entry);
            if (queue->waiters.total > 0)
                queues[count++] = queue;
        }
    for (size_t i = 0; i < count; i++)
        move_from(scheduler, to, queues[i]);
    free(queues);
}
