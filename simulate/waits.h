/*
 * waits.h: a distribution of waits, in constant memory.
 *
 * The histogram's steps grow with the value: below 1024 us each value has its own count; above,
 * each power of two is divided into 512 steps. So a percentile is exact below 1 ms and at most
 * 1/512 too large above.
 */
#ifndef TAKT_SIMULATE_WAITS_H
#define TAKT_SIMULATE_WAITS_H

#include <takt/simulate.h>

#define TAKT_HISTOGRAM_SIZE (512 * 56)

typedef struct takt_histogram {
    int64_t count, max_us;
    int64_t counts[TAKT_HISTOGRAM_SIZE];
} takt_histogram;

void takt_histogram_add(takt_histogram *histogram, int64_t wait_us);

/* The smallest wait that `percent` of 100 do not exceed, rounded up to the end of its step; 0: no
 * waits. */
int64_t takt_histogram_percentile(const takt_histogram *histogram, int percent);

void takt_histogram_sum_up(const takt_histogram *histogram, takt_waits *waits);

#endif
