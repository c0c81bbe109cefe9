/*
 * network.h: what is on its way between a fleet's workers and their store: calls, answers and
 * wake-ups, which arrive late, twice or not at all.  What arrives is handed to the scheduler or to
 * the store here.
 */
#ifndef TAKT_SIMULATE_NETWORK_H
#define TAKT_SIMULATE_NETWORK_H

#include "simulate/event.h"

/* A call, mostly a claim, and its answer; freed when the last message and the time-out have passed.
 */
typedef struct takt_sim_exchange {
    takt_sim_call call;
    takt_numbers numbers; /* as they were when the call was sent */
    takt_claim claim;
    takt_award award;
    takt_queue *queue;
    int64_t connection;
    int64_t incarnation;
    int64_t sent_us; /* by the worker's clock */
    int users;
    bool answered; /* by the store, heard or not */
    bool finished; /* answered or given up */
} takt_sim_exchange;

/* NULL: without memory the fleet stops. */
takt_sim_exchange *takt_sim_exchange_new(takt_fleet *fleet, takt_sim_op op);

/* Sends a call, of a worker whose policy is `limit`; it is the network's from now on. */
void takt_sim_send(takt_fleet_worker *worker, takt_sim_exchange *exchange,
                   const takt_numbers *numbers);

/* One event less needs the exchange; when none does it is freed. */
void takt_sim_exchange_drop(takt_sim_exchange *exchange);

#endif
