/*
 * acquire.c: the life of a permit: takt_acquire, takt_cancel, takt_release.
 */
#include "client/acquire.h"

#include "scheduler/permits.h"
#include "scheduler/waiter.h"
#include "shadow/shadow.h"

int takt_acquire_path(takt_client *client, const takt_request *request, const takt_demand *demand,
                      takt_path *path)
{
    takt_level all[TAKT_LEVELS_MAX];

    for (int i = 0; i < demand->count; i++) {
        all[i].limit = demand->limits[i];
        all[i].key = takt_request_key(request, demand, i);
        all[i].tenant = takt_request_tenant(request, demand, i, &all[i].weight);
        all[i].cost = (int32_t)demand->costs[i];
        all[i].more = takt_request_more(demand, i);
    }
    return takt_path_find(&client->scheduler, all, demand->count, true, path);
}

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
    takt_client_ask(client); /* the pass runs later, when the permit is in its queue */
}

int takt_acquire(takt_client *client, takt_permit *permit, const takt_request *request,
                 takt_acquire_cb callback)
{
    const takt_limit *limit;
    takt_demand demand;
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
    code = takt_request_check(client->policy, client->asked, &client->key_secret, request, &demand,
                              NULL);
    if (code == 0)
        code = takt_request_admit(request, &demand, NULL);
    if (code < 0)
        return code;
    limit = demand.limits[0];
    client->asked = limit->base ? limit->base : limit; /* the next acquire mostly names it too */
    code = takt_acquire_path(client, request, &demand, &path);
    if (code < 0)
        return code;
    permit->hold = permit->ticket = 0;
    begin(client, permit, callback);
    permit->priority = (int8_t)(request->priority < 0 ? limit->priority : request->priority);
    if (request->max_wait_us > 0 && request->max_wait_us <= 2 * TAKT_SPAN_MAX_US)
        permit->deadline_at_us = takt_timer_now() + request->max_wait_us;
    takt_path_enter(&client->scheduler, permit, &path);
    return 0;
}

void takt_acquire_ticket(takt_client *client, takt_queue *queue, takt_permit *permit, int32_t cost,
                         takt_more more, int32_t priority, takt_acquire_cb callback)
{
    permit->hold = permit->levels = 0;
    permit->shadow_queue = NULL;
    permit->ticket = 1;
    begin(client, permit, callback);
    permit->cost = cost;
    permit->more = more;
    permit->priority = (int8_t)priority;
    takt_waiter_acquire(&client->scheduler, queue, permit);
}

int takt_cancel(takt_permit *permit)
{
    takt_client *client;

    if (!permit || permit->state != TAKT_PERMIT_WAITING)
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
               (permit->hold != TAKT_HOLD_NONE || permit->shadow_ref.shadow_waiter)) {
        client = permit->client;
        if (permit->shadow_ref.shadow_waiter)
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
