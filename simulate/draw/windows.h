/*
 * windows.h: how much a rule counts at each moment of a simulation, to be drawn beside its quota.
 */
#ifndef TAKT_SIMULATE_DRAW_WINDOWS_H
#define TAKT_SIMULATE_DRAW_WINDOWS_H

#include "simulate/simulation.h"

/* What a rule's values are. */
typedef enum takt_windows_kind {
    TAKT_WINDOWS_MEAN,     /* a bin has several periods: the mean of one period */
    TAKT_WINDOWS_TRAILING, /* the most in any period that ends within the bin */
    TAKT_WINDOWS_FIXED     /* the most in the window by the clock or by first use */
} takt_windows_kind;

/* Fills one value for each bin, of the unit that the rule counts. Within a step of the
 * series work is taken to be even. */
takt_windows_kind takt_windows_count(const takt_simulation *simulation, int rule, int64_t bin_us,
                                     int bins, double *values);

#endif
