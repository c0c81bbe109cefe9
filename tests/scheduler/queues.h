/*
 * A scheduler with many queues, whose driver and store are played by the test: who claimed in the
 * last pass, what the claims said, and who started.
 */
#ifndef TAKT_TESTS_SCHEDULER_QUEUES_H
#define TAKT_TESTS_SCHEDULER_QUEUES_H

#include "scheduler/rigs.h"

#define QUEUES_MAX 48
#define EACH       4 /* waiters of each queue */

static takt_scheduler s;
static takt_queue *queues[QUEUES_MAX];
static takt_permit permits[QUEUES_MAX][EACH];
static int queue_count;
/* of the last pass */
static int claimed[QUEUES_MAX], claims;
static takt_claim said[QUEUES_MAX];
static char started[QUEUES_MAX * EACH + 1]; /* a letter for each, that of its queue */

static inline void open_scheduler(void)
{
    queue_count = 0;
    memset(queues, 0, sizeof queues);
    memset(permits, 0, sizeof permits);
    cr_assert_eq(takt_registry_init(&s, 7, 1, NULL), 0);
}

static inline int number_of(const takt_queue *queue)
{
    int at = 0;

    while (queues[at] != queue)
        at++;
    return at;
}

static inline void run(int64_t at_us)
{
    takt_permit *permit;
    takt_queue *queue;
    takt_claim claim;
    size_t size = 0;

    takt_scheduler_run(&s, NOW + at_us);
    for (claims = 0; (queue = takt_claims_next(&s, NOW + at_us, &claim)); claims++) {
        claimed[claims] = number_of(queue);
        said[claims] = claim;
    }
    while ((permit = takt_scheduler_next_fired(&s)))
        if (permit->status == 0)
            started[size++] = (char)('a' + number_of(permit->queue));
    started[size] = '\0';
}

static inline void close_scheduler(void)
{
    takt_scheduler_leave_all(&s, TAKT_E_CANCELED);
    run(1000 * SECOND);
    takt_registry_close(&s);
}

static inline int64_t next_pass(void)
{
    return takt_scheduler_pass_at(&s) - NOW;
}

static inline bool has_claimed(int at)
{
    for (int i = 0; i < claims; i++)
        if (claimed[i] == at)
            return true;
    return false;
}

/* One more waits in a queue, as its waiter of that number. */
static inline void wait_as(int at, int number, int priority)
{
    permits[at][number] =
        (takt_permit){.cost = 1, .priority = (int8_t)priority, .deadline_at_us = TAKT_NEVER};
    takt_waiter_acquire(&s, queues[at], &permits[at][number]);
}

#endif
