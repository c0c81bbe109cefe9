/*
 * event.h: virtual time, the workers' clocks, and planned events. Events happen in the order of
 * their times; events of one instant happen in the order in which they were planned.
 */
#ifndef TAKT_SIMULATE_EVENT_H
#define TAKT_SIMULATE_EVENT_H

#include "simulate/fleet.h"

#define TAKT_SIM_KEY_SIZE 32 /* of an inner limit's key, with its NUL */

typedef struct takt_sim_event takt_sim_event;

/* An event at some time. */
struct takt_sim_event {
    takt_node node;
    int64_t at_us;
    uint64_t order;
    takt_sim_happen happen;
    /* the fields that the event needs */
    void (*call)(takt_fleet *fleet, void *data);
    void *data;
    takt_fleet_worker *worker;
    int64_t incarnation;
    int ledger;
    char key[TAKT_SIM_KEY_SIZE]; /* of an inner ledger, whose limit is `data` */
    struct takt_sim_exchange *exchange;
    int sent_to;   /* the node that a call goes to */
    bool at_store; /* happens also while the worker is stopped */
};

void takt_sim_events_init(takt_fleet *fleet);

/* Plans an event of a worker; the caller fills in the other fields. NULL: no memory, and the fleet
 * stops. */
takt_sim_event *takt_sim_plan(takt_fleet_worker *worker, int64_t at_us, takt_sim_happen happen);

/* Whether the event's worker is dead, or has been restarted since. */
bool takt_sim_is_for_dead(const takt_sim_event *event);

/* Plans a pass of the worker for the present instant, unless one is planned. */
void takt_sim_ask_pass(takt_fleet_worker *worker);

/* The first virtual time at which the worker's clock shows that time. */
int64_t takt_sim_virtual_at(const takt_fleet_worker *worker, int64_t local_us);

#endif
