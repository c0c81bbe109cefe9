/*
 * settle.c: reports the real cost of finished work to the ledgers.  A ledger takes the rest of a
 * higher cost.  It gives unused cost back if the slot is known.
 */
#include "client/settle.h"

#include <string.h>

#include "client/call.h"
#include "client/request.h"
#include "shadow/shadow.h"

/* One limit's part of it.  `unbegun`: how many requests of them were not begun. */
static int begin(takt_client *client, const takt_limit *limit, const char *key, int64_t slot_us,
                 int64_t unbegun, int64_t cost, int64_t actual_cost)
{
    takt_calling *calling = takt_call_new(client);

    if (!calling)
        return TAKT_E_NOMEM;
    calling->levels = (takt_levels){.limits = {limit}, .count = 1, .costs = {cost}};
    strcpy(calling->keys[0], key);
    calling->call.op = TAKT_OP_SETTLE;
    calling->call.requests = unbegun;
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
        (void)begin(client, permit->queue->limit, permit->queue->key, permit->slot_at_us,
                    shadow_waiter->unbegun, permit->cost, shadow_waiter->actual);
}

void takt_settle_unused(takt_client *client, const takt_queue *queue, const takt_run *unused)
{
    if (takt_policy_find(client->policy, queue->limit->name)) /* else it is gone: they lapse */
        (void)begin(client, queue->limit, queue->key, takt_run_slot(unused, 0), unused->count,
                    unused->count * unused->cost, 0);
}

void takt_settle_ticket(takt_client *client, const takt_limit *limit, const char *key,
                        int64_t slot_us, int64_t cost)
{
    (void)begin(client, limit, key, slot_us, 1, cost, 0);
}

/* Whether it was granted, and the real cost of its work was not told yet. */
static bool is_to_settle(const takt_permit *permit)
{
    return permit->slot_at_us != 0 || permit->uncharged || permit->shadow == TAKT_SHADOW_PASSED;
}

/* Whether each of them is an amount of a unit that one of the limits counts, NULL: of the cost. */
static bool are_valid(const takt_levels *levels, const takt_amount *used, int count)
{
    for (int i = 0; i < count; i++) {
        bool counted = false;
        for (int level = 0; level < levels->count; level++)
            counted |= strcmp(levels->limits[level]->unit, used[i].unit ? used[i].unit : "") == 0;
        if (!counted || used[i].amount < 0 || used[i].amount > TAKT_SETTLED_MAX)
            return false;
    }
    return true;
}

/* What the work has used of a limit; where nothing is said of its unit, what it took. */
static int64_t used_of(const takt_limit *limit, const takt_amount *used, int count, int64_t cost)
{
    if (count == 0)
        return 0;
    for (int i = 0; i < count; i++)
        if (strcmp(limit->unit, used[i].unit ? used[i].unit : "") == 0)
            return used[i].amount;
    return cost;
}

/* One level's part of it.  The slot is known of the outermost limit alone: the others only take
 * what is more. */
static int settle_one(const takt_permit *permit, const takt_limit *limit, const char *key,
                      int64_t cost, int64_t actual_cost, bool begun)
{
    bool less = actual_cost < cost || !begun;
    int64_t slot_us = permit->uncharged ? 0 : permit->slot_at_us;

    if (limit->access == TAKT_ACCESS_UNLIMITED)
        return 0;
    if ((actual_cost == cost && begun) || (limit->within && less))
        return 0;
    if (less && limit->mode == TAKT_MODE_SHADOW)
        slot_us = takt_shadow_settle(permit, actual_cost, !begun);
    if (less && slot_us == 0)
        return 0;
    return begin(permit->client, limit, key, slot_us, !begun, cost, actual_cost);
}

int takt_settle(takt_permit *permit, const takt_request *request, const takt_amount *used,
                int count)
{
    takt_levels levels;
    int code;

    if (!permit || !request || !permit->client || !is_to_settle(permit) || count < 0 ||
        (count > 0 && !used) ||
        (permit->state != TAKT_PERMIT_GRANTED && permit->state != TAKT_PERMIT_IDLE))
        return TAKT_E_INVALID;
    if (takt_client_is_forked(permit->client))
        return TAKT_E_FORKED;
    if (permit->client->closing)
        return TAKT_E_CANCELED;
    code = takt_request_check(permit->client->policy, NULL, &permit->client->key_secret, request,
                              &levels, NULL);
    if (code == 0)
        code = takt_request_costs(request, &levels, NULL);
    if (code < 0)
        return code;
    if (!are_valid(&levels, used, count))
        return TAKT_E_INVALID;
    for (int i = 0; i < levels.count; i++) {
        int64_t cost = i + 1 < levels.count ? levels.costs[i] : permit->cost;
        code = settle_one(permit, levels.limits[i], takt_request_key(request, &levels, i), cost,
                          used_of(levels.limits[i], used, count, cost), count > 0);
        if (code < 0)
            return code;
    }
    permit->slot_at_us = 0; /* once */
    permit->uncharged = false;
    permit->shadow = TAKT_SHADOW_NONE;
    return 0;
}
