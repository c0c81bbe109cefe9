/*
 * shadow_stats.h: what would have happened to the acquires of one shadow limit: their number, and
 * how long they would have waited, in constant memory.
 *
 * The waits are a histogram whose steps grow with the value: 32 steps lie between a power of two
 * and the next, so the middle of a step differs by at most 1/64 from a value counted there.
 */
#ifndef TAKT_SHADOW_SHADOW_STATS_H
#define TAKT_SHADOW_SHADOW_STATS_H

#include <takt/takt.h>

#include "base/list.h"

#define TAKT_SHADOW_STATS_STEPS 32
#define TAKT_SHADOW_STATS_POWERS                                                                   \
    32 /* from 2^9 us on; the last step also counts all waits above 2^41 us (25 days) */
#define TAKT_SHADOW_STATS_AT_ONCE INT64_C(1000) /* so short a wait counts as none */

typedef struct takt_shadow_stats {
    char limit[TAKT_NAME_SIZE_MAX + 1];
    takt_shadow counts;     /* except the percentiles */
    int64_t shadow_waiters; /* the present number */
    takt_link link;         /* in a scheduler's list */
    uint32_t waits[TAKT_SHADOW_STATS_STEPS * TAKT_SHADOW_STATS_POWERS];
} takt_shadow_stats;

/* An acquire would have been granted after that wait; up to at_once_us it counts as no wait. */
void takt_shadow_stats_grant(takt_shadow_stats *shadow_stats, int64_t wait_us, int64_t at_once_us);

/* An acquire would have failed with that status. */
void takt_shadow_stats_refuse(takt_shadow_stats *shadow_stats, int status);

/* The wait that this percentage of the waiters did not exceed; 0: none has waited. */
int64_t takt_shadow_stats_percentile(const takt_shadow_stats *shadow_stats, int percent);

#endif
