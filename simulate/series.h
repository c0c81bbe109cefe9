/*
 * series.h: what happened when, in a bounded number of time steps.
 *
 * The steps begin fine and double in length when the job lasts longer than they cover, so that a
 * job of any length takes the same memory and its length need not be known.
 */
#ifndef TAKT_SIMULATE_SERIES_H
#define TAKT_SIMULATE_SERIES_H

#include <takt/simulate.h>

#include "rules/rule.h"

#define TAKT_SERIES_STEPS 2048

typedef struct takt_series_waits {
    int64_t count, sum_us, max_us;
} takt_series_waits;

typedef struct takt_series_step {
    takt_amounts taken; /* by the starts */
    takt_series_waits waits[TAKT_SIM_PRIORITIES];
} takt_series_step;

typedef struct takt_series {
    int64_t step_us;
    int steps; /* steps in use */
    takt_series_step step[TAKT_SERIES_STEPS];
} takt_series;

/* Needs zeros. period_us is the shortest of the rules: steps of a period or more are multiples of
 * it. */
void takt_series_init(takt_series *series, int64_t period_us);

/* A job started `after_us` after the beginning. */
void takt_series_add(takt_series *series, int64_t after_us, int priority, takt_amounts taken,
                     int64_t wait_us);

/* Sums `count` steps from `first` on; steps that are not in use are empty. */
void takt_series_sum(const takt_series *series, int64_t first, int64_t count,
                     takt_series_step *sum);

#endif
