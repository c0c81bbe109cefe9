/*
 * rate.c: a ring of samples; the rate is the difference between the oldest and the newest.
 */
#include "kit/rate.h"

void takt_rate_sample(takt_rate *rate, uint64_t now_ms, uint64_t count)
{
    unsigned at = rate->taken++ % TAKT_RATE_SAMPLES;

    rate->samples[at].at_ms = now_ms;
    rate->samples[at].count = count;
}

double takt_rate_now(const takt_rate *rate)
{
    if (rate->taken < 2)
        return 0;
    unsigned newest = (rate->taken - 1) % TAKT_RATE_SAMPLES;
    unsigned oldest = rate->taken > TAKT_RATE_SAMPLES ? rate->taken % TAKT_RATE_SAMPLES : 0;
    uint64_t span_ms = rate->samples[newest].at_ms - rate->samples[oldest].at_ms;
    uint64_t count = rate->samples[newest].count - rate->samples[oldest].count;
    return span_ms > 0 ? (double)count * 1000.0 / (double)span_ms : 0;
}
