/*
 * outage.c: see outage.h.
 */
#include "outage.h"

int64_t takt_outage_note(takt_outage *outage, int64_t began_us, int64_t now_us)
{
    int64_t longer = outage->pause_us == 0 ? TAKT_OUTAGE_FIRST_US : 2 * outage->pause_us;

    if (outage->pause_us == 0)
        outage->since_us = now_us;
    if (outage->pause_us == 0 || began_us >= outage->paused_at_us + outage->pause_us) {
        outage->pause_us = longer < TAKT_OUTAGE_LONGEST_US ? longer : TAKT_OUTAGE_LONGEST_US;
        outage->paused_at_us = now_us;
    }
    return outage->pause_us;
}

int64_t takt_outage_left(const takt_outage *outage, int64_t now_us)
{
    int64_t left_us = outage->paused_at_us + outage->pause_us - now_us;

    return outage->pause_us > 0 && left_us > 0 ? left_us : 0;
}

bool takt_outage_is_within(const takt_outage *outage, int64_t for_us, int64_t now_us)
{
    return now_us - outage->since_us < for_us;
}
