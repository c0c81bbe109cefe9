/*
 * picture.h: simulations as one SVG picture, and what a page with the same panels shares with it.
 */
#ifndef TAKT_SIMULATE_DRAW_PICTURE_H
#define TAKT_SIMULATE_DRAW_PICTURE_H

#include "simulate/draw/format.h"
#include "simulate/simulation.h"

#define TAKT_SIMULATIONS_MAX 16
#define TAKT_DEED_SIZE       512

extern const char takt_picture_style[]; /* the style sheet of panels */

/* "gcra, fixed-window": the algorithms of a simulation. */
void takt_picture_put_algorithms(takt_page *page, const takt_simulation *simulation);

/* The job in one line. */
void takt_picture_deed(const takt_simulation *simulation, char text[TAKT_DEED_SIZE]);

#endif
