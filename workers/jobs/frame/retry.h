/*
 * retry.h: how long a failed job waits for its next attempt: exponential back-off with full jitter,
 * so that a thousand jobs that failed together do not come back together.
 */
#ifndef TAKT_WORKERS_FRAME_RETRY_H
#define TAKT_WORKERS_FRAME_RETRY_H

#include <stdint.h>

typedef struct takt_retry_rule {
    unsigned attempts; /* attempts of a job in all; at least 1 */
    /* the longest wait after the first attempt; doubled by each further one ... */
    int64_t first_us;
    int64_t longest_us; /* ... up to this */
} takt_retry_rule;

/*
 * The longest wait after the attempt-th attempt (from 1):
 *
 *     min(longest, first * 2^(attempt - 1))
 */
int64_t takt_retry_bound(const takt_retry_rule *rule, unsigned attempt);

/* A random wait from 0 to that bound, evenly distributed, and at least `after_us`. `random` is the
 * caller's state of the generator. */
int64_t takt_retry_wait(const takt_retry_rule *rule, unsigned attempt, int64_t after_us,
                        uint64_t *random);

#endif
