/*
 * waits.h: how long many have waited, in constant memory.
 *
 * A histogram whose steps grow with the value: below 1024 us each value has its own count, above
 * that 512 counts lie between a power of two and the next.  So a percentile is exact below 1 ms and
 * at most 1/512 too large above it.
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

/* The least wait that so many of 100 did not exceed (told as the end of its step); 0 if there are
 * none. */
int64_t takt_histogram_percentile(const takt_histogram *histogram, int percent);

void takt_histogram_sum_up(const takt_histogram *histogram, takt_waits *waits);

#endif
