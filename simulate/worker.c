/*
 * worker.c: see worker.h.
 */
#include "simulate/worker.h"

#include "base/integers.h"
#include "base/random.h"
#include "scheduler/claims.h"
#include "scheduler/driver.h"
#include "scheduler/registry.h"
#include "shadow/shadow.h"

/* ---- calls and their answers ----------------------------------------------------------------- */

static takt_sim_exchange *exchange_of(takt_store_call *call)
{
    return TAKT_HOLDER(call, takt_sim_exchange, call);
}

static void on_claimed(takt_store_call *call)
{
    takt_sim_exchange *exchange = exchange_of(call);
    takt_fleet_worker *worker = exchange->worker;
    takt_fleet *fleet = worker->fleet;
    int64_t now_us = takt_fleet_clock(worker);

    if (call->status == 0) {
        if (fleet->on_heard)
            fleet->on_heard(fleet, worker, call->award, exchange->sent_us);
        takt_scheduler_award(&worker->scheduler, exchange->queue, call->award, exchange->sent_us,
                             now_us);
    } else {
        if (fleet->on_failed)
            fleet->on_failed(fleet, worker);
        takt_scheduler_failed(&worker->scheduler, exchange->queue, call->status, now_us);
    }
    if (worker->exchange == exchange)
        worker->exchange = NULL;
    takt_sim_ask_pass(worker);
}

/* The answer of a call that blocks, or ends a block, is the first that its worker knows of it. */
static void on_blocked(takt_store_call *call)
{
    takt_fleet_worker *worker = exchange_of(call)->worker;
    takt_fleet *fleet = worker->fleet;

    if (call->status == 0) {
        if (fleet->on_told)
            fleet->on_told(fleet, worker, &call->standing);
        takt_scheduler_blocked(&worker->scheduler,
                               takt_registry_queue(&worker->scheduler, worker->limit, ""),
                               call->standing.blocked_until_us);
    }
    takt_sim_ask_pass(worker);
}

static void on_done(takt_store_call *call)
{
    takt_sim_ask_pass(exchange_of(call)->worker);
}

takt_sim_exchange *takt_sim_worker_call(takt_fleet_worker *worker, takt_op op)
{
    takt_sim_exchange *exchange = takt_sim_exchange_new(worker, op);

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
    default:
        exchange->call.done = on_done;
    }
    return exchange;
}

void takt_sim_worker_settle(takt_fleet_worker *worker, const takt_numbers *numbers,
                            const takt_run *unused)
{
    takt_sim_exchange *exchange = takt_sim_worker_call(worker, TAKT_OP_SETTLE);

    if (!exchange)
        return;
    exchange->unused = *unused;
    exchange->call.data = &exchange->unused;
    exchange->call.slot_us = takt_run_slot(unused, 0);
    exchange->call.requests = unused->count;
    exchange->call.cost = unused->count * unused->cost;
    takt_sim_send(exchange, numbers);
}

static void tell_queue(const takt_sim_event *event, void (*tell)(takt_scheduler *, takt_queue *))
{
    takt_fleet_worker *worker = event->worker;
    takt_queue *queue;

    if (takt_sim_is_for_dead(event) || worker->cut)
        return;
    queue = takt_registry_find(&worker->scheduler, worker->limit, "");
    if (!queue)
        return;
    tell(&worker->scheduler, queue);
    takt_sim_ask_pass(worker);
}

void takt_sim_worker_wake(takt_fleet *fleet, takt_sim_event *event)
{
    (void)fleet;
    tell_queue(event, takt_claims_nudge);
}

void takt_sim_worker_hint(takt_fleet *fleet, takt_sim_event *event)
{
    (void)fleet;
    tell_queue(event, takt_claims_hint);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void send_claims(void *owner, int64_t now_us)
{
    takt_fleet_worker *worker = owner;

    while (!takt_list_empty(&worker->scheduler.claiming)) {
        takt_sim_exchange *exchange = takt_sim_worker_call(worker, TAKT_OP_CLAIM);
        if (!exchange)
            return;
        exchange->sent_us = now_us;
        exchange->queue = takt_claims_next(&worker->scheduler, now_us, &exchange->claim);
        takt_sim_send(exchange, takt_queue_stated(exchange->queue));
    }
}

static void hand_back(void *owner, takt_queue *queue, const takt_run *unused)
{
    takt_fleet_worker *worker = owner;

    if (worker->fleet->on_unused)
        worker->fleet->on_unused(worker->fleet, worker, unused);
    takt_sim_worker_settle(worker, takt_queue_stated(queue), unused);
}

static void lost(void *owner, takt_permit *permit)
{
    takt_fleet_worker *worker = owner;

    if (worker->fleet->on_lost)
        worker->fleet->on_lost(worker->fleet, worker, permit);
}

static void call_back(void *owner, takt_permit *permit)
{
    takt_fleet_worker *worker = owner;

    if (!takt_shadow_call_back(&worker->shadows, permit))
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
        takt_min(takt_scheduler_wake_at(&worker->scheduler), takt_shadow_wake_at(&worker->shadows));
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
