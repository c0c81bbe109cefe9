/*
 * retry.h: how long a job that failed waits until it is tried again: exponential back-off with full
 * jitter, so that a thousand jobs that failed together do not come back together.
 */
#ifndef TAKT_WORKERS_FRAME_RETRY_H
#define TAKT_WORKERS_FRAME_RETRY_H

#include <stdint.h>

typedef struct takt_retry_rule {
    unsigned attempts;  /* so often a job is tried in all; at least 1 */
    int64_t first_us;   /* the longest wait after the first attempt; each one doubles it ... */
    int64_t longest_us; /* ... up to this */
} takt_retry_rule;

/*
 * The longest wait after the attempt-th attempt (from 1):
 *
 *     min(longest, first * 2^(attempt - 1))
 */
int64_t takt_retry_bound(const takt_retry_rule *rule, unsigned attempt);

/* A wait of 0 to that bound, every length as likely as another; at least `after_us`.  `random` is
 * the state of a generator, which is the caller's. */
int64_t takt_retry_wait(const takt_retry_rule *rule, unsigned attempt, int64_t after_us,
                        uint64_t *random);

#endif
