/*
 * A test's scheduler whose store is lost: see rigs.h.
 */
#ifndef TAKT_TESTS_SCHEDULER_LOSSES_H
#define TAKT_TESTS_SCHEDULER_LOSSES_H

#include "scheduler/loss.h"
#include "scheduler/rigs.h"

static rig r;

static inline void set_up(void)
{
    open_rig(&r);
}

static inline void tear_down(void)
{
    close_rig(&r);
}

static inline void fail(int64_t at_us, int status)
{
    takt_scheduler_failed(&r.s, r.queue, status, NOW + at_us);
}

/* The store has answered once, with nothing to give: so many workers stand in line. */
static inline void hear(int64_t at_us, int64_t workers)
{
    takt_award award = award_of(at_us, at_us, 0, 0, 1);

    award.workers = workers;
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + at_us;
    answer(&r, at_us, &award);
}

static inline int fallbacks(void)
{
    int count = 0;

    while (takt_loss_next_fallback(&r.s))
        count++;
    return count;
}

/* Passes at each requested time, while all claims fail; returns which permits fired and when:
 * "a@350 ". */
static inline const char *run_alone(int64_t from_us, int64_t until_us)
{
    static char text[4096];
    size_t size = 0;

    text[0] = '\0';
    for (int64_t at_us = from_us; at_us != -1 && at_us <= until_us; at_us = wake_us(&r)) {
        const char *fired = pass(&r, at_us);
        if (r.claims)
            fail(at_us, TAKT_E_STORE);
        if (*fired)
            size += (size_t)snprintf(text + size, sizeof text - size, "%s@%" PRId64 " ", fired,
                                     at_us / MS);
        pass(&r, at_us);
    }
    return text;
}

#endif
