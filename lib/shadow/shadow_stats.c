/*
 * shadow_stats.c: see shadow_stats.h.
 */
#include "shadow/shadow_stats.h"

#include <takt/error.h>

#define SIZE      (TAKT_SHADOW_STATS_STEPS * TAKT_SHADOW_STATS_POWERS)
#define FIRST_LOG 9 /* 2^9 us: the first step begins there */
#define STEPS_LOG 5

/* The step of a wait: the number of halvings, and which of the 32 steps it is in then. */
static int step_of(int64_t wait_us)
{
    int halved = 0;

    wait_us >>= FIRST_LOG - STEPS_LOG;
    while (wait_us >= 2 * TAKT_SHADOW_STATS_STEPS) {
        wait_us >>= 1;
        halved++;
    }
    if (wait_us < TAKT_SHADOW_STATS_STEPS)
        return 0;
    return halved < TAKT_SHADOW_STATS_POWERS
               ? halved * TAKT_SHADOW_STATS_STEPS + (int)wait_us - TAKT_SHADOW_STATS_STEPS
               : SIZE - 1;
}

static int64_t middle_of(int step)
{
    int halved = step / TAKT_SHADOW_STATS_STEPS + FIRST_LOG - STEPS_LOG;
    int64_t min = (int64_t)(step % TAKT_SHADOW_STATS_STEPS + TAKT_SHADOW_STATS_STEPS) << halved;

    return min + (INT64_C(1) << halved) / 2;
}

void takt_shadow_stats_grant(takt_shadow_stats *shadow_stats, int64_t wait_us, int64_t at_once_us)
{
    uint32_t *count = &shadow_stats->waits[step_of(wait_us)];

    if (wait_us <= TAKT_SHADOW_STATS_AT_ONCE || wait_us <= at_once_us) {
        shadow_stats->counts.at_once++;
        return;
    }
    shadow_stats->counts.waited++;
    *count += *count < UINT32_MAX;
    if (wait_us > shadow_stats->counts.max_us)
        shadow_stats->counts.max_us = wait_us;
}

void takt_shadow_stats_refuse(takt_shadow_stats *shadow_stats, int status)
{
    shadow_stats->counts.refused++;
    shadow_stats->counts.refused_late += status == TAKT_E_DEADLINE;
    shadow_stats->counts.refused_full += status == TAKT_E_FULL;
}

int64_t takt_shadow_stats_percentile(const takt_shadow_stats *shadow_stats, int percent)
{
    int64_t total = 0, rank, seen = 0, max_us = shadow_stats->counts.max_us;

    for (int i = 0; i < SIZE; i++)
        total += shadow_stats->waits[i];
    rank = (total * percent + 99) / 100;
    for (int i = 0; i < SIZE && total > 0; i++) {
        seen += shadow_stats->waits[i];
        if (seen >= rank)
            return middle_of(i) < max_us ? middle_of(i) : max_us;
    }
    return 0;
}
