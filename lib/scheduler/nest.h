/*
 * nest.h: work of inner limits (`within`) that waits in one queue of the outermost limit.
 *
 * If a claim can decide about all levels at once (core/inner.h), work does not pass them one after
 * the other.  It waits in a queue of the outermost limit and key that is kept for its inner limits
 * and keys alone, takes turns like the queue of a tenant (order.h), and claims with the inner
 * limits.  To the ledger its tenant is the subject: the inner keys.  With `fair: tenant` it is the
 * tenant that the work names.
 */
#ifndef TAKT_SCHEDULER_NEST_H
#define TAKT_SCHEDULER_NEST_H

#include "scheduler/scheduler.h"

/* The limits that work passes, the innermost first, with its keys and what it takes of each. */
typedef struct takt_chain {
    const takt_limit *limits[TAKT_LEVELS_MAX];
    const char *keys[TAKT_LEVELS_MAX];
    int64_t costs[TAKT_LEVELS_MAX];
    int count;
} takt_chain;

/* Whether one claim can decide about all levels: they enforce; the inner ones have no tenants;
 * those that bound their waiters have the same when_full; no rule counts further units; and all
 * that count a cost count the same. */
bool takt_chain_is_nested(const takt_chain *chain);

/* What the work takes of each level that counts a cost. */
int32_t takt_chain_cost(const takt_chain *chain);

/* An inner limit and key that queues of this process have. */
typedef struct takt_inner_ledger {
    takt_entry entry;  /* the limit's name, a NUL, the key */
    takt_link queues;  /* takt_inner.link */
    int alone;         /* of them, those that are served without the store */
    takt_share *share; /* the pace of all of them then: loss.c; NULL: never used */
    char id[];
} takt_inner_ledger;

/* The queue, whose key and id are set, gets the inner levels of that chain.  `keys` are the same as
 * the chain's, and stay as long as the queue.  0 or TAKT_E_NOMEM. */
int takt_nest_join(takt_scheduler *scheduler, takt_queue *queue, const takt_chain *chain,
                   const char *const *keys);
void takt_nest_leave(takt_scheduler *scheduler, takt_queue *queue);

/* The next queue after `before` (NULL: the first) that has this limit and key as an inner level;
 * NULL: no more. */
takt_queue *takt_nest_next(takt_scheduler *scheduler, const takt_limit *limit, const char *key,
                           const takt_queue *before);

/* The number under which a worker claims for the queue's subject: each is as one of its own. */
uint64_t takt_nest_worker(const takt_nest *nest, uint64_t worker);

#endif
