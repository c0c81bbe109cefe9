/*
 * outage.h: how long to leave alone what cannot be used, such as a server that is away.  The pause
 * doubles with each try in vain, and those that were under way together count as one.  Times are
 * of a clock that only goes on.
 */
#ifndef TAKT_WORKERS_FRAME_OUTAGE_H
#define TAKT_WORKERS_FRAME_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

#define OUTAGE_FIRST_US   INT64_C(1000000)
#define OUTAGE_LONGEST_US INT64_C(60000000)

typedef struct outage {
    int64_t pause_us; /* the last pause for it; 0: it can be used, as far as is known */
    int64_t since_us;
    int64_t paused_at_us; /* when that pause became that long */
} outage;

/* A try that began then was in vain.  Returns the pause from now on. */
int64_t outage_note(outage *outage, int64_t began_us, int64_t now_us);

/* What is left of a pause; 0: it may be tried. */
int64_t outage_left(const outage *outage, int64_t now_us);

/* Whether it has lasted for less than that. */
bool outage_is_within(const outage *outage, int64_t for_us, int64_t now_us);

#endif
