/*
 * shadow_stats.h: what would have come of the acquires of one limit in shadow: how many, and how
 * long they would have waited, in constant memory.
 *
 * The waits are a histogram whose steps grow with the value: 32 of them lie between a power of two
 * and the next, so the middle of a step is at most 1/64 off what was counted there.
 */
#ifndef TAKT_SHADOW_SHADOW_STATS_H
#define TAKT_SHADOW_SHADOW_STATS_H

#include <takt/takt.h>

#include "base/list.h"

#define TAKT_SHADOW_STATS_STEPS 32
#define TAKT_SHADOW_STATS_POWERS                                                                   \
    32 /* from 2^9 us on; what is longer than 2^41 us (25 days) counts as that */
#define TAKT_SHADOW_STATS_AT_ONCE INT64_C(1000) /* nobody tells that from no wait at all */

typedef struct takt_shadow_stats {
    char limit[TAKT_NAME_SIZE_MAX + 1];
    takt_shadow counts;     /* but for the percentiles */
    int64_t shadow_waiters; /* that there are now */
    takt_link link;         /* among those of a scheduler */
    uint32_t waits[TAKT_SHADOW_STATS_STEPS * TAKT_SHADOW_STATS_POWERS];
} takt_shadow_stats;

/* One would have been granted after so long; what is no more than at_once_us is no wait. */
void takt_shadow_stats_grant(takt_shadow_stats *shadow_stats, int64_t wait_us, int64_t at_once_us);

/* One would have failed with that status. */
void takt_shadow_stats_refuse(takt_shadow_stats *shadow_stats, int status);

/* The wait that so many of 100 of those who waited did not exceed; 0 if there are none. */
int64_t takt_shadow_stats_percentile(const takt_shadow_stats *shadow_stats, int percent);

#endif
