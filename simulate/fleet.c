/*
 * fleet.c: what its user does with a fleet: opens it, acquires and releases, lets workers crash.
 * worker.c has what its workers do by themselves.
 */
#include "simulate/fleet.h"

#include <stdlib.h>

#include "base/random.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"
#include "shadow/shadow.h"
#include "simulate/network.h"
#include "simulate/worker.h"

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

void takt_fleet_call(takt_fleet_worker *worker, takt_op op, int64_t value)
{
    takt_sim_exchange *exchange = takt_sim_worker_call(worker, op);

    if (!exchange)
        return;
    exchange->call.cost = exchange->call.for_us = value;
    takt_sim_send(exchange, &worker->limit->numbers);
}

void takt_fleet_settle(takt_fleet_worker *worker, const takt_run *unused)
{
    takt_sim_worker_settle(worker, &worker->limit->numbers, unused);
}

void takt_fleet_charge(takt_fleet_worker *worker, int64_t tokens)
{
    takt_sim_exchange *exchange = takt_sim_worker_call(worker, TAKT_OP_SETTLE);

    if (!exchange)
        return;
    exchange->call.slot_us = worker->fleet->now_us + worker->fleet->store_clock_us;
    exchange->call.actual = tokens;
    takt_sim_send(exchange, &worker->limit->numbers);
}

void takt_fleet_lose_state(takt_fleet *fleet)
{
    takt_virtual_store_forget(&fleet->store);
}

const takt_ledger *takt_fleet_ledger(const takt_fleet *fleet)
{
    return &fleet->store.scratch.ledger;
}

int takt_fleet_open(takt_fleet *fleet, const takt_limit *limit, int workers, int64_t now_us,
                    uint64_t seed)
{
    *fleet = (takt_fleet){.now_us = now_us,
                          .began_us = now_us,
                          .random = seed,
                          .limit = limit,
                          .worker_count = workers,
                          .pass = takt_sim_worker_pass,
                          .wake = takt_sim_worker_wake,
                          .hint = takt_sim_worker_hint,
                          .delay_min_us = 100,
                          .delay_max_us = 2000,
                          .timeout_us = 1000000};
    takt_sim_events_init(fleet);
    takt_virtual_store_init(&fleet->store);
    fleet->workers = calloc((size_t)workers, sizeof *fleet->workers);
    if (!fleet->workers)
        return TAKT_E_NOMEM;
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
    takt_virtual_store_close(&fleet->store);
}
