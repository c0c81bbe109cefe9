/*
 * worker.c: see worker.h.
 */
#include "simulate/worker.h"

#include "base/integers.h"
#include "base/random.h"
#include "scheduler/claims.h"
#include "scheduler/driver.h"
#include "scheduler/loss.h"
#include "scheduler/nest.h"
#include "scheduler/order.h"
#include "scheduler/registry.h"
#include "scheduler/turns.h"
#include "shadow/shadow.h"
#include "simulate/inner.h"
#include "simulate/nodes.h"

/* ---- calls and their answers ----------------------------------------------------------------- */

static takt_sim_exchange *exchange_of(takt_store_call *call)
{
    return TAKT_HOLDER(call, takt_sim_exchange, call);
}

static bool has_ledgers(const takt_fleet *fleet, int node)
{
    for (int i = 0; i < TAKT_FLEET_LEDGERS_MAX; i++)
        if (fleet->ledgers[i].node == node)
            return true;
    return false;
}

/* After a call that failed: where the ledgers are now. Nobody waits for a node that has none. */
static void look_around(takt_fleet_worker *worker, int node)
{
    takt_fleet *fleet = worker->fleet;

    takt_sim_read_map(worker);
    if (has_ledgers(fleet, node))
        return;
    if (fleet->on.gone)
        fleet->on.gone(fleet, worker, node);
    takt_loss_end(&worker->scheduler,
                  takt_servers_get(&worker->scheduler.servers, takt_sim_server(fleet, node)));
}

static void on_claimed(takt_store_call *call)
{
    takt_sim_exchange *exchange = exchange_of(call);
    takt_fleet_worker *worker = exchange->worker;
    takt_fleet *fleet = worker->fleet;
    int64_t now_us = takt_fleet_clock(worker);

    takt_scheduler_set_server(&worker->scheduler, exchange->queue, call->server);
    if (call->status == 0) {
        if (fleet->on.heard)
            fleet->on.heard(fleet, worker, exchange->ledger, exchange->node, call->award,
                            exchange->sent_us);
        takt_scheduler_award(&worker->scheduler, exchange->queue, call->award, exchange->sent_us,
                             now_us);
    } else {
        if (fleet->on.failed)
            fleet->on.failed(fleet, worker, exchange->ledger, exchange->node);
        takt_scheduler_failed(&worker->scheduler, exchange->queue, call->status, now_us);
        look_around(worker, exchange->node);
    }
    if (worker->exchanges[exchange->ledger] == exchange)
        worker->exchanges[exchange->ledger] = NULL;
    takt_sim_ask_pass(worker);
}

/* The answer of a call that blocks, or ends a block, is the first that its worker knows of it. */
static void on_blocked(takt_store_call *call)
{
    takt_sim_exchange *exchange = exchange_of(call);
    takt_fleet_worker *worker = exchange->worker;
    takt_fleet *fleet = worker->fleet;
    const char *key = call->key;
    takt_queue *queue = NULL;

    if (exchange->of_inner) {
        while (call->status == 0 && (queue = takt_nest_next(&worker->scheduler, call->limit->name,
                                                            key, queue)) != NULL) {
            takt_order_unpark(&worker->scheduler, queue);
            takt_scheduler_blocked(
                &worker->scheduler, queue,
                takt_max(queue->awarded.blocked_until_us, call->standing.blocked_until_us));
        }
    } else if (call->status == 0) {
        if (fleet->on.told)
            fleet->on.told(fleet, worker, exchange->ledger, &call->standing);
        takt_registry_queue(&worker->scheduler, worker->limit, key);
        while ((queue = takt_registry_next(&worker->scheduler, worker->limit->name, key, queue)) !=
               NULL)
            takt_scheduler_blocked(&worker->scheduler, queue, call->standing.blocked_until_us);
    }
    takt_sim_ask_pass(worker);
}

static void on_settled(takt_store_call *call)
{
    takt_fleet_worker *worker = exchange_of(call)->worker;

    if (call->status == 0 && call->tenant && !exchange_of(call)->of_inner)
        takt_order_corrected(&worker->scheduler, worker->limit->name, call->key, call->tenant,
                             call->priority, call->tag_change);
    takt_sim_ask_pass(worker);
}

static void on_done(takt_store_call *call)
{
    takt_sim_ask_pass(exchange_of(call)->worker);
}

takt_sim_exchange *takt_sim_worker_call(takt_fleet_worker *worker, int ledger, takt_op op)
{
    takt_sim_exchange *exchange = takt_sim_exchange_new(worker, ledger, op);

    if (!exchange)
        return NULL;
    switch (op) {
    case TAKT_OP_CLAIM:
        exchange->call.done = on_claimed;
        break;
    case TAKT_OP_BLOCK:
    case TAKT_OP_PENALIZE:
    case TAKT_OP_UNBLOCK:
    case TAKT_OP_RESET:
        exchange->call.done = on_blocked;
        break;
    case TAKT_OP_SETTLE:
        exchange->call.done = on_settled;
        break;
    default:
        exchange->call.done = on_done;
    }
    return exchange;
}

void takt_sim_worker_pays(takt_sim_exchange *exchange, const char *tenant, int32_t weight,
                          int priority)
{
    strcpy(exchange->tenant, tenant); /* its length was checked */
    exchange->call.tenant = exchange->tenant;
    exchange->call.tenant_weight = weight;
    exchange->call.priority = priority;
}

/* A call to hand back slots: to an inner ledger, or with inner NULL to the outermost one, for the
 * tenant of a queue (NULL: none). */
static void settle(takt_fleet_worker *worker, int ledger, const takt_inner *inner,
                   const takt_numbers *numbers, const takt_queue *queue, const takt_run *unused)
{
    takt_sim_exchange *exchange = takt_sim_worker_call(worker, ledger, TAKT_OP_SETTLE);

    if (!exchange)
        return;
    if (inner)
        takt_sim_inner_aim(exchange, inner->limit, inner->key);
    if (queue && takt_turns_tenant(queue))
        takt_sim_worker_pays(exchange, queue->turn->tenant, queue->turn->weight,
                             queue->claims.foremost);
    exchange->unused = *unused;
    exchange->call.data = &exchange->unused;
    exchange->call.slot_us = takt_run_slot(unused, 0);
    exchange->call.requests = unused->count;
    exchange->call.cost = unused->count * unused->cost;
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        exchange->call.more[i] = unused->count * unused->more.of[i];
    takt_sim_send(exchange, numbers);
}

void takt_sim_worker_settle(takt_fleet_worker *worker, int ledger, const takt_numbers *numbers,
                            const takt_queue *queue, const takt_run *unused)
{
    settle(worker, ledger, NULL, numbers, queue, unused);
}

static void tell_queue(const takt_sim_event *event, void (*tell)(takt_scheduler *, takt_queue *))
{
    takt_fleet_worker *worker = event->worker;
    const char *key = takt_fleet_key(event->ledger);
    takt_queue *queue = NULL;

    if (takt_sim_is_for_dead(event) || worker->cut)
        return;
    while ((queue = takt_registry_next(&worker->scheduler, worker->limit->name, key, queue)) !=
           NULL) {
        tell(&worker->scheduler, queue);
        takt_sim_ask_pass(worker);
    }
}

void takt_sim_worker_wake(takt_fleet *fleet, takt_sim_event *event)
{
    (void)fleet;
    tell_queue(event, takt_claims_wake);
}

void takt_sim_worker_hint(takt_fleet *fleet, takt_sim_event *event)
{
    (void)fleet;
    tell_queue(event, takt_claims_hint);
}

static void tell_nested(const takt_sim_event *event, void (*tell)(takt_scheduler *, takt_queue *))
{
    takt_scheduler *scheduler = &event->worker->scheduler;
    takt_queue *queue = NULL;

    if (takt_sim_is_for_dead(event) || event->worker->cut)
        return;
    while ((queue = takt_nest_next(scheduler, event->data, event->key, queue)) != NULL) {
        tell(scheduler, queue);
        takt_sim_ask_pass(event->worker);
    }
}

void takt_sim_worker_inner_wake(takt_fleet *fleet, takt_sim_event *event)
{
    (void)fleet;
    tell_nested(event, takt_claims_wake_inner);
}

void takt_sim_worker_inner_hint(takt_fleet *fleet, takt_sim_event *event)
{
    (void)fleet;
    tell_nested(event, takt_claims_hint_inner);
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* The claim may arrive when its worker is dead. */
static void copy_names(takt_sim_exchange *exchange)
{
    takt_claim *claim = &exchange->claim;

    if (claim->tenant)
        claim->tenant = strcpy(exchange->tenant, claim->tenant);
    if (claim->inner_tenant)
        claim->inner_tenant = strcpy(exchange->inner_tenant, claim->inner_tenant);
}

static void send_claims(void *owner, int64_t now_us)
{
    takt_fleet_worker *worker = owner;
    int64_t nested = 0;

    while (!takt_list_empty(&worker->scheduler.claiming)) {
        takt_sim_exchange *exchange = takt_sim_worker_call(worker, 0, TAKT_OP_CLAIM);
        if (!exchange)
            return;
        exchange->sent_us = now_us;
        exchange->queue = takt_claims_next(&worker->scheduler, now_us, &exchange->claim);
        exchange->ledger = takt_fleet_ledger_of(exchange->queue->key);
        exchange->call.key = takt_fleet_key(exchange->ledger);
        copy_names(exchange);
        takt_sim_inner_name(exchange, exchange->queue);
        nested += exchange->call.inner_count > 0;
        worker->fleet->scripts += exchange->call.inner_count == 0;
        takt_sim_send(exchange, takt_queue_stated(exchange->queue));
    }
    worker->fleet->scripts += takt_ceil_div(nested, TAKT_BATCH_MAX);
}

static void hand_back(void *owner, takt_queue *queue, const takt_run *unused)
{
    takt_fleet_worker *worker = owner;
    int ledger = takt_fleet_ledger_of(queue->key);

    if (worker->fleet->on.unused)
        worker->fleet->on.unused(worker->fleet, worker, ledger, unused);
    for (int i = 0; queue->nest && i < queue->nest->count; i++) {
        const takt_inner *inner = &queue->nest->inner[i];
        takt_run part = takt_chain_part(&inner->limit->numbers, inner->units, *unused);
        settle(worker, ledger, inner, &inner->limit->numbers, NULL, &part);
    }
    takt_sim_worker_settle(worker, ledger, takt_queue_stated(queue), queue, unused);
}

static void lost(void *owner, takt_permit *permit)
{
    takt_fleet_worker *worker = owner;

    if (worker->fleet->on.lost)
        worker->fleet->on.lost(worker->fleet, worker, permit);
}

static void call_back(void *owner, takt_permit *permit)
{
    takt_fleet_worker *worker = owner;

    if (takt_shadow_call_back(&worker->shadows, permit))
        return;
    takt_shadow_start(&worker->shadows, permit);
    permit->callback(permit, permit->status);
}

static void ask(void *worker)
{
    takt_sim_ask_pass(worker);
}

static const takt_driver driver = {.hand_back = hand_back,
                                   .send_claims = send_claims,
                                   .lost = lost,
                                   .call_back = call_back,
                                   .ask = ask};

static void wakes(takt_fleet *fleet, takt_sim_event *event);

static int64_t draw_late(takt_fleet *fleet)
{
    return fleet->timer_late_us > 0 ? takt_random_below(&fleet->random, fleet->timer_late_us + 1)
                                    : 0;
}

void takt_sim_worker_pass(takt_fleet *fleet, takt_sim_event *event)
{
    takt_fleet_worker *worker = event->worker;
    int64_t wake_us;

    if (takt_sim_is_for_dead(event))
        return;
    worker->pass_asked = false;
    takt_shadow_tick(&worker->shadows, takt_fleet_clock(worker));
    takt_driver_pass(&worker->scheduler, takt_fleet_clock(worker), &driver);
    wake_us =
        takt_min(takt_scheduler_pass_at(&worker->scheduler), takt_shadow_pass_at(&worker->shadows));
    if (wake_us != TAKT_NEVER && wake_us != worker->wake_us)
        takt_sim_plan(worker, takt_sim_virtual_at(worker, wake_us) + draw_late(fleet), wakes);
    worker->wake_us = wake_us;
}

static void wakes(takt_fleet *fleet, takt_sim_event *event)
{
    (void)fleet;
    if (takt_sim_is_for_dead(event) || event->worker->wake_us == TAKT_NEVER ||
        takt_fleet_clock(event->worker) < event->worker->wake_us)
        return; /* set to a later time since then */
    event->worker->wake_us = TAKT_NEVER;
    takt_sim_ask_pass(event->worker);
}
