/*
 * panels.h: the four charts of one simulation, and the axes that several simulations share.
 */
#ifndef TAKT_SIMULATE_DRAW_PANELS_H
#define TAKT_SIMULATE_DRAW_PANELS_H

#include "simulate/draw/chart.h"
#include "simulate/simulation.h"

#define TAKT_BINS_MAX 240

/* The axes that all charts of a picture share, so that simulations can be compared by eye. */
typedef struct takt_axes {
    double duration_us;
    int64_t bin_us; /* the bin of starts and waits */
    int bins;
    double rate_end, wait_end, close_up_end, share_end; /* of the vertical axes */
    double close_up_us;
} takt_axes;

void takt_axes_fit(takt_axes *axes, const takt_simulation *const *simulations, unsigned count);

/* The charts of one simulation, in the band of the picture that begins at y. */
#define TAKT_BAND_HEIGHT 4400
void takt_panels_draw(takt_page *page, const takt_axes *axes, const takt_simulation *simulation,
                      int y);

/* "gcra 100/s burst 10, fixed-window 800/day" */
void takt_simulation_describe(const takt_simulation *simulation, char *text, size_t size);

#endif
