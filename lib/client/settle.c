/*
 * settle.c: reports the real cost of finished work to the ledgers.  A ledger takes the rest of a
 * higher cost.  It gives unused cost back if the slot is known.
 */
#include "client/settle.h"

#include <string.h>

#include "client/call.h"
#include "client/request.h"
#include "policy/unit_text.h"
#include "scheduler/nest.h"
#include "scheduler/turns.h"
#include "shadow/shadow.h"

/* For whom work was; tenant NULL: the limit has no tenants. */
typedef struct takt_payer {
    const char *tenant;
    int32_t weight;
    int priority;
} takt_payer;

/* One limit's part of it: what was taken, with the number of requests that were not begun, and what
 * was used. */
static int begin(takt_client *client, const takt_limit *limit, const char *key, takt_payer payer,
                 int64_t slot_us, takt_amounts taken, takt_amounts used)
{
    takt_calling *calling = takt_call_new(client);

    if (!calling)
        return TAKT_E_NOMEM;
    calling->levels =
        (takt_levels){.limits = {limit}, .count = 1, .costs = {taken.of[TAKT_UNIT_TOKENS]}};
    memcpy(calling->levels.more[0], &taken.of[TAKT_UNIT_MORE], sizeof calling->levels.more[0]);
    strcpy(calling->keys[0], key);
    calling->call.op = TAKT_OP_SETTLE;
    calling->call.requests = taken.of[TAKT_UNIT_REQUESTS];
    calling->call.slot_us = slot_us;
    calling->call.actual = used.of[TAKT_UNIT_TOKENS];
    memcpy(calling->call.actual_more, &used.of[TAKT_UNIT_MORE], sizeof calling->call.actual_more);
    if (payer.tenant) {
        strcpy(calling->tenants[0].name, payer.tenant); /* its length was checked */
        calling->call.tenant = calling->tenants[0].name;
        calling->call.tenant_weight = payer.weight;
        calling->call.priority = payer.priority;
    }
    takt_call_aim(calling, 0);
    takt_call_send(calling);
    return 0;
}

/* The tenant of a queue, for work of that priority. */
static takt_payer payer_of(const takt_queue *queue, int priority)
{
    return (takt_payer){takt_turns_tenant(queue), queue->turn ? queue->turn->weight : 1, priority};
}

/* The same in the line of an inner level. */
static takt_payer payer_inside(const takt_queue *queue, int level, int priority)
{
    int32_t weight = 1;
    const char *tenant = NULL;

    if (queue->nest->inner[level].limit->fair != TAKT_FAIR_WORKER)
        tenant = takt_nest_tenant(queue, level, &weight);
    return (takt_payer){tenant, weight, priority};
}

static const takt_amounts nothing = {{0}};

/* What was taken for `count` requests, of which `unbegun` were not begun. */
static takt_amounts taken_for(int64_t cost, takt_more more, int64_t count, int64_t unbegun)
{
    takt_amounts taken = {{count * cost, unbegun}};

    for (int i = 0; i < TAKT_MORE_MAX; i++)
        taken.of[TAKT_UNIT_MORE + i] = count * more.of[i];
    return taken;
}

void takt_settle_shadow(takt_client *client, const takt_shadow_waiter *shadow_waiter)
{
    const takt_permit *permit = &shadow_waiter->permit;
    takt_amounts taken = taken_for(permit->cost, permit->more, 1, shadow_waiter->unbegun);
    takt_amounts used = shadow_waiter->unbegun ? nothing : shadow_waiter->used;

    if (!client->closing)
        (void)begin(client, permit->queue->limit, permit->queue->key,
                    payer_of(permit->queue, permit->priority), permit->slot_at_us, taken, used);
}

static void give_back(takt_client *client, const takt_limit *limit, const char *key,
                      takt_payer payer, const takt_run *unused)
{
    if (takt_client_limit(client, limit->name)) /* else it is gone: they lapse */
        (void)begin(client, limit, key, payer, takt_run_slot(unused, 0),
                    taken_for(unused->cost, unused->more, unused->count, unused->count), nothing);
}

/* Every level of a queue takes back slots that were for work of that priority. */
static void give_back_all(takt_client *client, const takt_queue *queue, int priority,
                          const takt_run *unused)
{
    takt_run part = takt_nest_part(&queue->limit->numbers, TAKT_UNIT_MAP_PLAIN, *unused);

    for (int i = 0; queue->nest && i < queue->nest->count; i++) {
        const takt_inner *inner = &queue->nest->inner[i];
        takt_run inner_part = takt_nest_part(&inner->limit->numbers, inner->units, *unused);
        give_back(client, inner->limit, inner->key, payer_inside(queue, i, priority), &inner_part);
    }
    give_back(client, queue->limit, queue->key, payer_of(queue, priority), &part);
}

void takt_settle_unused(takt_client *client, const takt_queue *queue, const takt_run *unused)
{
    give_back_all(client, queue, queue->claims.foremost, unused);
}

void takt_settle_ticket(takt_client *client, const takt_queue *queue, const takt_permit *permit)
{
    takt_run unused = takt_run_at(permit->slot_at_us, 1, permit->cost, permit->more);

    give_back_all(client, queue, permit->priority, &unused);
}

/* Whether it was granted, and its real cost was not reported yet. */
static bool is_to_settle(const takt_permit *permit)
{
    return permit->slot_at_us != 0 || permit->uncharged || permit->shadow == TAKT_SHADOW_PASSED;
}

/* The unit of a limit that an amount is of; -1: of none. */
static int unit_of(const takt_limit *limit, const takt_amount *amount)
{
    int unit = takt_unit_named_in(limit, amount->unit ? amount->unit : "");

    return unit == TAKT_UNIT_REQUESTS ? -1 : unit;
}

/* Whether each of them is an amount of a unit that one of the limits counts, NULL: of the cost. */
static bool are_valid(const takt_levels *levels, const takt_amount *used, int count)
{
    for (int i = 0; i < count; i++) {
        bool counted = false;
        for (int level = 0; level < levels->count; level++)
            counted |= unit_of(levels->limits[level], &used[i]) >= 0;
        if (!counted || used[i].amount < 0 || used[i].amount > TAKT_SETTLED_MAX)
            return false;
    }
    return true;
}

/* What the work has used of a limit; of units that were not stated, what it took. */
static takt_amounts used_of(const takt_limit *limit, const takt_amount *used, int count,
                            takt_amounts taken)
{
    if (count == 0)
        return nothing;
    for (int i = 0; i < count; i++) {
        int unit = unit_of(limit, &used[i]);
        if (unit >= 0)
            taken.of[unit] = used[i].amount;
    }
    return taken;
}

/* The lower amount of each unit. */
static takt_amounts least(takt_amounts a, takt_amounts b)
{
    for (int unit = 0; unit < TAKT_UNITS; unit++)
        a.of[unit] = takt_min(a.of[unit], b.of[unit]);
    return a;
}

/* The part of one level.  Of limits that were passed one after the other the slot is known for the
 * outermost alone: the others only charge the excess. */
static int settle_one(const takt_permit *permit, const takt_limit *limit, const char *key,
                      takt_payer payer, takt_amounts taken, takt_amounts used, bool begun)
{
    int64_t slot_us = permit->uncharged ? 0 : permit->slot_at_us;
    bool less = !begun, more = false, unknown = limit->within && !permit->nested;

    if (limit->access == TAKT_ACCESS_UNLIMITED)
        return 0;
    for (int unit = 0; unit < TAKT_UNITS; unit++) {
        if (unknown && begun) /* such an inner limit takes nothing back */
            used.of[unit] = takt_max(used.of[unit], taken.of[unit]);
        less |= used.of[unit] < taken.of[unit];
        more |= used.of[unit] > taken.of[unit];
    }
    if ((!less && !more) || (unknown && less))
        return 0;
    if (less && limit->mode == TAKT_MODE_SHADOW) /* what exceeds the slot is charged below */
        slot_us = takt_shadow_settle(permit, least(used, taken), !begun);
    if (less && slot_us == 0 && !more)
        return 0;
    if (less && slot_us == 0) /* there is no slot to give back to */
        for (int unit = 0; unit < TAKT_UNITS; unit++)
            used.of[unit] = takt_max(used.of[unit], taken.of[unit]);
    return begin(permit->client, limit, key, payer, slot_us, taken, used);
}

/* For whom a level's part of the work was.  On all levels with tenants nested work has that of the
 * outermost one of them: with key_hash a name has another hash in each limit. */
static const char *payer_at(const takt_permit *permit, const takt_request *request,
                            const takt_levels *levels, int level, int32_t *weight)
{
    int of = level;

    if (permit->nested && levels->limits[level]->fair != TAKT_FAIR_WORKER)
        for (int i = level + 1; i < levels->count; i++)
            if (levels->limits[i]->fair != TAKT_FAIR_WORKER &&
                levels->limits[i]->access == TAKT_ACCESS_LIMITED)
                of = i;
    return takt_request_tenant(request, levels, of, weight);
}

int takt_settle(takt_permit *permit, const takt_request *request, const takt_amount *used,
                int count)
{
    takt_payer payer = {.priority = permit ? permit->priority : 0};
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
        bool last = i + 1 == levels.count;
        takt_amounts taken = taken_for(
            last && !permit->nested ? permit->cost : levels.costs[i],
            last && !permit->nested ? permit->more : takt_request_more(&levels, i), 1, count == 0);
        payer.tenant = payer_at(permit, request, &levels, i, &payer.weight);
        code = settle_one(permit, levels.limits[i], takt_request_key(request, &levels, i), payer,
                          taken, used_of(levels.limits[i], used, count, taken), count > 0);
        if (code < 0)
            return code;
    }
    permit->slot_at_us = 0; /* once */
    permit->uncharged = false;
    permit->shadow = TAKT_SHADOW_NONE;
    return 0;
}
