/*
 * fleet.c: see fleet.h.
 */
#include "simulate/fleet.h"

#include <stdlib.h>

#include "base/integers.h"
#include "base/random.h"
#include "scheduler/claims.h"
#include "scheduler/driver.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"
#include "shadow/shadow.h"
#include "simulate/ledger_at_rest.h"
#include "simulate/network.h"

/* ---- a worker's passes ----------------------------------------------------------------------- */

static void send_claims(void *owner, int64_t now_us)
{
    takt_fleet_worker *worker = owner;

    while (!takt_list_empty(&worker->scheduler.claiming)) {
        takt_sim_exchange *exchange = takt_sim_exchange_new(worker->fleet, TAKT_SIM_CLAIM);
        if (!exchange)
            return;
        exchange->sent_us = now_us;
        exchange->queue = takt_claims_next(&worker->scheduler, now_us, &exchange->claim);
        worker->exchange = exchange;
        takt_sim_send(worker, exchange, takt_queue_stated(exchange->queue));
    }
}

static void hand_back(void *owner, takt_queue *queue, const takt_run *unused)
{
    takt_fleet_worker *worker = owner;
    takt_fleet *fleet = worker->fleet;
    takt_sim_exchange *exchange = takt_sim_exchange_new(fleet, TAKT_SIM_SETTLE);

    if (!exchange)
        return;
    exchange->call.unused = *unused;
    if (fleet->on_unused)
        fleet->on_unused(fleet, worker, unused);
    takt_sim_send(worker, exchange, takt_queue_stated(queue));
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

static void pass(takt_fleet *fleet, takt_sim_event *event)
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

/* ---- from outside ---------------------------------------------------------------------------- */

void takt_fleet_acquire(takt_fleet_worker *worker, takt_permit *permit, int64_t max_wait_us)
{
    takt_queue *queue = takt_registry_queue(&worker->scheduler, worker->limit, "");

    if (!queue) {
        worker->fleet->out_of_memory = true;
        return;
    }
    permit->deadline_at_us = max_wait_us > 0 ? takt_fleet_clock(worker) + max_wait_us : TAKT_NEVER;
    if (queue->limit->mode == TAKT_MODE_SHADOW)
        takt_shadow_acquire(&worker->shadows, queue, permit, takt_fleet_clock(worker));
    else
        takt_shadow_enforce(&worker->shadows, queue, permit);
    takt_sim_ask_pass(worker);
}

void takt_fleet_cancel(takt_fleet_worker *worker, takt_permit *permit)
{
    if (permit->state != TAKT_PERMIT_WAITING)
        return;
    takt_shadow_leave(&worker->shadows, permit, TAKT_E_CANCELED);
    takt_sim_ask_pass(worker);
}

void takt_fleet_release(takt_fleet_worker *worker, takt_permit *permit)
{
    if (permit->state != TAKT_PERMIT_GRANTED)
        return;
    takt_shadow_release(&worker->shadows, permit, takt_fleet_clock(worker));
    takt_waiter_release(&worker->scheduler, permit);
    takt_sim_ask_pass(worker);
}

void takt_fleet_crash(takt_fleet_worker *worker)
{
    if (worker->dead)
        return;
    worker->dead = true;
    worker->incarnation++;
    worker->exchange = NULL;
    worker->frozen_until_us = 0;
    takt_registry_close(&worker->scheduler);
    takt_shadows_close(&worker->shadows);
}

void takt_fleet_restart(takt_fleet_worker *worker)
{
    takt_fleet *fleet = worker->fleet;

    worker->name = takt_random(&fleet->random);
    if (takt_registry_init(&worker->scheduler, worker->name, takt_random(&fleet->random), worker) <
        0) {
        fleet->out_of_memory = true;
        return;
    }
    takt_shadows_init(&worker->shadows, &worker->scheduler);
    worker->dead = worker->pass_asked = false;
    worker->wake_us = TAKT_NEVER;
}

void takt_fleet_freeze(takt_fleet_worker *worker, int64_t until_us)
{
    if (until_us > worker->frozen_until_us)
        worker->frozen_until_us = until_us;
}

void takt_fleet_call(takt_fleet_worker *worker, takt_sim_op op, int64_t value)
{
    takt_sim_exchange *exchange = takt_sim_exchange_new(worker->fleet, op);

    if (!exchange)
        return;
    exchange->call.cost = exchange->call.for_us = value;
    takt_sim_send(worker, exchange, &worker->limit->numbers);
}

void takt_fleet_settle(takt_fleet_worker *worker, const takt_run *unused)
{
    takt_sim_exchange *exchange = takt_sim_exchange_new(worker->fleet, TAKT_SIM_SETTLE);

    if (!exchange)
        return;
    exchange->call.unused = *unused;
    takt_sim_send(worker, exchange, &worker->limit->numbers);
}

int takt_fleet_open(takt_fleet *fleet, const takt_limit *limit, int workers, int64_t now_us,
                    uint64_t seed)
{
    int capacity = (4 * workers + 16) * TAKT_PRIORITIES; /* dead workers stay in line for a while */

    *fleet = (takt_fleet){.now_us = now_us,
                          .began_us = now_us,
                          .random = seed,
                          .limit = limit,
                          .worker_count = workers,
                          .pass = pass,
                          .delay_min_us = 100,
                          .delay_max_us = 2000,
                          .timeout_us = 1000000};
    takt_sim_events_init(fleet);
    takt_memory_pages_init(&fleet->pages);
    fleet->workers = calloc((size_t)workers, sizeof *fleet->workers);
    fleet->ledger.line = calloc((size_t)capacity, sizeof *fleet->ledger.line);
    if (!fleet->workers || !fleet->ledger.line) {
        fleet->worker_count = 0;
        takt_fleet_close(fleet);
        return TAKT_E_NOMEM;
    }
    fleet->ledger.line_capacity = capacity;
    fleet->ledger.pages = &fleet->pages.pages;
    takt_ledger_init(&fleet->ledger, &limit->numbers, now_us);
    for (int i = 0; i < workers; i++) {
        takt_fleet_worker *worker = &fleet->workers[i];
        worker->fleet = fleet;
        worker->index = i;
        worker->limit = limit;
        worker->clock_us = takt_random_below(&fleet->random, INT64_C(1000000000000));
        worker->dead = true;
        takt_fleet_restart(worker);
    }
    if (fleet->out_of_memory) {
        takt_fleet_close(fleet);
        return TAKT_E_NOMEM;
    }
    return 0;
}

void takt_fleet_close(takt_fleet *fleet)
{
    while (fleet->events.first) {
        takt_sim_event *event = TAKT_HOLDER(fleet->events.first, takt_sim_event, node);
        takt_heap_remove(&fleet->events, &event->node);
        if (event->exchange)
            takt_sim_exchange_drop(event->exchange);
        free(event);
    }
    for (int i = 0; i < fleet->worker_count; i++)
        takt_fleet_crash(&fleet->workers[i]);
    free(fleet->workers);
    fleet->workers = NULL;
    takt_sim_store_close(fleet);
}
