/*
 * nodes.c: see nodes.h.
 */
#include "simulate/nodes.h"

static const char *const keys[TAKT_FLEET_LEDGERS_MAX] = {"", "1", "2"};

const char *takt_fleet_key(int ledger)
{
    return keys[ledger];
}

int takt_fleet_ledger_of(const char *key)
{
    return key[0] == '\0' ? 0 : key[0] - '0';
}

int64_t takt_fleet_node_time(const takt_fleet *fleet, int node, int64_t at_us)
{
    const takt_fleet_node *of = &fleet->nodes[node];

    return at_us + of->clock_us + (at_us - fleet->began_us) * of->drift_ppm / 1000000;
}

int64_t takt_fleet_ledger_clock(const takt_fleet *fleet, int ledger)
{
    return takt_fleet_node_time(fleet, fleet->ledgers[ledger].node, fleet->now_us);
}

void takt_fleet_lag(takt_fleet *fleet, int ledger)
{
    takt_fleet_record *record = &fleet->ledgers[ledger];

    record->lags = true;
    if (!takt_virtual_store_copy(&record->replica, &record->store))
        fleet->out_of_memory = true;
}

void takt_fleet_catch_up(takt_fleet *fleet, int ledger)
{
    fleet->ledgers[ledger].lags = false;
}

void takt_fleet_promote(takt_fleet *fleet, int ledger, int node)
{
    takt_fleet_record *record = &fleet->ledgers[ledger];

    record->node = node;
    if (record->lags && !takt_virtual_store_copy(&record->store, &record->replica))
        fleet->out_of_memory = true;
    record->lags = false;
}

int takt_sim_server(const takt_fleet *fleet, int node)
{
    return fleet->node_count > 1 ? 1 + node : 0;
}

void takt_sim_read_map(takt_fleet_worker *worker)
{
    for (int i = 0; i < TAKT_FLEET_LEDGERS_MAX; i++)
        worker->nodes[i] = worker->fleet->ledgers[i].node;
}
