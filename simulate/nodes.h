/*
 * nodes.h: the nodes of a fleet's store: the time of each, which of them has a ledger, and how a
 * worker comes to know it.
 *
 * A worker sends a call to the node that has the ledger by its slot map. A node that has it no
 * longer redirects the call. A worker that gets no answer reads the map again.
 */
#ifndef TAKT_SIMULATE_NODES_H
#define TAKT_SIMULATE_NODES_H

#include "simulate/fleet.h"

/* The number by which a node is known to the scheduler (scheduler/server.h). */
int takt_sim_server(const takt_fleet *fleet, int node);

/* Reads the slot map. */
void takt_sim_read_map(takt_fleet_worker *worker);

#endif
