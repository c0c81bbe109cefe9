/*
 * worker.h: what a worker of a fleet does by itself: its passes, the calls that these send, and
 * what the answers mean. It is to the fleet what client/pass.c is to a client.
 */
#ifndef TAKT_SIMULATE_WORKER_H
#define TAKT_SIMULATE_WORKER_H

#include "simulate/network.h"

/* The events of a worker: a pass, a wake-up from the store, and news of other workers. */
void takt_sim_worker_pass(takt_fleet *fleet, takt_sim_event *event);
void takt_sim_worker_wake(takt_fleet *fleet, takt_sim_event *event);
void takt_sim_worker_hint(takt_fleet *fleet, takt_sim_event *event);
void takt_sim_worker_inner_wake(takt_fleet *fleet, takt_sim_event *event);
void takt_sim_worker_inner_hint(takt_fleet *fleet, takt_sim_event *event);

/* A call of the worker's to a ledger, with the done() of its kind, to be filled in and sent. NULL:
 * no memory, and the fleet stops. */
takt_sim_exchange *takt_sim_worker_call(takt_fleet_worker *worker, int ledger, takt_op op);

/* Sends a call that settles slots as unused; `numbers` as in network.h.  queue: whose slots they
 * were; NULL: of no tenant. */
void takt_sim_worker_settle(takt_fleet_worker *worker, int ledger, const takt_numbers *numbers,
                            const takt_queue *queue, const takt_run *unused);

/* A call that settles is for work of a tenant. */
void takt_sim_worker_pays(takt_sim_exchange *exchange, const char *tenant, int32_t weight,
                          int priority);

#endif
