/*
 * ledger_at_rest.h: the simulated store. Between two calls it keeps the fleet's ledger as text, as
 * the real stores do, so that information missing in the text is missing here, too.
 */
#ifndef TAKT_SIMULATE_LEDGER_AT_REST_H
#define TAKT_SIMULATE_LEDGER_AT_REST_H

#include "simulate/fleet.h"

/* Runs a call on the ledger at the store's time, and fills in the answer. False: no memory, and the
 * ledger is unusable. */
bool takt_sim_store_run(takt_fleet *fleet, takt_sim_call *call);

void takt_sim_store_close(takt_fleet *fleet);

#endif
