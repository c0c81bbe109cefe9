/*
 * clock.h: the store's clock as seen from this process.
 *
 * An award brings the store's time at a moment between the sending of the claim and the arrival of
 * the answer; both are times of this process's monotonic clock.  So each award bounds the offset
 * `local - store` from below and from above.  The lowest upper bound seen is used: a slot that is
 * due by this bound is certainly due, and slow answers do no harm.  The bound grows by the drift
 * that two clocks may have, and is dropped when an award contradicts it (the store's clock was set
 * back).  No wall clock of this machine is used.
 */
#ifndef TAKT_SCHEDULER_CLOCK_H
#define TAKT_SCHEDULER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct takt_clock {
    int64_t offset_us;   /* an upper bound of local - store at noted_at_us */
    int64_t noted_at_us; /* by the local clock */
    bool known;
} takt_clock;

/* Takes in an award: the local times of sending and receiving, and the store's time. */
void takt_clock_note(takt_clock *clock, int64_t sent_us, int64_t received_us, int64_t store_now_us);

/* A local time at which the store's clock certainly shows store_us. */
int64_t takt_clock_local(const takt_clock *clock, int64_t store_us);

/* A time that the store's clock has certainly passed when the local clock shows local_us. */
int64_t takt_clock_store(const takt_clock *clock, int64_t local_us);

#endif
