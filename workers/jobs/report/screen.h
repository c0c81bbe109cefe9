/*
 * screen.h: the picture on standard error's terminal: where it stands, so that it can be drawn anew
 * and lines can go above it.
 */
#ifndef TAKT_WORKERS_REPORT_SCREEN_H
#define TAKT_WORKERS_REPORT_SCREEN_H

#include "picture.h"
#include "sink.h"

typedef struct screen {
    int fd;
    unsigned columns, rows;
    picture drawn, fresh; /* drawn.count 0: nothing stands there */
    char text[PICTURE_SIZE];
} screen;

/* Whether a picture can be drawn there at all. */
bool screen_is_possible(int fd);

void screen_open(screen *screen, int fd);

/* Draws the picture, or nothing while the terminal is behind or is another job's. */
void screen_draw(screen *screen, sink *sink, const figures *figures, const takt_policy *policy);

/* Wipes it: what is written next is above the next one. */
void screen_wipe(screen *screen, sink *sink);

/* Something else was written, and what stands there is not ours to change any more. */
void screen_forget(screen *screen);

#endif
