/*
 * network.h: the messages between a fleet's workers and their store: calls, answers and wake-ups,
 * which arrive late, twice or not at all. Hands arriving messages to the scheduler or to the store.
 */
#ifndef TAKT_SIMULATE_NETWORK_H
#define TAKT_SIMULATE_NETWORK_H

#include "simulate/event.h"

/* A call, mostly a claim, and its answer; freed after its last message and its time-out. */
typedef struct takt_sim_exchange {
    takt_sim_call call;
    takt_queue *queue;
    int64_t connection;
    int64_t incarnation;
    int64_t sent_us; /* by the worker's clock */
    int users;
    bool answered;        /* by the store; the answer may be lost */
    bool finished;        /* answered or given up */
    takt_numbers numbers; /* when the call was sent */
    takt_claim claim;
    takt_award award;
} takt_sim_exchange;

/* NULL: no memory, and the fleet stops. */
takt_sim_exchange *takt_sim_exchange_new(takt_fleet *fleet, takt_sim_op op);

/* Sends a call of a worker whose policy is `limit`; the network then owns it. */
void takt_sim_send(takt_fleet_worker *worker, takt_sim_exchange *exchange,
                   const takt_numbers *numbers);

/* Removes one event's reference; the last one frees the exchange. */
void takt_sim_exchange_drop(takt_sim_exchange *exchange);

#endif
