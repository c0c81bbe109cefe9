/*
 * outage.h: how long to leave an unavailable server or resource alone. Each failed try doubles the
 * pause; tries that were under way at the same time, or begin before the pause is over, as jobs of
 * other keys do, count as one. Times come from a monotonic clock.
 */
#ifndef TAKT_WORKERS_FRAME_OUTAGE_H
#define TAKT_WORKERS_FRAME_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

#define TAKT_OUTAGE_FIRST_US   INT64_C(1000000)
#define TAKT_OUTAGE_LONGEST_US INT64_C(60000000)

typedef struct takt_outage {
    int64_t pause_us; /* the current pause; 0: available as far as known */
    int64_t since_us;
    int64_t paused_at_us; /* when the pause got its present length */
} takt_outage;

/* Notes a failed try that began at `began_us`. Returns the new pause. */
int64_t takt_outage_note(takt_outage *outage, int64_t began_us, int64_t now_us);

/* The rest of the pause; 0: a try is allowed. */
int64_t takt_outage_left(const takt_outage *outage, int64_t now_us);

/* Whether the outage is shorter than `for_us`. */
bool takt_outage_is_within(const takt_outage *outage, int64_t for_us, int64_t now_us);

#endif
