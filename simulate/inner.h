/*
 * inner.h: the ledgers of inner limits in a fleet whose work is nested (scheduler/nest.h). They lie
 * beside those of the fleet's limit, the outermost one, on the same node.
 */
#ifndef TAKT_SIMULATE_INNER_H
#define TAKT_SIMULATE_INNER_H

#include "simulate/network.h"

int takt_sim_inner_init(takt_fleet *fleet); /* 0 or TAKT_E_NOMEM */
void takt_sim_inner_close(takt_fleet *fleet);

/* Copies the inner limits of a queue into a claim. */
void takt_sim_inner_name(takt_sim_exchange *exchange, const takt_queue *queue);

/* The call is also to the ledger of that inner limit and key. */
void takt_sim_inner_within(takt_sim_exchange *exchange, const takt_limit *limit, const char *key);

/* The call is to the ledger of that inner limit and key, and not to the outermost one. */
void takt_sim_inner_aim(takt_sim_exchange *exchange, const takt_limit *limit, const char *key);

/* Runs a call that was named or aimed so. */
void takt_sim_inner_run(takt_fleet *fleet, int ledger, int64_t now_us, takt_store_call *call);

#endif
