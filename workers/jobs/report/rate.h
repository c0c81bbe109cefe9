/*
 * rate.h: how fast something is counted up at present: over the last ten seconds or so, as far as
 * samples are taken regularly.
 */
#ifndef TAKT_WORKERS_REPORT_RATE_H
#define TAKT_WORKERS_REPORT_RATE_H

#include <stdint.h>

#define TAKT_RATE_SAMPLES 40

typedef struct takt_rate {
    struct {
        uint64_t at_ms, count;
    } samples[TAKT_RATE_SAMPLES];
    unsigned taken; /* so many, ever; the ring holds the last of them */
} takt_rate;

void takt_rate_sample(takt_rate *rate, uint64_t now_ms, uint64_t count);

/* Per second; 0 with fewer than two samples. */
double takt_rate_now(const takt_rate *rate);

#endif
