/*
 * path.c: see path.h.
 */
#include "scheduler/path.h"

#include "base/fail.h"
#include "scheduler/registry.h"
#include "scheduler/renew_queue.h"
#include "scheduler/waiter.h"

static int add_queue(takt_path *path, takt_queue *queue, int32_t cost, takt_more more)
{
    if (!queue)
        return TAKT_E_NOMEM;
    path->costs[path->count] = cost;
    path->more[path->count] = more;
    path->queues[path->count++] = queue;
    return 0;
}

/* The queue of one level.  Only an acquire knows which override a hashed key has, so after a change
 * of the policy its queue may still have another limit. */
static int add_plain(takt_scheduler *scheduler, const takt_level *level, bool renew,
                     takt_path *path)
{
    takt_queue *queue = level->tenant ? takt_registry_tenant(scheduler, level->limit, level->key,
                                                             level->tenant, level->weight)
                                      : takt_registry_queue(scheduler, level->limit, level->key);

    if (queue && queue->limit != level->limit && (renew || queue->waiters.total == 0))
        takt_renew_queue(scheduler, queue, level->limit);
    return add_queue(path, queue, level->cost, level->more);
}

/* The queue of several levels.  Its tenant is that of the innermost line, if this has its own. */
static int add_nested(takt_scheduler *scheduler, const takt_level *const *levels, takt_chain *chain,
                      bool renew, takt_path *path)
{
    const takt_level *payer;
    takt_queue *queue;
    takt_more more;
    int32_t cost;

    chain->inside = takt_chain_inside(chain);
    if (!takt_chain_is_nested(chain) || !takt_chain_take(chain, &cost, &more))
        return TAKT_E_POLICY;
    payer = levels[chain->inside == TAKT_INSIDE_WITHIN ? 0 : chain->count - 1];
    queue = takt_registry_nested(scheduler, chain, payer->tenant, payer->weight);
    if (queue && !takt_nest_has(queue, chain) && (renew || queue->waiters.total == 0))
        takt_renew_nested(scheduler, queue, chain);
    return add_queue(path, queue, cost, more);
}

static int add_mode(takt_scheduler *scheduler, const takt_level *levels, int count, takt_mode mode,
                    bool renew, takt_path *path)
{
    const takt_level *chosen[TAKT_LEVELS_MAX];
    takt_chain chain;

    chain.count = 0;
    chain.numbered = false;
    for (int i = 0; i < count; i++) {
        if (levels[i].limit->mode != mode || levels[i].limit->access == TAKT_ACCESS_UNLIMITED)
            continue;
        chain.limits[chain.count] = levels[i].limit;
        chain.keys[chain.count] = levels[i].key;
        chain.costs[chain.count] = levels[i].cost;
        chain.more[chain.count] = levels[i].more;
        chosen[chain.count++] = &levels[i];
    }
    if (chain.count > 1)
        return add_nested(scheduler, chosen, &chain, renew, path);
    return chain.count == 1 ? add_plain(scheduler, chosen[0], renew, path) : 0;
}

/* Which of the levels that take part are in shadow. */
static uint8_t shadowed_of(const takt_level *levels, int count)
{
    unsigned shadowed = 0, bit = 1;

    for (int i = 0; i < count; i++) {
        if (levels[i].limit->access == TAKT_ACCESS_UNLIMITED)
            continue;
        shadowed |= levels[i].limit->mode == TAKT_MODE_SHADOW ? bit : 0;
        bit <<= 1;
    }
    return (uint8_t)shadowed;
}

int takt_path_find(takt_scheduler *scheduler, const takt_level *levels, int count, bool renew,
                   takt_path *path)
{
    int code = 0;

    path->count = 0;
    if (count > 1) {
        path->shadowed = shadowed_of(levels, count);
        code = add_mode(scheduler, levels, count, TAKT_MODE_ENFORCE, renew, path);
        path->enforcing = path->count > 0;
        if (code == 0)
            code = add_mode(scheduler, levels, count, TAKT_MODE_SHADOW, renew, path);
    }
    if (code < 0 || path->count > 0)
        return code;
    /* one level, or the keys of all are unlimited */
    path->enforcing = levels[0].limit->mode == TAKT_MODE_ENFORCE;
    path->shadowed = !path->enforcing;
    return add_plain(scheduler, &levels[0], renew, path);
}

uint8_t takt_path_enforcing(const takt_path *path)
{
    if (path->count == 0 || !path->enforcing)
        return 0;
    return path->queues[0]->nest ? (uint8_t)(1 + path->queues[0]->nest->count) : 1;
}

void takt_path_enter(takt_scheduler *scheduler, takt_permit *permit, const takt_path *path)
{
    int last = path->count - 1;

    permit->cost = path->costs[0];
    permit->more = path->more[0];
    permit->levels = takt_path_enforcing(path);
    permit->shadowed = path->shadowed;
    permit->shadow_queue = NULL;
    if (last > 0 || !path->enforcing)
        takt_waiter_expect(scheduler, path->queues[last], path->costs[last], path->more[last],
                           permit);
    if (path->enforcing)
        takt_waiter_acquire(scheduler, path->queues[0], permit);
    else
        takt_waiter_start(scheduler, permit);
}
