/*
 * event.h: what is planned in a fleet's virtual time.  Events happen in the order of their times,
 * those of one instant in the order in which they were planned.
 */
#ifndef TAKT_SIMULATE_EVENT_H
#define TAKT_SIMULATE_EVENT_H

#include "simulate/fleet.h"

typedef struct takt_sim_event takt_sim_event;
typedef void (*takt_sim_happen)(takt_fleet *fleet, takt_sim_event *event);

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

/* Plans an event of a worker; whoever plans it fills in what it needs. */
takt_sim_event *takt_sim_plan(takt_fleet_worker *worker, int64_t at_us, takt_sim_happen happen);

/* Whether an event is meant for one who is gone: its worker is dead, or was when it began anew. */
bool takt_sim_is_for_dead(const takt_sim_event *event);

#endif
