/*
 * One queue with waiters and slots in hand, without a scheduler.
 */
#ifndef TAKT_TESTS_SCHEDULER_WAITERS_H
#define TAKT_TESTS_SCHEDULER_WAITERS_H

#include <string.h>

#include "core/limits.h"
#include "scheduler/queue.h"

enum { PERMITS = 5000 };

static takt_limit limit;
static takt_queue queue;
static takt_permit permits[PERMITS];
static int permit_count;

static inline void open_queue(void)
{
    limit = limit_named(10, SECOND, 1000);
    takt_queue_init(&queue, &limit, "key");
    permit_count = 0;
}

static inline void close_queue(void)
{
    takt_queue_close(&queue);
}

static inline takt_permit *wait_with(int priority, int32_t cost, int64_t deadline_us)
{
    takt_permit *permit = &permits[permit_count++];

    *permit =
        (takt_permit){.priority = (int8_t)priority, .cost = cost, .deadline_at_us = deadline_us};
    takt_queue_add(&queue, permit);
    return permit;
}

static inline void put_in_hand(int64_t count, int32_t cost)
{
    takt_run run = {{NOW, 0}, {1, 0}, 1, count, cost, {{0}}, 0};

    cr_assert_eq(takt_slots_add(&queue.in_hand, &run, 1, 0), 0);
}

#endif
