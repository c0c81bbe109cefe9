/*
 * picture.h: simulations as one SVG picture, as a file or inside a page.
 */
#ifndef TAKT_SIMULATE_DRAW_PICTURE_H
#define TAKT_SIMULATE_DRAW_PICTURE_H

#include "simulate/draw/format.h"
#include "simulate/simulation.h"

#define TAKT_SIMULATIONS_MAX 16

/* Writes the whole picture, of 1 to TAKT_SIMULATIONS_MAX simulations. */
void takt_picture_put(takt_page *page, const takt_simulation *const *simulations, unsigned count,
                      const char *title);

/* "gcra, fixed-window": the algorithms of a simulation. */
void takt_picture_put_algorithms(takt_page *page, const takt_simulation *simulation);

/* The job in one line. */
void takt_picture_put_deed(takt_page *page, const takt_simulation *simulation);

#endif
