/*
 * clock.c: see clock.h.
 */
#include "scheduler/clock.h"

#define DRIFT_PER 5000 /* 200 ppm, in parts: two crystals at their worst */

/* How far two clocks may have drifted apart in `age_us`, rounded up. */
static int64_t drift(int64_t age_us)
{
    return age_us > 0 ? age_us / DRIFT_PER + 1 : 0;
}

/* A bound that is kept is not noted again, so that its growth is not lost in small steps. */
void takt_clock_note(takt_clock *clock, int64_t sent_us, int64_t received_us, int64_t store_now_us)
{
    int64_t bound = received_us - store_now_us;
    int64_t kept = clock->offset_us + drift(received_us - clock->noted_at_us);
    bool contradicted = sent_us - store_now_us > kept;

    if (clock->known && !contradicted && bound >= kept)
        return;
    clock->offset_us = bound;
    clock->noted_at_us = received_us;
    clock->known = true;
}

int64_t takt_clock_local(const takt_clock *clock, int64_t store_us)
{
    int64_t local_us = store_us + clock->offset_us;

    return clock->known ? local_us + drift(local_us - clock->noted_at_us) : local_us;
}

/* The exact inverse: after a sleep until takt_clock_local(t), t has passed. */
int64_t takt_clock_store(const takt_clock *clock, int64_t local_us)
{
    int64_t age_us = local_us - clock->noted_at_us;

    if (clock->known && age_us > 0)
        local_us -= 1 + age_us / (DRIFT_PER + 1);
    return local_us - clock->offset_us;
}
