/*
 * The wall clock, by which a person and other hosts go.
 */
#ifndef TAKT_KIT_WALL_CLOCK_H
#define TAKT_KIT_WALL_CLOCK_H

#include <stdint.h>

/* Microseconds since the Unix epoch. */
int64_t takt_wall_clock_now(void);

#endif
