/*
 * utilization.h: how well a simulated fleet uses its permits: for which part of the time they are
 * held, and how long a permit is free between two jobs.
 */
#ifndef TAKT_SIMULATE_UTILIZATION_H
#define TAKT_SIMULATE_UTILIZATION_H

#include "simulate/waits.h"

typedef struct takt_utilization {
    int64_t held, max; /* permits held now, and the most at one time */
    int64_t changed_us, held_us;
    int64_t first_us, last_us, held_by_last_us; /* the first and the last take */
    int64_t *freed_us;                          /* a ring of the times of releases, in order */
    size_t first_freed, freed_count, capacity;
    takt_histogram hand_over;
} takt_utilization;

/* At most `max` permits are held at the same time. 0 or TAKT_E_NOMEM. */
int takt_utilization_open(takt_utilization *utilization, size_t max);
void takt_utilization_close(takt_utilization *utilization);

/* A permit is taken (the one released first), released, or lost without a release, for which other
 * workers have to wait. */
void takt_utilization_take(takt_utilization *utilization, int64_t now_us);
void takt_utilization_give_back(takt_utilization *utilization, int64_t now_us);
void takt_utilization_lose(takt_utilization *utilization, int64_t now_us);

/* The part of the time of `permits` permits, from the first take to the last, during which they
 * were held, in millionths. */
int64_t takt_utilization_busy_ppm(const takt_utilization *utilization, int64_t permits);

#endif
