/*
 * call.c: see call.h.  It also has the calls that are one question and its answer: peek, watch,
 * block, penalize, lower, unblock, reset.
 */
#include "client/call.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/integers.h"
#include "policy/unit_text.h"
#include "scheduler/loss.h"
#include "scheduler/order.h"
#include "scheduler/registry.h"
#include "scheduler/scheduler.h"

/* ---- answers --------------------------------------------------------------------------------- */

/* A store that refuses writes may still answer a peek, so a peek does not show that it is back. */
void takt_call_note(takt_calling *calling)
{
    takt_client *client = calling->client;
    takt_server *server = takt_servers_get(&client->scheduler.servers, calling->call.server);
    int status = calling->call.status == TAKT_E_NO_SLOT ? 0 : calling->call.status;

    if (status == 0 && calling->call.op == TAKT_OP_PEEK && calling->call.for_us == 0)
        return;
    if (status == 0)
        takt_loss_end(&client->scheduler, server);
    else
        takt_loss_begin(&client->scheduler, server, status, takt_timer_now());
    takt_client_note(client, calling->call.server, status);
}

void takt_call_finish(takt_calling *calling, const takt_standing *standing)
{
    takt_client *client = calling->client;
    takt_call *owner = calling->owner;
    int status = calling->call.status;
    takt_tenant_standing *tenants = calling->call.tenants;
    bool answered = status == 0 || status == TAKT_E_NO_SLOT || status == TAKT_E_LEASE;
    takt_standing told;

    answered = answered && standing;
    if (answered)
        told = *standing; /* the callback may begin another call in this memory */
    if (owner)
        owner->calling = NULL;
    calling->next = client->calls.spare;
    client->calls.spare = calling;
    client->calls.in_flight--;
    client->calls.detached -= calling->detached;
    takt_client_ask(client);
    if (owner)
        owner->callback(owner, status, answered ? &told : NULL);
    free(tenants);
}

void takt_call_name_units(takt_calling *calling)
{
    takt_standing *standing = &calling->call.standing;

    for (int i = 0; i < standing->rule_count * TAKT_UNITS; i++) {
        takt_rule_standing *rule = &standing->rules[i / TAKT_UNITS];
        takt_unit unit = (takt_unit)(i % TAKT_UNITS);
        const char *name = takt_unit_name_in(takt_store_told_limit(&calling->call), unit);
        if (name[0] && rule->unit == takt_unit_name(unit))
            rule->unit = name;
    }
}

/* Our own queues for this ledger learn at once what this call has changed.  Nested ones may also be
 * blocked by another limit. */
static void tell_queue(const takt_calling *calling)
{
    takt_scheduler *scheduler = &calling->client->scheduler;
    const takt_store_call *call = &calling->call;
    takt_queue *queue = takt_client_queue(calling->client, call->limit, call->key, NULL, 1);

    for (; queue; queue = takt_registry_next(scheduler, call->limit->name, call->key, queue))
        takt_scheduler_blocked(scheduler, queue, call->standing.blocked_until_us);
    while ((queue = takt_nest_next(scheduler, call->limit->name, call->key, queue))) {
        takt_order_unpark(scheduler, queue);
        takt_scheduler_blocked(
            scheduler, queue,
            takt_max(queue->awarded.blocked_until_us, call->standing.blocked_until_us));
    }
}

static void answered(takt_store_call *call)
{
    takt_calling *calling = (takt_calling *)call;

    takt_client_count(calling->client, call->status, calling->sent_us);
    takt_call_name_units(calling);
    takt_call_note(calling);
    if (call->status == 0 && call->op == TAKT_OP_SETTLE && call->tenant)
        takt_order_corrected(&calling->client->scheduler, call->limit->name, call->key,
                             call->tenant, call->priority, call->tag_change);
    else if (call->status == 0 && call->op != TAKT_OP_PEEK && call->op != TAKT_OP_SETTLE)
        tell_queue(calling);
    takt_call_finish(calling, &call->standing);
}

/* ---- sending --------------------------------------------------------------------------------- */

takt_calling *takt_call_new(takt_client *client)
{
    takt_calling *calling = client->calls.spare;

    if (calling)
        client->calls.spare = calling->next;
    else
        calling = malloc(sizeof *calling);
    if (!calling)
        return NULL;
    memset(calling, 0, offsetof(takt_calling, tenant));
    calling->call.done = answered;
    calling->client = client;
    client->calls.in_flight++;
    return calling;
}

int takt_call_begin(takt_calling **calling, takt_client *client, takt_call *owner,
                    const takt_request *request, bool is_work, takt_call_cb callback)
{
    takt_calling *made;
    takt_demand demand;
    takt_path path;
    int code;

    if (!client || (owner == NULL) != (callback == NULL))
        return TAKT_E_INVALID;
    if (takt_client_is_forked(client))
        return TAKT_E_FORKED;
    if (client->closing)
        return TAKT_E_CANCELED;
    if (owner ? owner->calling != NULL : client->calls.detached >= TAKT_DETACHED_MAX)
        return TAKT_E_BUSY;
    code = takt_request_check(client->policy, NULL, &client->key_secret, request, &demand, NULL);
    if (code == 0 && is_work)
        code = takt_request_admit(request, &demand, NULL);
    if (code == 0 && is_work)
        code = takt_acquire_path(client, request, &demand, &path);
    if (code < 0)
        return code;
    made = takt_call_new(client);
    if (!made)
        return TAKT_E_NOMEM;
    made->owner = owner;
    if (is_work)
        made->trying.path = path;
    else
        takt_call_aim(made, demand.limits[0], takt_request_key(request, &demand, 0));
    made->detached = !owner;
    client->calls.detached += made->detached;
    if (owner) {
        owner->callback = callback;
        owner->calling = made;
    }
    *calling = made;
    return 0;
}

void takt_call_aim(takt_calling *calling, const takt_limit *limit, const char *key)
{
    calling->call.limit = limit;
    calling->call.numbers = &limit->numbers;
    calling->call.key = strcpy(calling->key, key); /* its length was checked */
}

void takt_call_send(takt_calling *calling)
{
    calling->client->stats.store_calls++;
    calling->sent_us = takt_timer_now();
    takt_store_submit(calling->client->store, &calling->call);
}

/* ---- one question and its answer ------------------------------------------------------------- */

/* What each kind asks of a ledger, and the numbers that it allows. */
static const struct {
    takt_op op;
    int64_t min, max;
} kinds[] = {
    [TAKT_CALL_PEEK] = {TAKT_OP_PEEK, 0, 0},
    [TAKT_CALL_WATCH] = {TAKT_OP_PEEK, 1, TAKT_WATCH_MAX_US},
    [TAKT_CALL_BLOCK] = {TAKT_OP_BLOCK, 0, TAKT_SPAN_MAX_US},
    [TAKT_CALL_PENALIZE] = {TAKT_OP_PENALIZE, 0, TAKT_SPAN_MAX_US},
    [TAKT_CALL_LOWER] = {TAKT_OP_LOWER, 0, INT64_MAX},
    [TAKT_CALL_UNBLOCK] = {TAKT_OP_UNBLOCK, 0, 0},
    [TAKT_CALL_RESET] = {TAKT_OP_RESET, 0, 0},
};

/* The unit of that name (NULL: the unit of the standing); -1: no rule of the limit counts it. */
static int unit_of(const takt_client *client, const char *limit, const char *name)
{
    const takt_limit *found = limit ? takt_policy_find(client->policy, limit) : NULL;
    bool counted[TAKT_UNITS] = {false};
    int unit;

    for (int i = 0; found && i < found->numbers.rule_count; i++)
        counted[found->numbers.rules[i].unit] = true;
    if (!name)
        return counted[TAKT_UNIT_REQUESTS] && !counted[TAKT_UNIT_TOKENS] ? TAKT_UNIT_REQUESTS
                                                                         : TAKT_UNIT_TOKENS;
    unit = found ? takt_unit_named_in(found, name) : -1;
    if (found && !found->unit[0] && strcmp(name, "tokens") == 0)
        unit = TAKT_UNIT_TOKENS;
    return unit >= 0 && counted[unit] ? unit : -1;
}

int takt_call_ask(takt_client *client, takt_call *call, takt_call_kind kind, const char *limit,
                  const char *key, int64_t number, const char *text, takt_call_cb callback)
{
    takt_request request = TAKT_REQUEST(limit);
    bool lowers = kind == TAKT_CALL_LOWER;
    takt_tenant_standing *tenants = NULL;
    takt_calling *calling;
    int code, unit = lowers && client ? unit_of(client, limit, text) : TAKT_UNIT_TOKENS;

    if (number < kinds[kind].min || number > kinds[kind].max ||
        takt_check_reason(lowers ? NULL : text, NULL) != 0)
        return TAKT_E_INVALID;
    if (!call && kinds[kind].op == TAKT_OP_PEEK) /* a peek without a callback is useless */
        return TAKT_E_INVALID;
    if (unit < 0)
        return TAKT_E_INVALID;
    if (lowers)
        number = takt_min(number, TAKT_SETTLED_MAX); /* a higher number has the same effect */
    if (kinds[kind].op == TAKT_OP_PEEK) {
        tenants = malloc(TAKT_TENANTS_MAX * sizeof *tenants);
        if (!tenants)
            return TAKT_E_NOMEM;
    }
    request.key = key;
    code = takt_call_begin(&calling, client, call, &request, false, callback);
    if (code < 0) {
        free(tenants);
        return code;
    }
    calling->call.op = kinds[kind].op;
    calling->call.tenants = tenants;
    calling->call.for_us = number;
    calling->call.actual = unit == TAKT_UNIT_TOKENS ? number : -1;
    calling->call.requests = unit == TAKT_UNIT_REQUESTS ? number : -1;
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        calling->call.actual_more[i] = unit == TAKT_UNIT_MORE + i ? number : -1;
    strcpy(calling->reason, text && !lowers ? text : ""); /* the length was checked */
    calling->call.reason = calling->reason;
    takt_call_send(calling);
    return 0;
}

int takt_peek(takt_client *client, takt_call *call, const char *limit, const char *key,
              takt_call_cb callback)
{
    return takt_call_ask(client, call, TAKT_CALL_PEEK, limit, key, 0, NULL, callback);
}

int takt_watch(takt_client *client, takt_call *call, const char *limit, const char *key,
               int64_t for_us, takt_call_cb callback)
{
    return takt_call_ask(client, call, TAKT_CALL_WATCH, limit, key, for_us, NULL, callback);
}

int takt_block(takt_client *client, takt_call *call, const char *limit, const char *key,
               int64_t for_us, const char *reason, takt_call_cb callback)
{
    return takt_call_ask(client, call, TAKT_CALL_BLOCK, limit, key, for_us, reason, callback);
}

int takt_penalize(takt_client *client, takt_call *call, const char *limit, const char *key,
                  int64_t for_us, const char *reason, takt_call_cb callback)
{
    return takt_call_ask(client, call, TAKT_CALL_PENALIZE, limit, key, for_us, reason, callback);
}

int takt_lower(takt_client *client, takt_call *call, const char *limit, const char *key,
               const char *unit, int64_t remaining, takt_call_cb callback)
{
    return takt_call_ask(client, call, TAKT_CALL_LOWER, limit, key, remaining, unit, callback);
}

int takt_unblock(takt_client *client, takt_call *call, const char *limit, const char *key,
                 takt_call_cb callback)
{
    return takt_call_ask(client, call, TAKT_CALL_UNBLOCK, limit, key, 0, NULL, callback);
}

int takt_reset(takt_client *client, takt_call *call, const char *limit, const char *key,
               takt_call_cb callback)
{
    return takt_call_ask(client, call, TAKT_CALL_RESET, limit, key, 0, NULL, callback);
}
