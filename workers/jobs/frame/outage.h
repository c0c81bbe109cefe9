/*
 * outage.h: how long to leave alone what cannot be used, such as a server that is away.  The pause
 * doubles with each try in vain, and those that were under way together count as one.  Times are
 * of a clock that only goes on.
 */
#ifndef TAKT_WORKERS_FRAME_OUTAGE_H
#define TAKT_WORKERS_FRAME_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

#define TAKT_OUTAGE_FIRST_US   INT64_C(1000000)
#define TAKT_OUTAGE_LONGEST_US INT64_C(60000000)

typedef struct takt_outage {
    int64_t pause_us; /* the last pause for it; 0: it can be used, as far as is known */
    int64_t since_us;
    int64_t paused_at_us; /* when that pause became that long */
} takt_outage;

/* A try that began then was in vain.  Returns the pause from now on. */
int64_t takt_outage_note(takt_outage *outage, int64_t began_us, int64_t now_us);

/* What is left of a pause; 0: it may be tried. */
int64_t takt_outage_left(const takt_outage *outage, int64_t now_us);

/* Whether it has lasted for less than that. */
bool takt_outage_is_within(const takt_outage *outage, int64_t for_us, int64_t now_us);

#endif
