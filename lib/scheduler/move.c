/*
 * move.c: see move.h.
 */
#include "scheduler/move.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/path.h"
#include "scheduler/waiter.h"

/* The new policy. */
typedef struct policy {
    takt_scheduler *scheduler;
    takt_finder *find;
    takt_weigher *weigh;
    const void *data;
} policy;

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

/* All its levels with their old limits, in the order of its request: the innermost first.  These
 * limits may be of different policies, so that their `within` does not tell the order. */
static int levels_of(const takt_permit *permit, takt_level levels[TAKT_LEVELS_MAX])
{
    takt_level enforcing[TAKT_LEVELS_MAX], shadowed[TAKT_LEVELS_MAX];
    bool waits = permit->queue != permit->shadow_queue; /* or is granted, by limits that enforce */
    int enforcing_count =
        waits ? levels_in(permit->queue, permit->cost, permit->more, enforcing) : 0;
    int shadowed_count = permit->shadow_queue ? levels_in(permit->shadow_queue, permit->shadow_cost,
                                                          permit->shadow_more, shadowed)
                                              : 0;
    int count = enforcing_count + shadowed_count, at = 0;

    for (int i = 0; i < count; i++) {
        bool in_shadow =
            at < shadowed_count && (permit->shadowed >> i & 1 || i - at == enforcing_count);
        levels[i] = in_shadow ? shadowed[at] : enforcing[i - at];
        at += in_shadow;
    }
    return count;
}

/* Amounts that its request has not stated are 1, as for a ledger with newer numbers. */
static void renew_level(const policy *to, takt_level *level, const char *tenant)
{
    const takt_limit *limit = to->find(to->data, level->limit, level->key);

    if (limit)
        level->limit = limit; /* otherwise it is gone, and the work waits for it as it was */
    for (int i = 1; i < TAKT_AMOUNTS_MAX; i++)
        if (takt_unit_at(i) < takt_numbers_units(&level->limit->numbers) &&
            level->more.of[i - 1] < 1)
            level->more.of[i - 1] = 1;
    if (!level->tenant[0])
        level->tenant = tenant;
    if (level->limit->fair == TAKT_FAIR_WORKER)
        level->tenant = NULL;
    else
        level->weight = to->weigh(to->data, level->limit, level->tenant, level->weight);
}

/* ---- which work moves ------------------------------------------------------------------------ */

static const takt_limit *renewed(const policy *to, const takt_limit *limit, const char *key)
{
    const takt_limit *found = to->find(to->data, limit, key);

    return found ? found : limit;
}

static bool holds_up(const takt_limit *limit)
{
    return limit->mode == TAKT_MODE_ENFORCE && limit->access != TAKT_ACCESS_UNLIMITED;
}

/* How many of a queue's limits hold up work under the new policy; *all: of how many. */
static int count_holding(const policy *to, const takt_queue *queue, int *all)
{
    int count = holds_up(renewed(to, queue->limit, queue->key));

    *all = 1 + (queue->nest ? queue->nest->count : 0);
    for (int i = 0; i < *all - 1; i++) {
        const takt_inner *inner = &queue->nest->inner[i];
        count += holds_up(renewed(to, inner->limit, inner->key));
    }
    return count;
}

/* What was looked up last: waiters of one queue mostly have one shadow queue. */
typedef struct answers {
    bool any;
    const takt_queue *queue, *shadow_queue;
    bool leaves; /* a limit that has held up the work does so no longer */
    bool stops;  /* one that has been in shadow does so now */
} answers;

static void look_up(const policy *to, const takt_permit *permit, answers *known)
{
    int all;

    if (known->any && known->queue == permit->queue && known->shadow_queue == permit->shadow_queue)
        return;
    known->any = true;
    known->queue = permit->queue;
    known->shadow_queue = permit->shadow_queue;
    known->leaves = count_holding(to, permit->queue, &all) < all;
    known->stops = permit->shadow_queue && count_holding(to, permit->shadow_queue, &all) > 0;
}

static bool moves(const policy *to, const takt_permit *permit, answers *known)
{
    if (permit->ticket || permit->shadow)
        return false;
    look_up(to, permit, known);
    return known->stops || (known->leaves && permit->state == TAKT_PERMIT_WAITING);
}

/* ---- moving ---------------------------------------------------------------------------------- */

static void move(const policy *to, takt_permit *permit)
{
    bool accepted =
        permit->state == TAKT_PERMIT_FIRED || takt_queue_is_accepted(permit->queue, permit);
    takt_level levels[TAKT_LEVELS_MAX];
    int count = levels_of(permit, levels);
    const char *tenant = "";
    takt_path path;

    for (int i = 0; i < count; i++)
        if (levels[i].tenant[0])
            tenant = levels[i].tenant;
    for (int i = 0; i < count; i++)
        renew_level(to, &levels[i], tenant);
    if (takt_path_find(to->scheduler, levels, count, false, &path) < 0)
        return;
    if (permit->state == TAKT_PERMIT_WAITING && path.enforcing && path.queues[0] == permit->queue)
        return; /* its key is unlimited now: the review of the queue starts it */
    takt_waiter_leave(to->scheduler, permit, 0);
    permit->fence = 0;
    takt_path_enter(to->scheduler, permit, &path);
    if (permit->state == TAKT_PERMIT_WAITING && accepted)
        takt_queue_accept_waiter(permit->queue, permit);
    if (permit->state == TAKT_PERMIT_WAITING)
        takt_waiter_moved(to->scheduler, permit);
}

/* Those whose callbacks are due have come before those that wait. */
static void move_due(const policy *to)
{
    const takt_link *fired = &to->scheduler->fired;
    answers known = {.any = false};

    for (const takt_link *at = fired->next, *next; at != fired; at = next) {
        takt_permit *permit = takt_queue_permit(at);
        next = at->next;
        if (permit->status == 0 && moves(to, permit, &known))
            move(to, permit);
    }
}

static void move_from(const policy *to, const takt_queue *queue)
{
    answers known = {.any = false};

    for (int priority = 0; priority < TAKT_PRIORITIES; priority++) {
        const takt_link *waiting = &queue->waiters.lists[priority];
        for (const takt_link *at = waiting->next, *next; at != waiting; at = next) {
            takt_permit *permit = takt_queue_permit(at);
            next = at->next;
            if (moves(to, permit, &known))
                move(to, permit);
        }
    }
}

/* Moving makes queues, so those with waiters are listed before. */
void takt_move_waiters(takt_scheduler *scheduler, takt_finder *find, takt_weigher *weigh,
                       const void *data)
{
    const policy to = {scheduler, find, weigh, data};
    const takt_table *all = &scheduler->queues;
    const takt_queue **queues;
    size_t count = 0;

    move_due(&to);
    queues = malloc((all->count + 1) * sizeof *queues);
    for (size_t i = 0; queues && i < all->used; i++)
        for (takt_entry *entry = all->buckets[i]; entry; entry = entry->next) {
            const takt_queue *queue = TAKT_HOLDER(entry, takt_queue, registry.entry);
            if (queue->waiters.total > 0)
                queues[count++] = queue;
        }
    for (size_t i = 0; i < count; i++)
        move_from(&to, queues[i]);
    free(queues);
}
