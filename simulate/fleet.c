/*
 * fleet.c: what its user does with a fleet: opens it, acquires and releases, lets workers crash.
 * worker.c has what its workers do by themselves.
 */
#include "simulate/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"
#include "shadow/shadow.h"
#include "simulate/inner.h"
#include "simulate/network.h"
#include "simulate/nodes.h"
#include "simulate/worker.h"

void takt_fleet_acquire(takt_fleet_worker *worker, int ledger, takt_permit *permit,
                        int64_t max_wait_us)
{
    takt_fleet_acquire_for(worker, ledger, permit, max_wait_us, NULL, 1);
}

void takt_fleet_acquire_for(takt_fleet_worker *worker, int ledger, takt_permit *permit,
                            int64_t max_wait_us, const char *tenant, int32_t weight)
{
    takt_queue *queue = takt_registry_tenant(&worker->scheduler, worker->limit,
                                             takt_fleet_key(ledger), tenant, weight);

    if (!queue) {
        worker->fleet->out_of_memory = true;
        return;
    }
    queue->weight = worker->weight;
    permit->deadline_at_us = max_wait_us > 0 ? takt_fleet_clock(worker) + max_wait_us : TAKT_NEVER;
    if (queue->limit->mode == TAKT_MODE_SHADOW) {
        takt_waiter_expect(&worker->scheduler, queue, permit->cost, permit->more, permit);
        takt_waiter_start(&worker->scheduler, permit);
    } else {
        takt_waiter_acquire(&worker->scheduler, queue, permit);
    }
    takt_sim_ask_pass(worker);
}

void takt_fleet_acquire_nested(takt_fleet_worker *worker, int ledger, takt_permit *permit,
                               int64_t max_wait_us, const takt_chain *chain, const char *tenant,
                               int32_t weight)
{
    takt_chain own = *chain;
    takt_queue *queue;

    own.limits[own.count - 1] = worker->limit;
    own.keys[own.count - 1] = takt_fleet_key(ledger);
    own.inside = takt_chain_inside(&own);
    queue = takt_registry_nested(&worker->scheduler, &own, tenant, weight);
    if (!queue) {
        worker->fleet->out_of_memory = true;
        return;
    }
    permit->deadline_at_us = max_wait_us > 0 ? takt_fleet_clock(worker) + max_wait_us : TAKT_NEVER;
    takt_waiter_acquire(&worker->scheduler, queue, permit);
    takt_sim_ask_pass(worker);
}

void takt_fleet_pass_shadow(takt_fleet_worker *worker, int ledger, takt_permit *permit,
                            const takt_chain *chain)
{
    takt_chain own = *chain;
    takt_queue *queue;

    own.keys[own.count - 1] = takt_fleet_key(ledger);
    queue = takt_registry_nested(&worker->scheduler, &own, NULL, 1);
    if (queue)
        takt_waiter_expect(&worker->scheduler, queue, permit->cost, permit->more, permit);
    else
        worker->fleet->out_of_memory = true;
}

void takt_fleet_cancel(takt_fleet_worker *worker, takt_permit *permit)
{
    if (permit->state != TAKT_PERMIT_WAITING)
        return;
    takt_waiter_leave(&worker->scheduler, permit, TAKT_E_CANCELED);
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
    memset(worker->exchanges, 0, sizeof worker->exchanges);
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
    takt_sim_read_map(worker);
    worker->dead = worker->pass_asked = false;
    worker->wake_us = TAKT_NEVER;
}

void takt_fleet_freeze(takt_fleet_worker *worker, int64_t until_us)
{
    if (until_us > worker->frozen_until_us)
        worker->frozen_until_us = until_us;
}

void takt_fleet_call(takt_fleet_worker *worker, int ledger, takt_op op, int64_t value)
{
    takt_sim_exchange *exchange = takt_sim_worker_call(worker, ledger, op);

    if (!exchange)
        return;
    exchange->call.cost = exchange->call.for_us = value;
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        exchange->call.more[i] = value;
    takt_sim_send(exchange, &worker->limit->numbers);
}

void takt_fleet_call_inner(takt_fleet_worker *worker, int ledger, const takt_limit *limit,
                           const char *key, takt_op op, int64_t value)
{
    takt_sim_exchange *exchange = takt_sim_worker_call(worker, ledger, op);

    if (!exchange)
        return;
    takt_sim_inner_aim(exchange, limit, key);
    exchange->call.for_us = value;
    takt_sim_send(exchange, &limit->numbers);
}

void takt_fleet_try_nested(takt_fleet_worker *worker, int ledger, const takt_limit *limit,
                           const char *key)
{
    takt_sim_exchange *exchange = takt_sim_worker_call(worker, ledger, TAKT_OP_TRY);

    if (!exchange)
        return;
    takt_sim_inner_within(exchange, limit, key);
    exchange->call.cost = 1;
    takt_sim_send(exchange, &worker->limit->numbers);
}

void takt_fleet_settle(takt_fleet_worker *worker, int ledger, const takt_run *unused)
{
    takt_sim_worker_settle(worker, ledger, &worker->limit->numbers, NULL, unused);
}

void takt_fleet_charge(takt_fleet_worker *worker, int ledger, int64_t tokens)
{
    takt_sim_exchange *exchange = takt_sim_worker_call(worker, ledger, TAKT_OP_SETTLE);

    if (!exchange)
        return;
    exchange->call.slot_us = takt_fleet_ledger_clock(worker->fleet, ledger);
    exchange->call.actual = tokens;
    takt_sim_send(exchange, &worker->limit->numbers);
}

void takt_fleet_correct(takt_fleet_worker *worker, int ledger, const takt_permit *permit,
                        int64_t tokens, const char *tenant, int32_t weight)
{
    takt_sim_exchange *exchange = takt_sim_worker_call(worker, ledger, TAKT_OP_SETTLE);

    if (!exchange)
        return;
    exchange->call.slot_us = permit->slot_at_us;
    exchange->call.cost = permit->cost;
    exchange->call.actual = tokens;
    takt_sim_worker_pays(exchange, tenant, weight, permit->priority);
    takt_sim_send(exchange, &worker->limit->numbers);
}

void takt_fleet_lose_state(takt_fleet *fleet, int ledger)
{
    takt_virtual_store_forget(&fleet->ledgers[ledger].store);
}

const takt_ledger *takt_fleet_ledger(const takt_fleet *fleet, int ledger)
{
    return &fleet->ledgers[ledger].store.scratch.ledger;
}

int takt_fleet_open(takt_fleet *fleet, const takt_limit *limit, int workers, int64_t now_us,
                    uint64_t seed)
{
    *fleet = (takt_fleet){.now_us = now_us,
                          .began_us = now_us,
                          .random = seed,
                          .limit = limit,
                          .node_count = 1,
                          .worker_count = workers,
                          .happen = {.pass = takt_sim_worker_pass,
                                     .wake = takt_sim_worker_wake,
                                     .hint = takt_sim_worker_hint,
                                     .inner_wake = takt_sim_worker_inner_wake,
                                     .inner_hint = takt_sim_worker_inner_hint},
                          .delay_min_us = 100,
                          .delay_max_us = 2000,
                          .timeout_us = 1000000};
    takt_sim_events_init(fleet);
    if (takt_sim_inner_init(fleet) < 0)
        return TAKT_E_NOMEM;
    for (int i = 0; i < TAKT_FLEET_LEDGERS_MAX; i++) {
        takt_virtual_store_init(&fleet->ledgers[i].store);
        takt_virtual_store_init(&fleet->ledgers[i].replica);
    }
    fleet->workers = calloc((size_t)workers, sizeof *fleet->workers);
    if (!fleet->workers) {
        takt_sim_inner_close(fleet);
        return TAKT_E_NOMEM;
    }
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
    while (fleet->events.planned.first) {
        takt_sim_event *event = TAKT_HOLDER(fleet->events.planned.first, takt_sim_event, node);
        takt_heap_remove(&fleet->events.planned, &event->node);
        if (event->exchange)
            takt_sim_exchange_drop(event->exchange);
        free(event);
    }
    for (int i = 0; i < fleet->worker_count; i++)
        takt_fleet_crash(&fleet->workers[i]);
    free(fleet->workers);
    fleet->workers = NULL;
    takt_sim_inner_close(fleet);
    for (int i = 0; i < TAKT_FLEET_LEDGERS_MAX; i++) {
        takt_virtual_store_close(&fleet->ledgers[i].store);
        takt_virtual_store_close(&fleet->ledgers[i].replica);
    }
}
