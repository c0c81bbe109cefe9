/*
 * event.c: see event.h.
 */
#include "simulate/event.h"

#include <stdlib.h>

/* The time of a worker's clock at a virtual time. */
static int64_t local_at(const takt_fleet_worker *worker, int64_t at_us)
{
    return at_us + worker->clock_us +
           (at_us - worker->fleet->began_us) * worker->drift_ppm / 1000000;
}

int64_t takt_fleet_clock(const takt_fleet_worker *worker)
{
    return local_at(worker, worker->fleet->now_us);
}

int64_t takt_sim_virtual_at(const takt_fleet_worker *worker, int64_t local_us)
{
    int64_t at_us = local_us - worker->clock_us;

    if (worker->drift_ppm == 0)
        return at_us;
    at_us -= (at_us - worker->fleet->began_us) * worker->drift_ppm / (1000000 + worker->drift_ppm);
    while (local_at(worker, at_us) < local_us)
        at_us++;
    while (local_at(worker, at_us - 1) >= local_us)
        at_us--;
    return at_us;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool happens_sooner(const takt_node *a, const takt_node *b)
{
    const takt_sim_event *x = TAKT_HOLDER(a, takt_sim_event, node),
                         *y = TAKT_HOLDER(b, takt_sim_event, node);

    return x->at_us != y->at_us ? x->at_us < y->at_us : x->order < y->order;
}

void takt_sim_events_init(takt_fleet *fleet)
{
    takt_heap_init(&fleet->events.planned, happens_sooner);
}

static takt_sim_event *plan(takt_fleet *fleet, int64_t at_us, takt_sim_happen happen)
{
    takt_sim_event *planned = calloc(1, sizeof *planned);

    if (!planned) {
        fleet->out_of_memory = true; /* without the event, the simulation would be wrong */
        return NULL;
    }
    planned->at_us = at_us > fleet->now_us ? at_us : fleet->now_us;
    planned->order = fleet->events.order++;
    planned->happen = happen;
    takt_heap_add(&fleet->events.planned, &planned->node);
    return planned;
}

takt_sim_event *takt_sim_plan(takt_fleet_worker *worker, int64_t at_us, takt_sim_happen happen)
{
    takt_sim_event *planned = plan(worker->fleet, at_us, happen);

    if (!planned)
        return NULL;
    planned->worker = worker;
    planned->incarnation = worker->incarnation;
    return planned;
}

void takt_sim_ask_pass(takt_fleet_worker *worker)
{
    if (worker->pass_asked)
        return;
    worker->pass_asked = true;
    takt_sim_plan(worker, worker->fleet->now_us, worker->fleet->happen.pass);
}

bool takt_sim_is_for_dead(const takt_sim_event *event)
{
    return event->worker->dead || event->incarnation != event->worker->incarnation;
}

static void calls(takt_fleet *fleet, takt_sim_event *event)
{
    event->call(fleet, event->data);
}

void takt_fleet_at(takt_fleet *fleet, int64_t at_us, void (*happen)(takt_fleet *fleet, void *data),
                   void *data)
{
    takt_sim_event *planned = plan(fleet, at_us, calls);

    if (!planned)
        return;
    planned->call = happen;
    planned->data = data;
}

/* A stopped worker handles no events; messages that it has sent still arrive. */
static bool is_held_up(const takt_sim_event *event)
{
    return event->worker && !takt_sim_is_for_dead(event) && !event->at_store &&
           event->worker->frozen_until_us > event->worker->fleet->now_us;
}

int takt_fleet_run(takt_fleet *fleet, int64_t until_us)
{
    while (fleet->events.planned.first && !fleet->out_of_memory) {
        takt_sim_event *event = TAKT_HOLDER(fleet->events.planned.first, takt_sim_event, node);
        if (event->at_us > until_us)
            break;
        takt_heap_remove(&fleet->events.planned, &event->node);
        fleet->now_us = event->at_us;
        if (is_held_up(event)) {
            event->at_us = event->worker->frozen_until_us;
            event->order = fleet->events.order++;
            takt_heap_add(&fleet->events.planned, &event->node);
            continue;
        }
        event->happen(fleet, event);
        if (event->worker && event->worker->scheduler.out_of_memory)
            fleet->out_of_memory = true;
        free(event);
    }
    if (fleet->now_us < until_us)
        fleet->now_us = until_us;
    return fleet->out_of_memory ? TAKT_E_NOMEM : 0;
}
