/*
 * panels.h: the charts of one simulation, one panel each: what each rule counts against its quota,
 * the waits, and the starts of each worker.
 */
#ifndef TAKT_SIMULATE_DRAW_PANELS_H
#define TAKT_SIMULATE_DRAW_PANELS_H

#include "simulate/draw/chart.h"
#include "simulate/simulation.h"

#define TAKT_BINS_MAX 240

/* A panel with its margins. */
#define TAKT_PANEL_WIDTH  4800
#define TAKT_PANEL_HEIGHT 2850

/* The axes that all charts of a picture share, so that simulations can be compared by eye. */
typedef struct takt_axes {
    double duration_us;
    int64_t bin_us; /* the bin of counts and waits */
    int bins;
    double rule_end[TAKT_RULES_MAX], wait_end, share_end; /* of the vertical axes */
} takt_axes;

void takt_axes_fit(takt_axes *axes, const takt_simulation *const *simulations, unsigned count);

/* The number of panels, and one of them, with its upper left corner. */
int takt_panels_count(const takt_simulation *simulation);
void takt_panels_draw(takt_page *page, const takt_axes *axes, const takt_simulation *simulation,
                      int panel, int x, int y);

/* "gcra 100/s burst 10, fixed-window 800/day" */
void takt_simulation_describe(const takt_simulation *simulation, char *text, size_t size);

#endif
