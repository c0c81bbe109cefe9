/*
 * simulation.h: a bulk job that was simulated, as the figures and the picture want it.
 */
#ifndef TAKT_SIMULATE_SIMULATION_H
#define TAKT_SIMULATE_SIMULATION_H

#include <takt/simulate.h>

#include "core/limit.h"
#include "simulate/series.h"

struct takt_simulation {
    takt_limit limit; /* with the algorithms that were simulated */
    takt_bulk bulk;   /* its lists point to those below */
    takt_outage outages[TAKT_SIM_EVENTS_MAX];
    takt_crash crashes[TAKT_SIM_EVENTS_MAX];
    takt_figures figures;
    takt_series series;
    int tightest;    /* the rule that passes least in the long run */
    int64_t *starts; /* by worker */
    bool *crashed;   /* by worker: at least once */
};

/* Does the job: `limit`, `bulk` and the two lists by worker are there, the rest are zeros.  0 or
 * TAKT_E_NOMEM. */
int takt_simulation_compute(takt_simulation *simulation);

#endif
