/*
 * event.h: virtual time, the workers' clocks, and what is planned.  Events happen in the order of
 * their times, those of one instant in the order in which they were planned.
 */
#ifndef TAKT_SIMULATE_EVENT_H
#define TAKT_SIMULATE_EVENT_H

#include "simulate/fleet.h"

typedef struct takt_sim_event takt_sim_event;

/* Anything that will happen at some time. */
struct takt_sim_event {
    takt_node node;
    int64_t at_us;
    uint64_t order;
    takt_sim_happen happen;
    /* whichever it needs */
    void (*call)(takt_fleet *fleet, void *data);
    void *data;
    takt_fleet_worker *worker;
    int64_t incarnation;
    struct takt_sim_exchange *exchange;
    bool at_store; /* happens while the worker is stopped, too */
};

void takt_sim_events_init(takt_fleet *fleet);

/* Plans an event of a worker; whoever plans it fills in what it needs.  NULL: without memory the
 * fleet stops. */
takt_sim_event *takt_sim_plan(takt_fleet_worker *worker, int64_t at_us, takt_sim_happen happen);

/* Whether an event is meant for one who is gone: its worker is dead, or was when it began anew. */
bool takt_sim_is_for_dead(const takt_sim_event *event);

/* Plans a pass of the worker for now, unless one is planned. */
void takt_sim_ask_pass(takt_fleet_worker *worker);

/* The first moment of virtual time at which the worker's clock shows that. */
int64_t takt_sim_virtual_at(const takt_fleet_worker *worker, int64_t local_us);

#endif
