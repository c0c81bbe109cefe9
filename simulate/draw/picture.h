/*
 * picture.h: courses as one SVG picture, for a file of its own or inside a page.
 */
#ifndef TAKT_SIMULATE_DRAW_PICTURE_H
#define TAKT_SIMULATE_DRAW_PICTURE_H

#include "simulate/course.h"
#include "simulate/draw/words.h"

#define TAKT_COURSES_MAX 16

/* The whole picture, 1 to TAKT_COURSES_MAX courses. */
void takt_picture_put(takt_page *page, const takt_course *const *courses, unsigned count,
                      const char *title);

/* "gcra, fixed-window": the algorithms of a course. */
void takt_picture_put_algorithms(takt_page *page, const takt_course *course);

/* What was done, in one line. */
void takt_picture_put_deed(takt_page *page, const takt_course *course);

#endif
