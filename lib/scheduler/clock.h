/*
 * clock.h: the store's clock as seen from this process.
 *
 * An award tells the store's time at a moment between the sending of the claim and the coming of
 * the answer, both by this process's monotonic clock.  So each award bounds the offset `local -
 * store` from below and from above. The lowest upper bound seen is used: what is due by it is due
 * for certain, and the slower answers do no harm. It is let grow by what two clocks may drift
 * apart, and given up when an award contradicts it (the store's clock was set back).  No wall clock
 * of this machine takes part.
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

/* Takes in what an award tells: sent and received by the local clock, now by the store's. */
void takt_clock_note(takt_clock *clock, int64_t sent_us, int64_t received_us, int64_t store_now_us);

/* A local time at which the store's clock shows store_us for certain. */
int64_t takt_clock_local(const takt_clock *clock, int64_t store_us);

/* A store's time that has passed for certain when the local clock shows local_us. */
int64_t takt_clock_store(const takt_clock *clock, int64_t local_us);

#endif
