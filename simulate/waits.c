/*
 * waits.c: see waits.h.
 */
#include "simulate/waits.h"

#define STEPS     512
#define STEPS_LOG 9

/* The bucket of a value: below 2 * STEPS the value itself; above, by how often it must be halved to
 * come below that. */
static int bucket_of(int64_t value)
{
    int halved = 0;

    while (value >= 2 * STEPS) {
        value >>= 1;
        halved++;
    }
    return halved * STEPS + (int)value;
}

/* The largest value of that bucket. */
static int64_t end_of(int bucket)
{
    int halved = bucket < 2 * STEPS ? 0 : (bucket >> STEPS_LOG) - 1;

    return (int64_t)(((uint64_t)(bucket - halved * STEPS + 1) << halved) - 1);
}

void takt_histogram_add(takt_histogram *histogram, int64_t wait_us)
{
    histogram->counts[bucket_of(wait_us > 0 ? wait_us : 0)]++;
    histogram->count++;
    if (wait_us > histogram->max_us)
        histogram->max_us = wait_us;
}

int64_t takt_histogram_percentile(const takt_histogram *histogram, int percent)
{
    int64_t rank = (histogram->count * percent + 99) / 100, seen = 0;

    if (histogram->count == 0)
        return 0;
    for (int bucket = 0; bucket < TAKT_HISTOGRAM_SIZE; bucket++) {
        seen += histogram->counts[bucket];
        if (seen >= rank)
            return end_of(bucket) < histogram->max_us ? end_of(bucket) : histogram->max_us;
    }
    return histogram->max_us;
}

void takt_histogram_sum_up(const takt_histogram *histogram, takt_waits *waits)
{
    waits->count = histogram->count;
    waits->p50_us = takt_histogram_percentile(histogram, 50);
    waits->p95_us = takt_histogram_percentile(histogram, 95);
    waits->p99_us = takt_histogram_percentile(histogram, 99);
    waits->max_us = histogram->max_us;
}
