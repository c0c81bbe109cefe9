/*
 * errand.c: single calls to a ledger: try, peek, watch, block, penalize, unblock, reset, settle,
 * lower.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "client/client.h"
#include "scheduler/claims.h"
#include "scheduler/loss.h"
#include "scheduler/permits.h"
#include "scheduler/registry.h"
#include "scheduler/shadow.h"
#include "scheduler/waiter.h"

static takt_errand *new_errand(takt_client *client)
{
    takt_errand *errand = client->spare_errands;

    if (errand)
        client->spare_errands = errand->next;
    else
        errand = malloc(sizeof *errand);
    return errand;
}

/* The innermost limit's number is the permit's, also where another one was tried first. */
static void choose_fence(const takt_errand *errand)
{
    takt_scheduler *scheduler = &errand->client->scheduler;
    takt_permit *permit = errand->permit;
    int level = 0;

    for (const takt_limit *at = errand->limit; at; at = at->within, level++) {
        const takt_queue *queue = takt_registry_find(scheduler, at, errand->keys[level]);
        for (int i = 0; i < permit->hold_count; i++)
            if (permit->holds[i].queue == queue) {
                permit->fence = permit->holds[i].fence;
                return;
            }
    }
}

/* What a try has made of its permit, which an answer that was kept waiting may have outlived. */
static void settle_permit(takt_errand *errand)
{
    takt_scheduler *scheduler = &errand->client->scheduler;

    if (errand->call.status == 0 && !takt_permits_are_held(errand->permit, takt_timer_now()))
        errand->call.status = TAKT_E_LEASE;
    if (errand->call.status == 0 && takt_client_is_forked(errand->client))
        errand->call.status = TAKT_E_FORKED;
    if (errand->call.status == 0 && errand->client->closing)
        errand->call.status = TAKT_E_CANCELED;
    if (errand->call.status == 0) {
        errand->permit->slot_at_us = errand->call.standing.now_us;
        if (errand->first != errand->limit)
            choose_fence(errand);
        takt_waiter_grant(scheduler, errand->permit);
    } else {
        errand->permit->uncharged = false;
        if (errand->call.status == TAKT_E_NO_SLOT)
            errand->permit->retry_after_us = errand->call.standing.retry_after_us;
        takt_shadow_vanish(scheduler, errand->permit);
        takt_waiter_release(scheduler, errand->permit);
    }
}

static void finish(takt_errand *errand)
{
    takt_client *client = errand->client;
    takt_call *owner = errand->owner;
    takt_standing standing;
    bool answered;
    int status;

    if (errand->permit)
        settle_permit(errand);
    status = errand->call.status;
    standing = status == 0 && errand->given ? errand->tightest : errand->call.standing;
    answered =
        (status == 0 || status == TAKT_E_NO_SLOT || status == TAKT_E_LEASE) && !errand->blind;
    if (owner)
        owner->errand = NULL;
    errand->next = client->spare_errands;
    client->spare_errands = errand;
    client->errands_in_flight--;
    takt_client_ask(client);
    if (owner)
        owner->callback(owner, status, answered ? &standing : NULL);
}

/* A queue of ours on this ledger hears of what we did at once. */
static void tell_queue(const takt_errand *errand)
{
    takt_scheduler *scheduler = &errand->client->scheduler;
    takt_queue *queue = takt_client_queue(errand->client, errand->limit, errand->keys[0]);

    if (queue)
        takt_scheduler_blocked(scheduler, queue, errand->call.standing.blocked_until_us);
}

static void send_now(takt_errand *errand)
{
    errand->client->stats.store_calls++;
    errand->sent_us = takt_timer_now();
    takt_store_submit(errand->client->store, &errand->call);
}

/* A try at a limit with permits states what is held of them, as claims do: one at a time. */
static bool is_held_up(takt_errand *errand)
{
    takt_scheduler *scheduler = &errand->client->scheduler;
    const takt_limit *limit = errand->call.limit;

    errand->queue = NULL;
    errand->call.claim = NULL;
    if (errand->call.op != TAKT_OP_TRY)
        return false;
    errand->claim = (takt_claim){.worker = scheduler->worker};
    errand->queue = takt_client_queue(errand->client, limit, errand->call.key);
    if (errand->queue && errand->queue->numbers->concurrency == 0)
        errand->queue = NULL;
    if (!errand->queue)
        return false;
    errand->call.claim = &errand->claim;
    errand->call.award = &errand->award;
    return !takt_claims_begin_try(scheduler, errand->queue, &errand->claim);
}

static void submit(takt_errand *errand, const takt_limit *limit)
{
    int level = 0;

    for (const takt_limit *at = errand->limit; at != limit; at = at->within)
        level++;
    errand->call.limit = limit;
    errand->call.numbers = &limit->numbers;
    errand->call.key = errand->keys[level];
    if (is_held_up(errand))
        takt_list_append(&errand->client->held_errands, &errand->link);
    else
        send_now(errand);
}

void takt_client_send_held(takt_client *client)
{
    takt_link held;

    takt_list_init(&held);
    takt_list_move(&held, &client->held_errands);
    while (!takt_list_empty(&held)) {
        takt_errand *errand = TAKT_HOLDER(held.next, takt_errand, link);
        takt_list_remove(&errand->link);
        submit(errand, errand->call.limit);
    }
}

/* The limit to take from after one was: from the inside out, passing over the one tried first. */
static const takt_limit *next_to_take(const takt_errand *errand, const takt_limit *taken)
{
    const takt_limit *next = taken == errand->first ? errand->limit : taken->within;

    return next && next == errand->first ? next->within : next;
}

/* With `within`: looks at every limit first.  Where one has too little, a try there tells when it
 * will have enough; else, or should it have enough by now, all are taken from. */
static bool goes_on(takt_errand *errand)
{
    takt_store_call *call = &errand->call;
    const takt_limit *next;
    bool suits;

    if (call->status != 0)
        return false;
    suits = call->standing.remaining >= call->cost || call->limit->mode == TAKT_MODE_SHADOW;
    if (errand->looking && suits && call->limit->within) {
        next = call->limit->within;
    } else if (errand->looking) {
        errand->looking = false;
        errand->first = suits ? errand->limit : call->limit;
        call->op = TAKT_OP_TRY;
        next = errand->first;
    } else {
        next = call->op == TAKT_OP_TRY ? next_to_take(errand, call->limit) : NULL;
    }
    if (next)
        submit(errand, next);
    return next != NULL;
}

/* A try that the store fails goes by each limit's on_store_failure, from the inside out.  True: it
 * is under way anew, since it had only looked yet, and there is nothing to see. */
static bool go_on_alone(takt_errand *errand)
{
    takt_scheduler *scheduler = &errand->client->scheduler;
    takt_store_call *call = &errand->call;
    takt_queue *queue;

    if (errand->looking && !errand->client->closing) {
        errand->looking = false;
        errand->first = errand->limit;
        call->op = TAKT_OP_TRY;
        submit(errand, errand->limit);
        return true;
    }
    queue =
        call->op == TAKT_OP_TRY ? takt_client_queue(errand->client, call->limit, call->key) : NULL;
    if (!queue)
        return false;
    call->status = takt_loss_try_alone(scheduler, queue, call->status, (int32_t)call->cost,
                                       takt_timer_now(), &call->standing);
    if (!call->limit->within) /* the one that would give back */
        errand->permit->uncharged = call->status == 0;
    return false;
}

/* How a call ended tells whether the store is there; but one that only looks may be answered where
 * nothing can be taken. */
static void note(takt_errand *errand)
{
    takt_client *client = errand->client;
    int status = errand->call.status == TAKT_E_NO_SLOT ? 0 : errand->call.status;

    if (status == 0 && errand->call.op == TAKT_OP_PEEK && errand->call.for_us == 0)
        return;
    if (status == 0)
        takt_loss_end(&client->scheduler);
    else
        takt_loss_begin(&client->scheduler, status, takt_timer_now());
    takt_client_note(client, status);
}

static bool is_in_shadow(const takt_errand *errand)
{
    return errand->call.op == TAKT_OP_TRY && errand->call.limit->mode == TAKT_MODE_SHADOW;
}

/* The ledger has permits of which our numbers do not know: no try that states nothing gets one. */
static void learn_of_permits(takt_errand *errand)
{
    const takt_store_call *call = &errand->call;
    takt_queue *queue;

    if (call->op != TAKT_OP_TRY || call->status != TAKT_E_NO_SLOT || errand->queue ||
        call->standing.concurrency == 0)
        return;
    queue = takt_client_queue(errand->client, call->limit, call->key);
    if (queue)
        takt_claims_outdated(&errand->client->scheduler, queue);
}

/* What a try was given is its permit's, or, of a limit in shadow, its shadow waiter's. */
static void take(takt_errand *errand)
{
    takt_scheduler *scheduler = &errand->client->scheduler;
    takt_store_call *call = &errand->call;
    bool told = call->status == 0 || call->status == TAKT_E_NO_SLOT;
    takt_permit *permit = errand->permit;
    takt_queue *queue;

    if (is_in_shadow(errand)) {
        queue = call->status == 0 ? takt_registry_queue(scheduler, call->limit, call->key) : NULL;
        permit = queue ? takt_shadow_try(scheduler, queue, permit, call->standing.now_us,
                                         takt_timer_now())
                       : NULL;
    }
    if (errand->queue)
        takt_claims_tried(scheduler, errand->queue, told ? &errand->award : NULL,
                             errand->sent_us, permit);
    if (permit && permit != errand->permit)
        takt_shadow_begin(scheduler, permit);
}

/* A limit in shadow lets every try pass, whatever came of it. */
static void pass_shadow(takt_errand *errand)
{
    takt_store_call *call = &errand->call;

    if (!is_in_shadow(errand) ||
        (call->status != 0 && call->status != TAKT_E_NO_SLOT && !takt_is_of_store(call->status)))
        return;
    takt_shadow_tried(&errand->client->scheduler, call->limit->name, call->status);
    errand->blind = takt_is_of_store(call->status);
    call->status = 0;
}

/* A try that all limits grant tells of the one that leaves least: the next to refuse. One in shadow
 * refuses nobody. */
static void compare_left(takt_errand *errand)
{
    const takt_standing *standing = &errand->call.standing;

    if (errand->call.op != TAKT_OP_TRY || errand->call.status != 0 || is_in_shadow(errand))
        return;
    if (!errand->given || standing->remaining < errand->tightest.remaining)
        errand->tightest = *standing;
    errand->given = true;
}

static void answered(takt_store_call *call)
{
    takt_errand *errand = (takt_errand *)call;

    takt_client_count(errand->client, call->status, errand->sent_us);
    take(errand);
    learn_of_permits(errand);
    note(errand);
    if (takt_is_of_store(call->status) && go_on_alone(errand))
        return;
    compare_left(errand);
    pass_shadow(errand);
    if (goes_on(errand))
        return;
    if (call->op != TAKT_OP_TRY && call->op != TAKT_OP_PEEK && call->op != TAKT_OP_SETTLE &&
        call->status == 0)
        tell_queue(errand);
    finish(errand);
}

/* `number` is for how long, and of LOWER how many are left. */
static int begin(takt_client *client, takt_call *owner, takt_permit *permit,
                 const takt_request *request, takt_op op, int64_t number, const char *reason,
                 takt_call_cb callback)
{
    const takt_limit *limit;
    takt_errand *errand;
    int code;

    if (!client || !owner || !callback)
        return TAKT_E_INVALID;
    if (takt_client_is_forked(client))
        return TAKT_E_FORKED;
    if (client->closing)
        return TAKT_E_CANCELED;
    if (owner->errand)
        return TAKT_E_BUSY;
    code = takt_client_check(client->policy, NULL, request, &limit, NULL);
    if (code < 0)
        return code;
    errand = new_errand(client);
    if (!errand)
        return TAKT_E_NOMEM;
    *errand = (takt_errand){.client = client, .owner = owner, .limit = limit};
    for (int i = 0; i < TAKT_LEVELS_MAX; i++)
        strcpy(errand->keys[i], takt_client_key(request, i)); /* their lengths were checked */
    errand->permit = permit;
    takt_list_init(&errand->link);
    errand->first = limit;
    errand->looking = op == TAKT_OP_TRY && limit->within;
    errand->call.op = errand->looking ? TAKT_OP_PEEK : op;
    errand->call.cost = request->cost;
    errand->call.for_us = errand->call.actual = number;
    strcpy(errand->reason, reason ? reason : ""); /* the same */
    errand->call.reason = errand->reason;
    errand->call.done = answered;
    owner->callback = callback;
    owner->errand = errand;
    client->errands_in_flight++;
    submit(errand, limit);
    return 0;
}

static int begin_plain(takt_client *client, takt_call *call, const char *limit, const char *key,
                       takt_op op, int64_t number, const char *reason, takt_call_cb callback)
{
    takt_request request = TAKT_REQUEST(limit);

    request.key = key;
    return begin(client, call, NULL, &request, op, number, reason, callback);
}

int takt_try_acquire(takt_client *client, takt_call *call, takt_permit *permit,
                     const takt_request *request, takt_call_cb callback)
{
    int code;

    if (!client || !request || !permit)
        return TAKT_E_INVALID;
    if (takt_client_is_forked(client))
        return TAKT_E_FORKED;
    if (permit->state != TAKT_PERMIT_IDLE)
        return TAKT_E_BUSY;
    permit->client = client;
    permit->cost = request->cost;
    permit->fence = permit->slot_at_us = permit->retry_after_us = 0;
    permit->shadow_count = permit->shadow = permit->uncharged = 0;
    takt_list_init(&permit->line);
    code = begin(client, call, permit, request, TAKT_OP_TRY, 0, NULL, callback);
    if (code == 0)
        permit->state = TAKT_PERMIT_TRYING;
    return code;
}

/* One limit's part of it. */
static int begin_settle(takt_client *client, const takt_limit *limit, const char *key,
                        int64_t slot_us, int64_t cost, int64_t actual_cost)
{
    takt_errand *errand = new_errand(client);

    if (!errand)
        return TAKT_E_NOMEM;
    *errand = (takt_errand){.client = client, .limit = limit, .first = limit};
    strcpy(errand->keys[0], key);
    takt_list_init(&errand->link);
    errand->call.op = TAKT_OP_SETTLE;
    errand->call.cost = cost;
    errand->call.slot_us = slot_us;
    errand->call.actual = actual_cost;
    errand->call.done = answered;
    client->errands_in_flight++;
    submit(errand, limit);
    return 0;
}

void takt_client_settle_ghost(takt_client *client, const takt_shadow_waiter *shadow_waiter)
{
    if (!client->closing)
        (void)begin_settle(client, shadow_waiter->permit.queue->limit,
                           shadow_waiter->permit.queue->key, shadow_waiter->permit.slot_at_us,
                           shadow_waiter->permit.cost, shadow_waiter->actual);
}

void takt_client_hand_back(takt_client *client, const takt_queue *queue, const takt_run *unused)
{
    const takt_limit *limit = takt_policy_find(client->policy, queue->limit->name);

    if (limit) /* else it is gone: they lapse */
        (void)begin_settle(client, limit, queue->key, takt_run_slot(unused, 0),
                           unused->count * unused->cost, 0);
}

/* Whether it was granted, and the real cost of its work was not told yet. */
static bool is_to_settle(const takt_permit *permit)
{
    return permit->slot_at_us != 0 || permit->uncharged || permit->shadow == TAKT_SHADOW_PASSED;
}

/* One limit's part of it.  The slot is known of the last limit alone: the others only take what is
 * more. */
static int settle_one(const takt_permit *permit, const takt_limit *limit, const char *key,
                      int64_t actual_cost)
{
    int64_t slot_us = permit->uncharged ? 0 : permit->slot_at_us;

    if (actual_cost == permit->cost || (limit->within && actual_cost < permit->cost))
        return 0;
    if (actual_cost < permit->cost && limit->mode == TAKT_MODE_SHADOW)
        slot_us = takt_shadow_settle(permit, actual_cost);
    if (actual_cost < permit->cost && slot_us == 0)
        return 0;
    return begin_settle(permit->client, limit, key, slot_us, permit->cost, actual_cost);
}

int takt_settle(takt_permit *permit, const takt_request *request, int64_t actual_cost)
{
    const takt_limit *limit;
    int code, level = 0;

    if (!permit || !request || !permit->client || !is_to_settle(permit) || actual_cost < 0 ||
        actual_cost > TAKT_SETTLED_MAX ||
        (permit->state != TAKT_PERMIT_GRANTED && permit->state != TAKT_PERMIT_IDLE))
        return TAKT_E_INVALID;
    if (takt_client_is_forked(permit->client))
        return TAKT_E_FORKED;
    if (permit->client->closing)
        return TAKT_E_CANCELED;
    code = takt_client_check(permit->client->policy, NULL, request, &limit, NULL);
    if (code < 0)
        return code;
    for (const takt_limit *at = limit; at; at = at->within) {
        code = settle_one(permit, at, takt_client_key(request, level++), actual_cost);
        if (code < 0)
            return code;
    }
    permit->slot_at_us = 0; /* once */
    permit->uncharged = false;
    permit->shadow = TAKT_SHADOW_NONE;
    return 0;
}

int takt_peek(takt_client *client, takt_call *call, const char *limit, const char *key,
              takt_call_cb callback)
{
    return begin_plain(client, call, limit, key, TAKT_OP_PEEK, 0, NULL, callback);
}

int takt_watch(takt_client *client, takt_call *call, const char *limit, const char *key,
               int64_t for_us, takt_call_cb callback)
{
    if (for_us < 1 || for_us > TAKT_WATCH_MAX_US)
        return TAKT_E_INVALID;
    return begin_plain(client, call, limit, key, TAKT_OP_PEEK, for_us, NULL, callback);
}

static int begin_block(takt_client *client, takt_call *call, const char *limit, const char *key,
                       takt_op op, int64_t for_us, const char *reason, takt_call_cb callback)
{
    if (for_us < 0 || for_us > TAKT_SPAN_MAX_US || takt_check_reason(reason, NULL) != 0)
        return TAKT_E_INVALID;
    return begin_plain(client, call, limit, key, op, for_us, reason, callback);
}

int takt_block(takt_client *client, takt_call *call, const char *limit, const char *key,
               int64_t for_us, const char *reason, takt_call_cb callback)
{
    return begin_block(client, call, limit, key, TAKT_OP_BLOCK, for_us, reason, callback);
}

int takt_penalize(takt_client *client, takt_call *call, const char *limit, const char *key,
                  int64_t for_us, const char *reason, takt_call_cb callback)
{
    return begin_block(client, call, limit, key, TAKT_OP_PENALIZE, for_us, reason, callback);
}

int takt_lower(takt_client *client, takt_call *call, const char *limit, const char *key,
               int64_t remaining, takt_call_cb callback)
{
    if (remaining < 0)
        return TAKT_E_INVALID;
    if (remaining > TAKT_SETTLED_MAX)
        remaining = TAKT_SETTLED_MAX; /* as good as all */
    return begin_plain(client, call, limit, key, TAKT_OP_LOWER, remaining, NULL, callback);
}

int takt_unblock(takt_client *client, takt_call *call, const char *limit, const char *key,
                 takt_call_cb callback)
{
    return begin_plain(client, call, limit, key, TAKT_OP_UNBLOCK, 0, NULL, callback);
}

int takt_reset(takt_client *client, takt_call *call, const char *limit, const char *key,
               takt_call_cb callback)
{
    return begin_plain(client, call, limit, key, TAKT_OP_RESET, 0, NULL, callback);
}
