/*
 * utilization.h: how well a simulated fleet uses its permits: for how much of the time they are
 * held, and how long each is free between one job and the next.
 */
#ifndef TAKT_SIMULATE_UTILIZATION_H
#define TAKT_SIMULATE_UTILIZATION_H

#include "simulate/waits.h"

typedef struct takt_utilization {
    int64_t held, max; /* now, at the same time */
    int64_t changed_us, held_us;
    int64_t first_us, last_us, held_by_last_us; /* the first and the last that was taken */
    int64_t *freed_us;                          /* a ring of those that were given back, in order */
    size_t first_freed, freed_count, capacity;
    takt_histogram hand_over;
} takt_utilization;

/* At most so many are held at the same time.  0 or TAKT_E_NOMEM. */
int takt_utilization_open(takt_utilization *utilization, size_t max);
void takt_utilization_close(takt_utilization *utilization);

/* One is taken: that which was given back first.  Or given back; or lost without a word, which
 * others have to wait for. */
void takt_utilization_take(takt_utilization *utilization, int64_t now_us);
void takt_utilization_give_back(takt_utilization *utilization, int64_t now_us);
void takt_utilization_lose(takt_utilization *utilization, int64_t now_us);

/* Of the time of so many permits, from the first taking to the last, what they were held: in
 * millionths. */
int64_t takt_utilization_busy_ppm(const takt_utilization *utilization, int64_t permits);

#endif
