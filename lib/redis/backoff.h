/*
 * backoff.h: how long to wait before the next try to connect, with full jitter: anywhere from now
 * to a ceiling that doubles.  A fleet that loses its server at one instant comes back spread over
 * the whole of the ceiling, not in a wave; a server that returns is found within the longest one.
 */
#ifndef TAKT_REDIS_BACKOFF_H
#define TAKT_REDIS_BACKOFF_H

#include "base/random.h"

#define TAKT_BACKOFF_FIRST_MS   500
#define TAKT_BACKOFF_LONGEST_MS 1500

typedef struct takt_backoff {
    uint64_t random; /* the generator's state */
    int tries;       /* since the last success */
} takt_backoff;

/* The next delay, in milliseconds. */
static inline uint64_t takt_backoff_next_ms(takt_backoff *backoff)
{
    int64_t ceiling = TAKT_BACKOFF_FIRST_MS;

    for (int i = 0; i < backoff->tries && ceiling < TAKT_BACKOFF_LONGEST_MS; i++)
        ceiling *= 2;
    if (ceiling > TAKT_BACKOFF_LONGEST_MS)
        ceiling = TAKT_BACKOFF_LONGEST_MS;
    backoff->tries++;
    return (uint64_t)takt_random_below(&backoff->random, ceiling + 1);
}

#endif
