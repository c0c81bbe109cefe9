/*
 * acquire.c: the life of a permit: takt_acquire, takt_cancel, takt_release.
 */
#include "client/acquire.h"

#include "base/fail.h"
#include "client/request.h"
#include "scheduler/permits.h"
#include "scheduler/registry.h"
#include "scheduler/renew.h"
#include "scheduler/waiter.h"
#include "shadow/shadow.h"

void takt_acquire_enter(takt_client *client, takt_queue *queue, takt_permit *permit)
{
    if (queue->limit->mode == TAKT_MODE_SHADOW)
        takt_shadow_acquire(&client->shadows, queue, permit, takt_timer_now());
    else
        takt_shadow_enforce(&client->shadows, queue, permit);
}

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

/* Reserves a place in the queues of the outer limits, the outermost first.  It happens now because
 * the request's keys are only valid during the call. */
static int expect_outer(takt_client *client, takt_permit *permit, const takt_request *request,
                        const takt_levels *levels)
{
    for (int level = levels->count - 1; level > 0; level--) {
        takt_queue *queue = queue_of(client, request, levels, level);
        if (!queue)
            return TAKT_E_NOMEM;
        takt_waiter_expect(&client->scheduler, queue, (int32_t)levels->costs[level],
                           takt_request_more(levels, level), permit);
    }
    return 0;
}

/* The queue of a level; the permit takes there what it takes of it.  NULL: no memory. */
static takt_queue *enter_level(takt_client *client, takt_permit *permit,
                               const takt_request *request, const takt_levels *levels, int level)
{
    permit->cost = (int32_t)levels->costs[level];
    permit->more = takt_request_more(levels, level);
    return queue_of(client, request, levels, level);
}

/* The queue of the first limit; the permit is to pass the outer ones after it.  NULL: no memory. */
static takt_queue *pass_one_by_one(takt_client *client, takt_permit *permit,
                                   const takt_request *request, const takt_levels *levels)
{
    int code = expect_outer(client, permit, request, levels);

    return code == 0 ? enter_level(client, permit, request, levels, 0) : NULL;
}

const char *takt_acquire_tenant(const takt_request *request, const takt_levels *levels,
                                const takt_chain *chain, int outermost, int32_t *weight)
{
    int level = outermost;

    for (int i = 0; chain->inside == TAKT_INSIDE_WITHIN && i < levels->count; i++)
        if (levels->limits[i] == chain->limits[0])
            level = i;
    return takt_request_tenant(request, levels, level, weight);
}

/* The queue in which the permit waits for one slot of all its limits, of which the outermost is
 * that level.  NULL: no memory. */
static takt_queue *nest(takt_client *client, takt_permit *permit, const takt_request *request,
                        const takt_levels *levels, const takt_chain *chain, int outermost)
{
    int32_t weight;
    const char *tenant = takt_acquire_tenant(request, levels, chain, outermost, &weight);
    takt_queue *queue = takt_registry_nested(&client->scheduler, chain, tenant, weight);

    if (queue)
        takt_renew_nested(&client->scheduler, queue, chain);
    permit->nested = 1;
    (void)takt_chain_take(chain, permit); /* it suits */
    return queue;
}

/* The queues of a nested queue's limits, the outermost first.  False: no memory. */
static bool find_queues(takt_client *client, const takt_queue *nested,
                        takt_queue *queues[TAKT_LEVELS_MAX])
{
    takt_scheduler *scheduler = &client->scheduler;
    bool turns = nested->limit->fair != TAKT_FAIR_WORKER;
    int at = 0;

    queues[0] =
        takt_registry_tenant(scheduler, nested->limit, nested->key,
                             turns ? nested->turn->tenant : NULL, turns ? nested->turn->weight : 0);
    for (int i = nested->nest->count - 1; queues[at] && i >= 0; i--) {
        const takt_inner *inner = &nested->nest->inner[i];
        int32_t weight = 1;
        const char *tenant = NULL;
        if (inner->limit->fair != TAKT_FAIR_WORKER)
            tenant = takt_nest_tenant(nested, i, &weight);
        queues[++at] = takt_registry_tenant(scheduler, inner->limit, inner->key, tenant, weight);
    }
    return queues[at] != NULL;
}

/* A nested queue's waiter moves to the innermost of its queues, with places in the outer ones. */
static void spread(takt_client *client, takt_queue *nested, takt_queue *const *queues,
                   takt_permit *permit)
{
    takt_run taken = takt_run_at(0, 1, permit->cost, permit->more), part = taken;
    int count = nested->nest->count;

    takt_queue_remove(nested, permit);
    permit->nested = 0;
    for (int i = 0; i <= count; i++) {
        const takt_inner *inner = i > 0 ? &nested->nest->inner[count - i] : NULL;
        part = takt_nest_part(&queues[i]->limit->numbers,
                              inner ? inner->units : TAKT_UNIT_MAP_PLAIN, taken);
        if (i < count)
            takt_waiter_expect(&client->scheduler, queues[i], part.cost, part.more, permit);
    }
    permit->cost = part.cost;
    permit->more = part.more;
    takt_acquire_enter(client, queues[count], permit);
}

bool takt_acquire_unnest(takt_client *client, takt_queue *queue)
{
    takt_queue *queues[TAKT_LEVELS_MAX];

    if (queue->waiters.total > 0 && !find_queues(client, queue, queues))
        return false;
    for (int priority = 0; priority < TAKT_PRIORITIES; priority++) {
        takt_link *waiting = &queue->waiters.lists[priority];
        while (!takt_list_empty(waiting)) {
            takt_permit *permit = TAKT_HOLDER(waiting->next, takt_permit, line);
            if (permit->nested)
                spread(client, queue, queues, permit);
            else /* a ticket: its program passes the limits */
                takt_waiter_fire(&client->scheduler, permit, TAKT_E_INVALID);
        }
    }
    return true;
}

/* A level whose key is unlimited takes no part in the decision. */
static bool counts_nothing(const takt_limit *limit)
{
    return limit->access == TAKT_ACCESS_UNLIMITED && limit->mode == TAKT_MODE_ENFORCE;
}

bool takt_acquire_chain(const takt_client *client, const takt_request *request,
                        const takt_levels *levels, takt_chain *chain, int *outermost)
{
    *chain = (takt_chain){.count = 0};
    *outermost = 0;
    for (int i = 0; i < levels->count; i++) {
        if (counts_nothing(levels->limits[i]))
            continue;
        chain->limits[chain->count] = levels->limits[i];
        chain->keys[chain->count] = takt_request_key(request, levels, i);
        chain->costs[chain->count] = levels->costs[i];
        chain->more[chain->count++] = takt_request_more(levels, i);
        *outermost = i;
    }
    if (chain->count > 1)
        chain->inside = takt_chain_inside(chain);
    return client->store->nests && takt_nest_suits(&client->scheduler, chain);
}

/* The queue that the permit waits in first. */
static takt_queue *first_queue(takt_client *client, takt_permit *permit,
                               const takt_request *request, const takt_levels *levels)
{
    takt_chain chain;
    int outermost;
    bool nested = takt_acquire_chain(client, request, levels, &chain, &outermost);

    permit->nested = chain.count == 1; /* its slot is that of all levels that count it */
    if (chain.count == 1)
        return enter_level(client, permit, request, levels, outermost);
    return nested ? nest(client, permit, request, levels, &chain, outermost)
                  : pass_one_by_one(client, permit, request, levels);
}

/* What all permits that begin to wait have in common. */
static void begin(takt_client *client, takt_permit *permit, takt_acquire_cb callback)
{
    permit->client = client;
    permit->callback = callback;
    permit->slot_at_us = permit->retry_after_us = permit->fence = 0;
    permit->shadow_count = permit->shadow = permit->uncharged = 0;
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
    permit->hold_count = permit->outer_count = permit->passed_count = permit->nested = 0;
    queue = levels.count > 1 ? first_queue(client, permit, request, &levels)
                             : pass_one_by_one(client, permit, request, &levels);
    if (!queue) {
        takt_waiter_drop(&client->scheduler, permit);
        return TAKT_E_NOMEM;
    }
    begin(client, permit, callback);
    permit->priority = (int8_t)(request->priority < 0 ? limit->priority : request->priority);
    if (request->max_wait_us > 0 && request->max_wait_us <= 2 * TAKT_SPAN_MAX_US)
        permit->deadline_at_us = takt_timer_now() + request->max_wait_us;
    takt_acquire_enter(client, queue, permit);
    return 0;
}

void takt_acquire_ticket(takt_client *client, takt_queue *queue, takt_permit *permit, int32_t cost,
                         takt_more more, int32_t priority, takt_acquire_cb callback)
{
    permit->hold_count = permit->outer_count = permit->nested = 0;
    begin(client, permit, callback);
    permit->cost = cost;
    permit->more = more;
    permit->priority = (int8_t)priority;
    takt_waiter_acquire(&client->scheduler, queue, permit);
}

/* A permit that has passed an inner limit or a shadow limit counts as waiting if an outer limit is
 * still to come. */
static bool still_waits(const takt_permit *permit)
{
    return permit->state == TAKT_PERMIT_WAITING ||
           (permit->state == TAKT_PERMIT_FIRED && permit->status == 0 && permit->outer_count > 0);
}

int takt_cancel(takt_permit *permit)
{
    takt_client *client;

    if (!permit || !still_waits(permit))
        return TAKT_E_INVALID;
    client = permit->queue->owner;
    takt_shadow_leave(&client->shadows, permit, TAKT_E_CANCELED);
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
        takt_shadow_leave(&client->shadows, permit, 0);
        permit->slot_at_us = 0; /* nothing to settle */
        permit->uncharged = false;
        client->stats.waiting--;
        takt_client_ask(client);
    } else if (permit->state == TAKT_PERMIT_GRANTED &&
               (permit->hold_count > 0 || permit->shadow_count > 0)) {
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
