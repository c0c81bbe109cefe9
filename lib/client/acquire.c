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
static takt_queue *queue_of(takt_client *client, const takt_limit *limit, const char *key)
{
    takt_queue *queue = takt_registry_queue(&client->scheduler, limit, key);

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
        takt_queue *queue =
            queue_of(client, levels->limits[level], takt_request_key(request, levels, level));
        if (!queue)
            return TAKT_E_NOMEM;
        takt_waiter_expect(&client->scheduler, queue, (int32_t)levels->costs[level], permit);
    }
    return 0;
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
    permit->hold_count = permit->outer_count = permit->passed_count = 0;
    code = expect_outer(client, permit, request, &levels);
    queue = code == 0 ? queue_of(client, limit, takt_request_key(request, &levels, 0)) : NULL;
    if (!queue) {
        takt_waiter_drop(&client->scheduler, permit);
        return TAKT_E_NOMEM;
    }
    begin(client, permit, callback);
    permit->cost = (int32_t)levels.costs[0];
    permit->priority = (int8_t)(request->priority < 0 ? limit->priority : request->priority);
    if (request->max_wait_us > 0 && request->max_wait_us <= 2 * TAKT_SPAN_MAX_US)
        permit->deadline_at_us = takt_timer_now() + request->max_wait_us;
    takt_acquire_enter(client, queue, permit);
    return 0;
}

void takt_acquire_ticket(takt_client *client, takt_queue *queue, takt_permit *permit, int32_t cost,
                         int32_t priority, takt_acquire_cb callback)
{
    permit->hold_count = permit->outer_count = 0;
    begin(client, permit, callback);
    permit->cost = cost;
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
