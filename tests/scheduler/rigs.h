/*
 * A scheduler whose driver, store and callers are played by the test. The local clock starts at
 * NOW, and the store's clock shows the same unless a test says otherwise, so all times are relative
 * to NOW.
 */
#ifndef TAKT_TESTS_SCHEDULER_RIGS_H
#define TAKT_TESTS_SCHEDULER_RIGS_H

#include <stdio.h>
#include <string.h>

#include "core/limits.h"
#include "scheduler/claims.h"
#include "scheduler/registry.h"
#include "scheduler/scheduler.h"
#include "scheduler/waiter.h"

#define RIG_PERMITS 300
#define ALWAYS      (-1) /* no deadline */

typedef struct rig {
    takt_limit limit;
    takt_scheduler s;
    takt_queue *queue;
    takt_permit permits[RIG_PERMITS];
    int permit_count;
    takt_claim claim;                   /* the last one */
    int64_t sent_us;                    /* when it was sent; after NOW */
    int claims;                         /* in the last pass */
    bool (*taken)(takt_permit *permit); /* whether it is not to be noted; NULL: all are */
    char fired[RIG_PERMITS * 4 +
               1]; /* in the last pass: the letter of each, with its status where that is not 0 */
} rig;

static inline void open_rig(rig *r)
{
    *r = (rig){.limit = limit_named(10, SECOND, 1)};
    cr_assert_eq(takt_registry_init(&r->s, 7, 1, r), 0);
    r->queue = takt_registry_queue(&r->s, &r->limit, "key");
    cr_assert_not_null(r->queue);
}

static inline void close_rig(rig *r)
{
    takt_registry_close(&r->s);
}

/* The n-th waiter is called by the n-th letter from `a` on. */
static inline takt_permit *acquire(rig *r, int priority, int32_t cost, int64_t deadline_us)
{
    takt_permit *permit = &r->permits[r->permit_count++];

    *permit =
        (takt_permit){.cost = cost,
                      .priority = (int8_t)priority,
                      .deadline_at_us = deadline_us == ALWAYS ? TAKT_NEVER : NOW + deadline_us};
    takt_waiter_acquire(&r->s, r->queue, permit);
    return permit;
}

static inline void acquire_many(rig *r, int count)
{
    for (int i = 0; i < count; i++)
        acquire(r, 5, 1, ALWAYS);
}

/* One pass as a driver makes it: notes the claims, then the permits whose callbacks are due. */
static inline const char *pass(rig *r, int64_t at_us)
{
    takt_permit *permit;
    takt_queue *queue;
    takt_claim claim;
    size_t size = 0;

    takt_scheduler_run(&r->s, NOW + at_us);
    r->claims = 0;
    while ((queue = takt_claims_next(&r->s, NOW + at_us, &claim))) {
        r->claim = claim;
        r->sent_us = at_us;
        r->claims++;
    }
    r->fired[0] = '\0';
    while ((permit = takt_scheduler_next_fired(&r->s))) {
        if (r->taken && r->taken(permit))
            continue;
        r->fired[size++] = (char)('a' + (permit - r->permits));
        if (permit->status)
            size += (size_t)snprintf(r->fired + size, sizeof r->fired - size, "%d", permit->status);
        r->fired[size] = '\0';
    }
    return r->fired;
}

/* An award of `count` slots from first_us on, step_us apart, that leaves an empty line. */
static inline takt_award award_of(int64_t now_us, int64_t first_us, int64_t step_us, int64_t count,
                                  int32_t cost)
{
    takt_award award = {.now_us = NOW + now_us,
                        .claim_again_at_us = TAKT_NEVER,
                        .next_slot_at_us = NOW + first_us + count * step_us,
                        .least_urgent = -1,
                        .run_count = count > 0};

    award.runs[0] = (takt_run){{NOW + first_us, 0}, {step_us, 0}, 1, count, cost, {{0}}, 0};
    return award;
}

static inline void answer(rig *r, int64_t at_us, const takt_award *award)
{
    takt_scheduler_award(&r->s, r->queue, award, NOW + r->sent_us, NOW + at_us);
}

/* The scheduler's next wake-up, after NOW; -1: never. */
static inline int64_t wake_us(const rig *r)
{
    int64_t at_us = takt_scheduler_pass_at(&r->s);

    return at_us == TAKT_NEVER ? -1 : at_us - NOW;
}

#endif
