/*
 * Queues of nested work: those of a domain within a server's limit.
 */
#ifndef TAKT_TESTS_SCHEDULER_NESTED_H
#define TAKT_TESTS_SCHEDULER_NESTED_H

#include "scheduler/chains.h"
#include "scheduler/queues.h"

static int8_t priority = 5; /* of those that come */

static inline void set_up(void)
{
    priority = 5;
    make_limits();
    open_scheduler();
}

static inline void wait_in(int at, int waiters)
{
    for (int i = 0; i < waiters; i++)
        wait_as(at, i, priority);
}

/* Waiters of a domain, in a queue of the server's. */
static inline takt_queue *add(const char *key, int waiters)
{
    takt_chain chain = chain_of(&domain, (const char *const[]){key, "mx"});
    int at = queue_count++;

    queues[at] = takt_registry_nested(&s, &chain, NULL, 1);
    cr_assert_not_null(queues[at]);
    wait_in(at, waiters);
    return queues[at];
}

static inline void answer_to(int at, const takt_award *award, int64_t at_us)
{
    takt_scheduler_award(&s, queues[at], award, NOW + at_us, NOW + at_us);
}

/* Nothing can start before that by the inner limits, or the queue stands in line. */
static inline void put_off(int at, int64_t at_us, int64_t until_us, bool parked)
{
    takt_award award = award_of(at_us, until_us, 0, 0, 1);

    award.claim_again_at_us = NOW + until_us;
    award.in_line = parked ? 0 : 1U << 5;
    award.parked = parked;
    award.workers = 1;
    award.least_urgent = 5;
    answer_to(at, &award, at_us);
}

#endif
