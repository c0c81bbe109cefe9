/*
 * backoff.h: how long to pause before the next attempt to connect, and how many attempts may be
 * made.
 *
 * A pause is random: up to half a second at first, then between half and all of the time that the
 * connection has been away, 8 s at most. So an outage at most doubles for a client. A large fleet
 * comes back slowly: when 2,000 clients lose their server at one instant for at least ten seconds,
 * fewer than 500 connect in any second.
 */
#ifndef TAKT_REDIS_BACKOFF_H
#define TAKT_REDIS_BACKOFF_H

#include <uv.h>

#include "base/random.h"

#define TAKT_BACKOFF_FIRST_MS   500
#define TAKT_BACKOFF_LONGEST_MS 8000

typedef struct takt_backoff {
    uint64_t random;     /* the generator's state */
    uint64_t away_at_ms; /* when the connection was lost; 0: it works */
} takt_backoff;

/* A backoff of a connection that was not made yet, with a seed of its own. */
static inline void takt_backoff_init(takt_backoff *backoff)
{
    backoff->away_at_ms = 0;
    backoff->random = uv_hrtime() ^ (uint64_t)(uintptr_t)backoff;
    (void)uv_random(NULL, NULL, &backoff->random, sizeof backoff->random, 0,
                    NULL); /* if it fails, the clock and an address serve as the seed */
}

/* The pause that begins now, in milliseconds. */
static inline uint64_t takt_backoff_pause_ms(takt_backoff *backoff, uint64_t now_ms)
{
    uint64_t longest, shortest = 0;

    if (backoff->away_at_ms == 0)
        backoff->away_at_ms = now_ms;
    longest = now_ms - backoff->away_at_ms;
    if (longest > TAKT_BACKOFF_LONGEST_MS)
        longest = TAKT_BACKOFF_LONGEST_MS;
    if (longest < TAKT_BACKOFF_FIRST_MS)
        longest = TAKT_BACKOFF_FIRST_MS;
    else
        shortest = longest / 2;
    return shortest +
           (uint64_t)takt_random_below(&backoff->random, (int64_t)(longest - shortest) + 1);
}

#define TAKT_PACE_MS 1000

/* The last attempts of a worker: at most two in TAKT_PACE_MS. Zeros at first. */
typedef struct takt_pace {
    uint64_t last_at_ms, before_at_ms; /* 0: none */
} takt_pace;

/* How long to wait until the next attempt is permitted. */
static inline uint64_t takt_pace_wait_ms(const takt_pace *pace, uint64_t now_ms)
{
    uint64_t due_ms = pace->before_at_ms + TAKT_PACE_MS;

    return pace->before_at_ms == 0 || now_ms >= due_ms ? 0 : due_ms - now_ms;
}

/* When an attempt was made that has just begun. A loop's own time is older on a busy machine, and
 * would permit the next one too early. */
static inline uint64_t takt_pace_now_ms(void)
{
    return uv_hrtime() / 1000000 + 1;
}

static inline void takt_pace_note(takt_pace *pace, uint64_t now_ms)
{
    pace->before_at_ms = pace->last_at_ms;
    pace->last_at_ms = now_ms;
}

#endif
