/*
 * The wall clock, which people and other hosts use.
 */
#ifndef TAKT_KIT_WALL_CLOCK_H
#define TAKT_KIT_WALL_CLOCK_H

#include <stdint.h>

#define TAKT_WALL_CLOCK_TEXT_SIZE 64 /* with its NUL */

/* Microseconds since the Unix epoch. */
int64_t takt_wall_clock_now(void);

/* An instant in local time: "14:32:07", with the date before it unless it is today. Returns
 * `text`. */
const char *takt_wall_clock_text(int64_t at_us, char text[TAKT_WALL_CLOCK_TEXT_SIZE]);

#endif
