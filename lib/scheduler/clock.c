/*
 * clock.c: see clock.h.
 */
#include "scheduler/clock.h"

#define DRIFT_PER 5000 /* one part in that many: 200 ppm, two crystals at their worst */

/* The bound at local_us, grown by the drift since it was noted. */
static int64_t offset_at(const takt_clock *clock, int64_t local_us)
{
    int64_t age_us = local_us - clock->noted_at_us;

    return clock->offset_us + (age_us > 0 ? age_us / DRIFT_PER : 0);
}

void takt_clock_note(takt_clock *clock, int64_t sent_us, int64_t received_us, int64_t store_now_us)
{
    int64_t bound = received_us - store_now_us;
    int64_t kept = offset_at(clock, received_us);
    bool contradicted = sent_us - store_now_us > kept;

    clock->offset_us = !clock->known || contradicted || bound < kept ? bound : kept;
    clock->noted_at_us = received_us;
    clock->known = true;
}

int64_t takt_clock_local(const takt_clock *clock, int64_t store_us)
{
    return store_us + clock->offset_us;
}

int64_t takt_clock_store(const takt_clock *clock, int64_t local_us)
{
    return local_us - clock->offset_us;
}
