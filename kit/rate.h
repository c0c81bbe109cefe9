/*
 * How fast a counter rises at present: over the last TAKT_RATE_SAMPLES samples, which are taken at
 * regular times.
 */
#ifndef TAKT_KIT_RATE_H
#define TAKT_KIT_RATE_H

#include <stdint.h>

#define TAKT_RATE_SAMPLES 40

typedef struct takt_rate {
    struct {
        uint64_t at_ms, count;
    } samples[TAKT_RATE_SAMPLES];
    unsigned taken; /* samples in all; the ring holds the last ones */
} takt_rate;

void takt_rate_sample(takt_rate *rate, uint64_t now_ms, uint64_t count);

/* Per second; 0 with fewer than two samples. */
double takt_rate_now(const takt_rate *rate);

#endif
