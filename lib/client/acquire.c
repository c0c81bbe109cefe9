/*
 * acquire.c: the life of a permit: takt_acquire, takt_cancel, takt_release.
 */
#include "client/acquire.h"

#include <stdlib.h>

#include "base/fail.h"
#include "client/request.h"
#include "scheduler/permits.h"
#include "scheduler/registry.h"
#include "scheduler/renew.h"
#include "scheduler/waiter.h"
#include "shadow/shadow.h"

/* The queue of a key.  Since the policy changed a queue of hashed keys may have the limit of other
 * keys: which override a hash has is known only here. */
static takt_queue *queue_of(takt_client *client, const takt_request *request,
                            const takt_levels *levels, int level)
{
    const takt_limit *limit = levels->limits[level];
    const char *key = takt_request_key(request, levels, level), *tenant = NULL;
    int32_t weight = 1;
    takt_queue *queue;

    if (limit->fair != TAKT_FAIR_WORKER)
        tenant = takt_request_tenant(request, levels, level, &weight);
    queue = tenant ? takt_registry_tenant(&client->scheduler, limit, key, tenant, weight)
                   : takt_registry_queue(&client->scheduler, limit, key);
    if (queue && queue->limit != limit)
        takt_renew_queue(&client->scheduler, queue, limit);
    return queue;
}

/* ---- the queues that work passes ------------------------------------------------------------- */

/* The levels of that mode, and which of the request's each is.  One whose key is unlimited takes no
 * part in what the others decide. */
static void choose(const takt_request *request, const takt_levels *levels, takt_mode mode,
                   takt_chain *chain, int at[TAKT_LEVELS_MAX])
{
    chain->count = 0;
    chain->numbered = false;
    for (int i = 0; i < levels->count; i++) {
        const takt_limit *limit = levels->limits[i];
        if (limit->mode != mode ||
            (mode == TAKT_MODE_ENFORCE && limit->access == TAKT_ACCESS_UNLIMITED))
            continue;
        chain->limits[chain->count] = limit;
        chain->keys[chain->count] = takt_request_key(request, levels, i);
        chain->costs[chain->count] = levels->costs[i];
        chain->more[chain->count] = takt_request_more(levels, i);
        at[chain->count++] = i;
    }
}

/* The next queue of a path, to be filled in; NULL: no memory for it. */
static int add_queue(takt_path *path, takt_queue *queue, int32_t cost, takt_more more)
{
    if (!queue)
        return TAKT_E_NOMEM;
    path->costs[path->count] = cost;
    path->more[path->count] = more;
    path->queues[path->count++] = queue;
    return 0;
}

/* The tenant of work that waits for one slot of all limits of a chain, of which the outermost is
 * that level: that of the innermost line, if this has its own. */
static const char *tenant_of(const takt_request *request, const takt_levels *levels,
                             const takt_chain *chain, int outermost, int32_t *weight)
{
    int level = outermost;

    for (int i = 0; chain->inside == TAKT_INSIDE_WITHIN && i < levels->count; i++)
        if (levels->limits[i] == chain->limits[0])
            level = i;
    return takt_request_tenant(request, levels, level, weight);
}

/* The queue in which work waits for one slot of all limits of a chain, of which the outermost is
 * that level. */
static int add_nested(takt_client *client, const takt_request *request, const takt_levels *levels,
                      const takt_chain *chain, int outermost, takt_path *path)
{
    int32_t weight, cost;
    const char *tenant = tenant_of(request, levels, chain, outermost, &weight);
    takt_queue *queue = takt_registry_nested(&client->scheduler, chain, tenant, weight);
    takt_more more;

    if (queue)
        takt_renew_nested(&client->scheduler, queue, chain);
    (void)takt_chain_take(chain, &cost, &more); /* it suits */
    return add_queue(path, queue, cost, more);
}

static int add_level(takt_client *client, const takt_request *request, const takt_levels *levels,
                     int level, takt_path *path)
{
    return add_queue(path, queue_of(client, request, levels, level), (int32_t)levels->costs[level],
                     takt_request_more(levels, level));
}

/* The queues of the levels of one mode: that of all of them if one claim can decide about them,
 * otherwise one for each. */
static int add_mode(takt_client *client, const takt_request *request, const takt_levels *levels,
                    takt_mode mode, takt_path *path)
{
    int at[TAKT_LEVELS_MAX], code = 0;
    takt_chain chain;

    choose(request, levels, mode, &chain, at);
    chain.inside = chain.count > 1 ? takt_chain_inside(&chain) : TAKT_INSIDE_NONE;
    if (takt_chain_is_nested(&chain))
        return add_nested(client, request, levels, &chain, at[chain.count - 1], path);
    for (int i = 0; code == 0 && i < chain.count; i++)
        code = add_level(client, request, levels, at[i], path);
    return code;
}

int takt_acquire_path(takt_client *client, const takt_request *request, const takt_levels *levels,
                      takt_path *path)
{
    int code;

    path->count = 0;
    if (levels->count == 1) {
        path->enforcing = levels->limits[0]->mode == TAKT_MODE_ENFORCE;
        return add_level(client, request, levels, 0, path);
    }
    code = add_mode(client, request, levels, TAKT_MODE_ENFORCE, path);
    path->enforcing = path->count;
    if (code == 0)
        code = add_mode(client, request, levels, TAKT_MODE_SHADOW, path);
    if (code == 0 && path->count == 0) { /* all keys are unlimited */
        code = add_level(client, request, levels, 0, path);
        path->enforcing = 1;
    }
    return code;
}

/* Reserves places in the queues that the permit passes later.  It happens now because the request's
 * keys are only valid during the call.  Returns the queue that it waits in first; NULL: none, since
 * no limit enforces. */
static takt_queue *take_path(takt_client *client, takt_permit *permit, const takt_path *path)
{
    int first = path->enforcing > 0 ? 0 : -1;

    for (int i = path->count - 1; i > first; i--)
        takt_waiter_expect(&client->scheduler, path->queues[i], path->costs[i], path->more[i],
                           permit);
    permit->cost = path->costs[0];
    permit->more = path->more[0];
    permit->nested = first == 0 && path->queues[0]->nest != NULL;
    return first == 0 ? path->queues[0] : NULL;
}

/* ---- work that waits for one slot of several limits is to pass them one by one --------------- */

/* The queues of a nested queue's limits, the outermost first.  False: no memory. */
static bool find_queues(takt_client *client, const takt_queue *nested,
                        takt_queue *queues[TAKT_LEVELS_MAX])
{
    bool turns = nested->limit->fair != TAKT_FAIR_WORKER;
    int at = 0;

    queues[0] =
        takt_client_queue(client, nested->limit, nested->key, turns ? nested->nest->tenant : NULL,
                          turns ? nested->turn->weight : 0);
    for (int i = nested->nest->count - 1; queues[at] && i >= 0; i--) {
        const takt_inner *inner = &nested->nest->inner[i];
        int32_t weight = 1;
        const char *tenant = NULL;
        if (inner->limit->fair != TAKT_FAIR_WORKER)
            tenant = takt_nest_tenant(nested, i, &weight);
        queues[++at] = takt_client_queue(client, inner->limit, inner->key, tenant, weight);
    }
    return queues[at] != NULL;
}

/* A nested queue's waiter moves to the innermost of its queues, with places in the outer ones. */
static void spread(takt_client *client, takt_queue *nested, takt_queue *const *queues,
                   takt_permit *permit)
{
    takt_run taken = takt_run_at(0, 1, permit->cost, permit->more), part;
    int count = nested->nest->count;

    takt_queue_remove(nested, permit);
    permit->nested = 0;
    for (int i = 0; i <= count; i++) {
        const takt_inner *inner = i > 0 ? &nested->nest->inner[count - i] : NULL;
        part = takt_nest_part(&queues[i]->limit->numbers,
                              inner ? inner->units : TAKT_UNIT_MAP_PLAIN, taken);
        takt_waiter_expect(&client->scheduler, queues[i], part.cost, part.more, permit);
    }
    if (permit->shadow)
        takt_shadow_again(&client->shadows, permit);
    else
        takt_waiter_go_on(&client->scheduler, permit);
}

/* All but tickets leave a nested queue.  False: no memory, and they stay. */
static bool spread_all(takt_client *client, takt_queue *nested)
{
    takt_queue *queues[TAKT_LEVELS_MAX];

    if (!find_queues(client, nested, queues))
        return false;
    for (int priority = 0; priority < TAKT_PRIORITIES; priority++) {
        const takt_link *waiting = &nested->waiters.lists[priority];
        for (takt_link *at = waiting->next, *next; at != waiting; at = next) {
            takt_permit *permit = TAKT_HOLDER(at, takt_permit, line);
            next = at->next;
            if (!permit->ticket)
                spread(client, nested, queues, permit);
        }
    }
    return true;
}

/* Whether the policy has one of a nested queue's limits in another mode than the queue. */
static bool has_old_mode(const takt_client *client, const takt_queue *nested)
{
    const takt_limit *limit = takt_policy_renewed(client->policy, nested->limit, nested->key);
    bool old = limit && limit->mode != nested->limit->mode;

    for (int i = 0; i < nested->nest->count; i++) {
        const takt_inner *inner = &nested->nest->inner[i];
        limit = takt_policy_renewed(client->policy, inner->limit, inner->key);
        old = old || (limit && limit->mode != inner->limit->mode);
    }
    return old;
}

void takt_acquire_renew(takt_client *client)
{
    const takt_table *all = &client->scheduler.queues;
    takt_queue **old = malloc((all->count + 1) * sizeof *old);
    size_t count = 0;

    for (size_t i = 0; old && i < all->used; i++)
        for (takt_entry *entry = all->buckets[i]; entry; entry = entry->next) {
            takt_queue *queue = TAKT_HOLDER(entry, takt_queue, registry.entry);
            if (queue->nest && queue->waiters.total > 0 && has_old_mode(client, queue))
                old[count++] = queue;
        }
    while (count > 0)
        (void)spread_all(client, old[--count]);
    free(old);
}

/* ---- the life of a permit -------------------------------------------------------------------- */

/* What all permits that begin to wait have in common. */
static void begin(takt_client *client, takt_permit *permit, takt_acquire_cb callback)
{
    permit->client = client;
    permit->callback = callback;
    permit->slot_at_us = permit->retry_after_us = permit->fence = 0;
    permit->shadow = permit->uncharged = 0;
    permit->shadow_ref.shadow_waiter = NULL;
    permit->deadline_at_us = TAKT_NEVER;
    client->stats.acquires++;
    client->stats.waiting++;
    takt_client_ask(client);
}

int takt_acquire(takt_client *client, takt_permit *permit, const takt_request *request,
                 takt_acquire_cb callback)
{
    const takt_limit *limit;
    takt_levels levels;
    takt_queue *queue;
    takt_path path;
    int code;

    if (!client || !permit || !request || !callback)
        return TAKT_E_INVALID;
    if (takt_client_is_forked(client))
        return TAKT_E_FORKED;
    if (permit->state != TAKT_PERMIT_IDLE)
        return TAKT_E_BUSY;
    if (client->closing)
        return TAKT_E_CANCELED;
    code = takt_request_check(client->policy, client->asked, &client->key_secret, request, &levels,
                              NULL);
    if (code == 0)
        code = takt_request_permit(request, &levels, NULL);
    if (code < 0)
        return code;
    limit = levels.limits[0];
    client->asked = limit->base ? limit->base : limit; /* the next acquire mostly names it too */
    code = takt_acquire_path(client, request, &levels, &path);
    if (code < 0)
        return code;
    permit->hold_count = permit->outer_count = permit->passed_count = permit->ticket = 0;
    queue = take_path(client, permit, &path);
    begin(client, permit, callback);
    permit->priority = (int8_t)(request->priority < 0 ? limit->priority : request->priority);
    if (request->max_wait_us > 0 && request->max_wait_us <= 2 * TAKT_SPAN_MAX_US)
        permit->deadline_at_us = takt_timer_now() + request->max_wait_us;
    if (queue)
        takt_waiter_acquire(&client->scheduler, queue, permit);
    else
        takt_waiter_start(&client->scheduler, permit);
    return 0;
}

void takt_acquire_ticket(takt_client *client, takt_queue *queue, takt_permit *permit, int32_t cost,
                         takt_more more, int32_t priority, takt_acquire_cb callback)
{
    permit->hold_count = permit->outer_count = permit->nested = 0;
    permit->ticket = 1;
    begin(client, permit, callback);
    permit->cost = cost;
    permit->more = more;
    permit->priority = (int8_t)priority;
    takt_waiter_acquire(&client->scheduler, queue, permit);
}

/* A permit that has passed an inner limit counts as waiting if another one that enforces is still
 * to come. */
static bool still_waits(const takt_permit *permit)
{
    return permit->state == TAKT_PERMIT_WAITING ||
           (permit->state == TAKT_PERMIT_FIRED && permit->status == 0 &&
            takt_waiter_next(permit) >= 0);
}

int takt_cancel(takt_permit *permit)
{
    takt_client *client;

    if (!permit || !still_waits(permit))
        return TAKT_E_INVALID;
    client = permit->queue->owner;
    takt_waiter_leave(&client->scheduler, permit, TAKT_E_CANCELED);
    takt_client_ask(client);
    return 0;
}

void takt_release(takt_permit *permit)
{
    takt_client *client;

    if (!permit || permit->state == TAKT_PERMIT_TRYING)
        return;
    if (permit->state == TAKT_PERMIT_WAITING || permit->state == TAKT_PERMIT_FIRED) {
        client = permit->queue->owner;
        takt_waiter_leave(&client->scheduler, permit, 0);
        permit->slot_at_us = 0; /* nothing to settle */
        permit->uncharged = false;
        client->stats.waiting--;
        takt_client_ask(client);
    } else if (permit->state == TAKT_PERMIT_GRANTED &&
               (permit->hold_count > 0 || permit->shadow_ref.shadow_waiter)) {
        client = permit->client;
        takt_shadow_release(&client->shadows, permit, takt_timer_now());
        takt_waiter_release(&client->scheduler, permit);
        takt_client_ask(client);
    }
    permit->state = TAKT_PERMIT_IDLE;
}

int takt_is_held(const takt_permit *permit)
{
    return permit && permit->state == TAKT_PERMIT_GRANTED &&
           takt_permits_are_held(permit, takt_timer_now());
}
