/*
 * screen.h: the picture on the terminal of standard error: remembers what is drawn, so that it can
 * be redrawn and lines can be written above it.
 */
#ifndef TAKT_WORKERS_REPORT_SCREEN_H
#define TAKT_WORKERS_REPORT_SCREEN_H

#include "picture.h"
#include "sink.h"

typedef struct takt_screen {
    int fd;
    unsigned columns, rows;
    takt_report_picture drawn, fresh; /* drawn.count 0: nothing is drawn */
    char text[TAKT_REPORT_PICTURE_SIZE];
} takt_screen;

/* Catches SIGCONT from now on.  A shell may have written below the picture while the process was
 * stopped.  The old picture then stays on the terminal, and the next one is drawn below. */
void takt_screen_open(takt_screen *screen, int fd);

/* Draws the picture; nothing while the terminal is slow or belongs to another job. */
void takt_screen_draw(takt_screen *screen, takt_sink *sink, const takt_figures *figures,
                      const takt_policy *policy);

/* Wipes the picture: the next output goes above the next picture. */
void takt_screen_wipe(takt_screen *screen, takt_sink *sink);

#endif
