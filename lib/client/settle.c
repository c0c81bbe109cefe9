/*
 * settle.c: reports the real cost of finished work to the ledgers.  A ledger takes the rest of a
 * higher cost.  It gives unused cost back if the slot is known.
 */
#include "client/settle.h"

#include <string.h>

#include "client/call.h"
#include "client/request.h"
#include "shadow/shadow.h"

/* One limit's part of it. */
static int begin(takt_client *client, const takt_limit *limit, const char *key, int64_t slot_us,
                 int64_t requests, int64_t cost, int64_t actual_cost)
{
    takt_calling *calling = takt_call_new(client);

    if (!calling)
        return TAKT_E_NOMEM;
    calling->levels = (takt_levels){.limits = {limit}, .count = 1};
    strcpy(calling->keys[0], key);
    calling->call.op = TAKT_OP_SETTLE;
    calling->call.requests = requests;
    calling->call.cost = cost;
    calling->call.slot_us = slot_us;
    calling->call.actual = actual_cost;
    takt_call_aim(calling, 0);
    takt_call_send(calling);
    return 0;
}

void takt_settle_shadow(takt_client *client, const takt_shadow_waiter *shadow_waiter)
{
    const takt_permit *permit = &shadow_waiter->permit;

    if (!client->closing)
        (void)begin(client, permit->queue->limit, permit->queue->key, permit->slot_at_us, 1,
                    permit->cost, shadow_waiter->actual);
}

void takt_settle_unused(takt_client *client, const takt_queue *queue, const takt_run *unused)
{
    if (takt_policy_find(client->policy, queue->limit->name)) /* else it is gone: they lapse */
        (void)begin(client, queue->limit, queue->key, takt_run_slot(unused, 0), unused->count,
                    unused->count * unused->cost, 0);
}

/* Whether it was granted, and the real cost of its work was not told yet. */
static bool is_to_settle(const takt_permit *permit)
{
    return permit->slot_at_us != 0 || permit->uncharged || permit->shadow == TAKT_SHADOW_PASSED;
}

/* One level's part of it.  The slot is known of the outermost limit alone: the others only take
 * what is more. */
static int settle_one(const takt_permit *permit, const takt_limit *limit, const char *key,
                      int64_t actual_cost)
{
    int64_t slot_us = permit->uncharged ? 0 : permit->slot_at_us;

    if (limit->access == TAKT_ACCESS_UNLIMITED)
        return 0;
    if (actual_cost == permit->cost || (limit->within && actual_cost < permit->cost))
        return 0;
    if (actual_cost < permit->cost && limit->mode == TAKT_MODE_SHADOW)
        slot_us = takt_shadow_settle(permit, actual_cost);
    if (actual_cost < permit->cost && slot_us == 0)
        return 0;
    return begin(permit->client, limit, key, slot_us, 1, permit->cost, actual_cost);
}

int takt_settle(takt_permit *permit, const takt_request *request, int64_t actual_cost)
{
    takt_levels levels;
    int code;

    if (!permit || !request || !permit->client || !is_to_settle(permit) || actual_cost < 0 ||
        actual_cost > TAKT_SETTLED_MAX ||
        (permit->state != TAKT_PERMIT_GRANTED && permit->state != TAKT_PERMIT_IDLE))
        return TAKT_E_INVALID;
    if (takt_client_is_forked(permit->client))
        return TAKT_E_FORKED;
    if (permit->client->closing)
        return TAKT_E_CANCELED;
    code = takt_request_check(permit->client->policy, NULL, &permit->client->key_secret, request,
                              &levels, NULL);
    if (code < 0)
        return code;
    for (int i = 0; i < levels.count; i++) {
        code = settle_one(permit, levels.limits[i], takt_request_key(request, &levels, i),
                          actual_cost);
        if (code < 0)
            return code;
    }
    permit->slot_at_us = 0; /* once */
    permit->uncharged = false;
    permit->shadow = TAKT_SHADOW_NONE;
    return 0;
}
