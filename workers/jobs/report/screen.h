/*
 * screen.h: the picture on standard error's terminal: where it stands, so that it can be drawn anew
 * and lines can go above it.
 */
#ifndef TAKT_WORKERS_REPORT_SCREEN_H
#define TAKT_WORKERS_REPORT_SCREEN_H

#include "picture.h"
#include "sink.h"

typedef struct takt_screen {
    int fd;
    unsigned columns, rows;
    takt_report_picture drawn, fresh; /* drawn.count 0: nothing stands there */
    char text[TAKT_REPORT_PICTURE_SIZE];
} takt_screen;

void takt_screen_open(takt_screen *screen, int fd);

/* Draws the picture, or nothing while the terminal is behind or is another job's. */
void takt_screen_draw(takt_screen *screen, takt_sink *sink, const takt_figures *figures,
                      const takt_policy *policy);

/* Wipes it: what is written next is above the next one. */
void takt_screen_wipe(takt_screen *screen, takt_sink *sink);

/* Something else was written, and what stands there is not ours to change any more. */
void takt_screen_forget(takt_screen *screen);

#endif
