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
    takt_call_aim(calling, limit, key);
    calling->call.op = TAKT_OP_SETTLE;
    calling->call.cost = taken.of[TAKT_UNIT_TOKENS];
    memcpy(calling->call.more, &taken.of[TAKT_UNIT_MORE], sizeof calling->call.more);
    calling->call.requests = taken.of[TAKT_UNIT_REQUESTS];
    calling->call.slot_us = slot_us;
    calling->call.actual = used.of[TAKT_UNIT_TOKENS];
    memcpy(calling->call.actual_more, &used.of[TAKT_UNIT_MORE], sizeof calling->call.actual_more);
    if (payer.tenant) {
        calling->call.tenant = strcpy(calling->tenant, payer.tenant); /* its length was checked */
        calling->call.tenant_weight = payer.weight;
        calling->call.priority = payer.priority;
    }
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

static bool differ(takt_amounts a, takt_amounts b)
{
    for (int unit = 0; unit < TAKT_UNITS; unit++)
        if (a.of[unit] != b.of[unit])
            return true;
    return false;
}

/* One level of what a shadow waiter's work has used. */
static void settle_part(takt_client *client, const takt_shadow_waiter *shadow_waiter,
                        const takt_limit *limit, const char *key, takt_unit_map map,
                        takt_payer payer)
{
    const takt_permit *permit = &shadow_waiter->permit;
    const int64_t *used = shadow_waiter->used.of;
    takt_more more = {{(int32_t)used[TAKT_UNIT_MORE], (int32_t)used[TAKT_UNIT_MORE + 1],
                       (int32_t)used[TAKT_UNIT_MORE + 2]}};
    takt_run took = takt_run_at(permit->slot_at_us, 1, permit->cost, permit->more);
    takt_run kept = takt_run_at(permit->slot_at_us, 1, (int32_t)used[TAKT_UNIT_TOKENS], more);
    takt_amounts taken, left = nothing;

    took = takt_chain_part(&limit->numbers, map, took);
    kept = takt_chain_part(&limit->numbers, map, kept);
    taken = taken_for(took.cost, took.more, 1, shadow_waiter->unbegun);
    if (!shadow_waiter->unbegun)
        left = taken_for(kept.cost, kept.more, 1, 0);
    if (differ(left, taken))
        (void)begin(client, limit, key, payer, permit->slot_at_us, taken, left);
}

void takt_settle_shadow(takt_client *client, const takt_shadow_waiter *shadow_waiter)
{
    const takt_permit *permit = &shadow_waiter->permit;
    const takt_queue *queue = permit->queue;

    if (client->closing)
        return;
    for (int i = 0; queue->nest && i < queue->nest->count; i++) {
        const takt_inner *inner = &queue->nest->inner[i];
        settle_part(client, shadow_waiter, inner->limit, inner->key, inner->units,
                    payer_inside(queue, i, permit->priority));
    }
    settle_part(client, shadow_waiter, queue->limit, queue->key, TAKT_UNIT_MAP_PLAIN,
                payer_of(queue, permit->priority));
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
    takt_run part = takt_chain_part(&queue->limit->numbers, TAKT_UNIT_MAP_PLAIN, *unused);

    for (int i = 0; queue->nest && i < queue->nest->count; i++) {
        const takt_inner *inner = &queue->nest->inner[i];
        takt_run inner_part = takt_chain_part(&inner->limit->numbers, inner->units, *unused);
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
    return permit->slot_at_us != 0 || permit->uncharged;
}

/* The unit of a limit that an amount is of; -1: of none. */
static int unit_of(const takt_limit *limit, const takt_amount *amount)
{
    int unit = takt_unit_named_in(limit, amount->unit ? amount->unit : "");

    return unit == TAKT_UNIT_REQUESTS ? -1 : unit;
}

/* Whether each of them is an amount of a unit that one of the limits counts, NULL: of the cost. */
static bool are_valid(const takt_demand *demand, const takt_amount *used, int count)
{
    for (int i = 0; i < count; i++) {
        bool counted = false;
        for (int level = 0; level < demand->count; level++)
            counted |= unit_of(demand->limits[level], &used[i]) >= 0;
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

/* What one level has taken for the work, and what the work has used of it. */
typedef struct takt_part {
    takt_amounts taken, used;
    bool in_shadow; /* its shadow waiter takes */
    bool gave;      /* the work's slot is one of this limit */
} takt_part;

/* Where one claim decides about limits in shadow, its amounts are those of the chain: what the work
 * has used is noted in these. */
static void note_shadow(takt_permit *permit, const takt_request *request, const takt_demand *demand,
                        const takt_part *parts, bool begun)
{
    const takt_queue *queue = takt_shadow_queue(permit);
    takt_chain chain = {.count = 0};
    bool less = false;
    int32_t cost;
    takt_more more;

    for (int i = 0; queue && i < demand->count; i++) {
        takt_amounts used = least(parts[i].used, parts[i].taken);
        if (!takt_shadow_covers(permit, demand->limits[i]->name))
            continue;
        less |= differ(used, parts[i].taken);
        chain.limits[chain.count] = demand->limits[i];
        chain.keys[chain.count] = takt_request_key(request, demand, i);
        chain.costs[chain.count] = used.of[TAKT_UNIT_TOKENS];
        for (int j = 0; j < TAKT_MORE_MAX; j++)
            chain.more[chain.count].of[j] = (int32_t)used.of[TAKT_UNIT_MORE + j];
        chain.count++;
    }
    if (!less || chain.count != 1 + (queue->nest ? queue->nest->count : 0) ||
        (queue->nest && !takt_nest_continues(queue->nest, &chain)))
        return; /* the policy has other levels since, and the estimate stands */
    if (takt_chain_take(&chain, &cost, &more))
        takt_shadow_note(permit, takt_amounts_of(cost, more), !begun);
}

/* The slot that a level gave; 0: it is not known. */
static int64_t slot_of(const takt_permit *permit, const takt_part *part, const char *limit)
{
    if (part->in_shadow)
        return takt_shadow_covers(permit, limit) ? takt_shadow_slot(permit) : 0;
    return part->gave && !permit->uncharged ? permit->slot_at_us : 0;
}

/* The part of one level.  Without a slot there is nothing to give back to: the excess is charged.
 */
static int settle_one(const takt_permit *permit, const takt_limit *limit, const char *key,
                      takt_payer payer, int64_t slot_us, const takt_part *part)
{
    takt_amounts used = part->used;

    for (int unit = 0; unit < TAKT_UNITS && slot_us == 0; unit++)
        used.of[unit] = takt_max(used.of[unit], part->taken.of[unit]);
    return differ(used, part->taken)
               ? begin(permit->client, limit, key, payer, slot_us, part->taken, used)
               : 0;
}

/* Finds the levels that gave the work's slot.  If a newer policy has more levels, the innermost
 * ones gave it. */
static void find_givers(const takt_permit *permit, const takt_demand *demand, takt_part *parts)
{
    int left = permit->levels;

    for (int i = 0; i < demand->count; i++) {
        const takt_limit *limit = demand->limits[i];
        parts[i].in_shadow =
            limit->mode == TAKT_MODE_SHADOW || takt_shadow_covers(permit, limit->name);
        parts[i].gave = !parts[i].in_shadow && limit->access != TAKT_ACCESS_UNLIMITED && left-- > 0;
    }
}

/* Whether one decision was about the work at a level and others. */
static bool is_nested(const takt_permit *permit, const takt_limit *limit)
{
    return limit->mode == TAKT_MODE_SHADOW ? takt_shadow_is_nested(permit) : permit->levels > 1;
}

/* The levels that one decision was about with that one, the innermost first.  Returns how many
 * there are. */
static int list_levels(const takt_demand *demand, int level, int levels[TAKT_LEVELS_MAX])
{
    int count = 0;

    for (int i = 0; i < demand->count; i++)
        if (demand->limits[i]->mode == demand->limits[level]->mode &&
            demand->limits[i]->access == TAKT_ACCESS_LIMITED)
            levels[count++] = i;
    return count;
}

static void name_subject(const takt_request *request, const takt_demand *demand, const int *levels,
                         int count, char subject[TAKT_TENANT_SIZE_MAX + 1])
{
    takt_chain chain = {.count = count};

    for (int i = 0; i < count; i++) {
        chain.limits[i] = demand->limits[levels[i]];
        chain.keys[i] = takt_request_key(request, demand, levels[i]);
    }
    takt_nest_name_subject(subject, &chain);
}

/* For whom a level's part of the work was.  With key_hash a name has another hash in each limit. On
 * all levels with tenants that one decision was about the work has that of the outermost of them.
 * If the outermost level has no tenants, the keys inside are its tenants: `subject` gets their
 * name. */
static const char *payer_at(const takt_permit *permit, const takt_request *request,
                            const takt_demand *demand, int level, int32_t *weight,
                            char subject[TAKT_TENANT_SIZE_MAX + 1])
{
    int levels[TAKT_LEVELS_MAX];
    int count = is_nested(permit, demand->limits[level]) ? list_levels(demand, level, levels) : 0;
    const char *tenant = takt_request_tenant(request, demand, level, weight);

    if (!tenant && count > 1 && levels[count - 1] == level) {
        name_subject(request, demand, levels, count, subject);
        return subject;
    }
    while (count > 0 && demand->limits[levels[count - 1]]->fair == TAKT_FAIR_WORKER)
        count--;
    return tenant && count > 0 ? takt_request_tenant(request, demand, levels[count - 1], weight)
                               : tenant;
}

/* Settles all levels. */
static int settle_all(takt_permit *permit, const takt_request *request, const takt_demand *demand,
                      const takt_amount *used, int count)
{
    takt_payer payer = {.priority = permit->priority};
    char subject[TAKT_TENANT_SIZE_MAX + 1];
    takt_part parts[TAKT_LEVELS_MAX];
    int code = 0;

    find_givers(permit, demand, parts);
    for (int i = 0; i < demand->count; i++) {
        bool own = (parts[i].gave || demand->count == 1) && permit->levels <= 1;
        parts[i].taken =
            taken_for(own ? permit->cost : demand->costs[i],
                      own ? permit->more : takt_request_more(demand, i), 1, count == 0);
        parts[i].used = used_of(demand->limits[i], used, count, parts[i].taken);
    }
    note_shadow(permit, request, demand, parts, count > 0);
    for (int i = 0; code == 0 && i < demand->count; i++) {
        const takt_limit *limit = demand->limits[i];
        if (limit->access == TAKT_ACCESS_UNLIMITED)
            continue;
        payer.tenant = payer_at(permit, request, demand, i, &payer.weight, subject);
        code = settle_one(permit, limit, takt_request_key(request, demand, i), payer,
                          slot_of(permit, &parts[i], limit->name), &parts[i]);
    }
    return code;
}

int takt_settle(takt_permit *permit, const takt_request *request, const takt_amount *used,
                int count)
{
    takt_demand demand;
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
                              &demand, NULL);
    if (code == 0)
        code = takt_request_costs(request, &demand, NULL);
    if (code < 0)
        return code;
    if (!are_valid(&demand, used, count))
        return TAKT_E_INVALID;
    code = settle_all(permit, request, &demand, used, count);
    if (code < 0)
        return code;
    permit->slot_at_us = 0; /* once */
    permit->uncharged = false;
    return 0;
}
