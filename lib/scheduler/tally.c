/*
 * tally.c: see tally.h.
 */
#include "scheduler/tally.h"

#include <takt/error.h>

#define SIZE      (TAKT_TALLY_STEPS * TAKT_TALLY_POWERS)
#define FIRST_LOG 9 /* 2^9 us: the first step begins there */
#define STEPS_LOG 5

/* The step of a wait: how often it must be halved, and which of the 32 it then lies in. */
static int step_of(int64_t wait_us)
{
    int halved = 0;

    wait_us >>= FIRST_LOG - STEPS_LOG;
    while (wait_us >= 2 * TAKT_TALLY_STEPS) {
        wait_us >>= 1;
        halved++;
    }
    if (wait_us < TAKT_TALLY_STEPS)
        return 0;
    return halved < TAKT_TALLY_POWERS ? halved * TAKT_TALLY_STEPS + (int)wait_us - TAKT_TALLY_STEPS
                                      : SIZE - 1;
}

static int64_t middle_of(int step)
{
    int halved = step / TAKT_TALLY_STEPS + FIRST_LOG - STEPS_LOG;
    int64_t min = (int64_t)(step % TAKT_TALLY_STEPS + TAKT_TALLY_STEPS) << halved;

    return min + (INT64_C(1) << halved) / 2;
}

void takt_tally_grant(takt_tally *tally, int64_t wait_us, int64_t at_once_us)
{
    uint32_t *count = &tally->waits[step_of(wait_us)];

    if (wait_us <= TAKT_TALLY_AT_ONCE || wait_us <= at_once_us) {
        tally->counts.at_once++;
        return;
    }
    tally->counts.waited++;
    *count += *count < UINT32_MAX;
    if (wait_us > tally->counts.max_us)
        tally->counts.max_us = wait_us;
}

void takt_tally_refuse(takt_tally *tally, int status)
{
    tally->counts.refused++;
    tally->counts.refused_late += status == TAKT_E_DEADLINE;
    tally->counts.refused_full += status == TAKT_E_FULL;
}

int64_t takt_tally_percentile(const takt_tally *tally, int percent)
{
    int64_t total = 0, rank, seen = 0, max_us = tally->counts.max_us;

    for (int i = 0; i < SIZE; i++)
        total += tally->waits[i];
    rank = (total * percent + 99) / 100;
    for (int i = 0; i < SIZE && total > 0; i++) {
        seen += tally->waits[i];
        if (seen >= rank)
            return middle_of(i) < max_us ? middle_of(i) : max_us;
    }
    return 0;
}
