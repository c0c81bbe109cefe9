/*
 * simulation.h: a simulated bulk job, for its figures and its picture.
 */
#ifndef TAKT_SIMULATE_SIMULATION_H
#define TAKT_SIMULATE_SIMULATION_H

#include <takt/simulate.h>

#include "core/limit.h"
#include "simulate/series.h"

struct takt_simulation {
    takt_limit limit; /* with the simulated algorithms */
    takt_bulk bulk;   /* its lists are those below */
    /* What a job takes, at least and at most: of the limit's first unit, and of the others. */
    int32_t cost_min, cost_max;
    takt_more more_min, more_max;
    takt_outage outages[TAKT_SIM_EVENTS_MAX];
    takt_crash crashes[TAKT_SIM_EVENTS_MAX];
    takt_figures figures;
    takt_series series;
    int64_t *starts; /* by worker */
    bool *crashed;   /* by worker: crashed at least once */
};

/* Runs the job: `limit`, `bulk` and what a job takes and the two lists by worker are set, the rest
 * are zeros. 0 or TAKT_E_NOMEM. */
int takt_simulation_compute(takt_simulation *simulation);

#endif
