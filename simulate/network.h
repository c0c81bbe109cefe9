/*
 * network.h: the messages between a fleet's workers and their store: calls, redirections, answers
 * and wake-ups, which arrive late, twice or not at all. It carries each takt_store_call as a store
 * does; the worker that sends one decides in done() what an answer means.
 */
#ifndef TAKT_SIMULATE_NETWORK_H
#define TAKT_SIMULATE_NETWORK_H

#include "simulate/event.h"

/* A call under way, with its answer; freed after its last message and its time-out. */
typedef struct takt_sim_exchange {
    takt_store_call call;

    /* the sender's */
    takt_queue *queue;                     /* that claims */
    int64_t sent_us;                       /* by the worker's clock */
    takt_run unused;                       /* that is handed back */
    char tenant[TAKT_TENANT_SIZE_MAX + 1]; /* for whom the work is */
    char inner_tenant[TAKT_TENANT_SIZE_MAX + 1];

    /* the network's */
    takt_fleet_worker *worker;
    int ledger;
    int node;      /* that it was last sent to */
    uint64_t name; /* of the worker when it sent the call */
    int64_t connection;
    int64_t incarnation;
    int users;
    bool redirected; /* by that node */
    bool answered;   /* by the store; the answer may be lost */
    bool finished;   /* answered or given up */
    bool of_inner;   /* to the ledger of an inner limit: inner.h */

    /* what the call points at */
    takt_numbers numbers;
    takt_store_inner inner[TAKT_INNER_MAX];
    takt_numbers inner_numbers[TAKT_INNER_MAX];
    char inner_keys[TAKT_INNER_MAX][TAKT_SIM_KEY_SIZE];
    takt_claim claim;
    takt_award award;
} takt_sim_exchange;

/* A call of the worker to a ledger. The caller sets the other inputs and done. NULL: no memory, and
 * the fleet stops. */
takt_sim_exchange *takt_sim_exchange_new(takt_fleet_worker *worker, int ledger, takt_op op);

/* Sends the call, which states a copy of `numbers`; the network then owns it. done() comes at most
 * once: with the store's answer or with TAKT_E_STORE_TIMEOUT, and not if the worker has died. */
void takt_sim_send(takt_sim_exchange *exchange, const takt_numbers *numbers);

/* Removes one event's reference; the last one frees the exchange. */
void takt_sim_exchange_drop(takt_sim_exchange *exchange);

#endif
