/*
 * nest.h: work of inner limits (`within`) that waits in one queue of the outermost limit.
 *
 * A claim decides about all levels at once (core/inner.h).  So work waits in a queue of the
 * outermost limit and key that is kept for its inner limits and keys alone, takes turns like the
 * queue of a tenant (order.h), and claims with the inner limits.  To the ledger its tenant is the
 * subject: the inner keys.  With `fair: tenant` it is the tenant that the work names.  If the
 * innermost limit alone has `fair`, the queue is kept for one tenant of its subject.
 */
#ifndef TAKT_SCHEDULER_NEST_H
#define TAKT_SCHEDULER_NEST_H

#include "scheduler/chain.h"
#include "scheduler/scheduler.h"

/* An inner limit and key that queues of this process have. */
typedef struct takt_inner_ledger {
    takt_entry entry;  /* the limit's name, a NUL, the key */
    takt_link queues;  /* takt_inner.link */
    int alone;         /* of them, those that are served without the store */
    takt_share *share; /* the pace of all of them then: loss.c; NULL: never used */
    char id[];
} takt_inner_ledger;

/* The queue, whose key and id are set, gets the inner levels of that chain.  `keys` are the same as
 * the chain's, and stay as long as the queue, as does the tenant's name ("": none).  0 or
 * TAKT_E_NOMEM. */
int takt_nest_join(takt_scheduler *scheduler, takt_queue *queue, const takt_chain *chain,
                   const char *const *keys, const char *tenant);
void takt_nest_leave(takt_scheduler *scheduler, takt_queue *queue);

/* The next queue after `before` (NULL: the first) that has a limit of this name, with this key, as
 * an inner level; NULL: no more. */
takt_queue *takt_nest_next(takt_scheduler *scheduler, const char *limit, const char *key,
                           const takt_queue *before);

/* Whether a nested queue has the limits of that chain. */
bool takt_nest_has(const takt_queue *queue, const takt_chain *chain);

/* Whether the amounts of its waiters mean the same with the limits of that chain. */
bool takt_nest_continues(const takt_nest *nest, const takt_chain *chain);

/* The number under which a worker claims for a nested queue.  It follows the queue's name alone, so
 * that a policy which moves `fair` to another level loses no permits.  An inner ledger may be
 * within several outer keys, and has a holder and a place for each queue. */
uint64_t takt_nest_worker(const takt_queue *queue, uint64_t worker);

/* Whether the outermost line has tenants that work names, of which one may have several keys; else
 * each subject is a tenant there. */
bool takt_nest_has_tenants(const takt_queue *queue);

/* The subject of a chain: its keys, the innermost first, and the name of a limit that has no key. A
 * hash replaces a text that is too long. */
void takt_nest_name_subject(char subject[TAKT_TENANT_SIZE_MAX + 1], const takt_chain *chain);

/* The tenant of the queue's work in the line of an inner level, with its weight; NULL: that line
 * has one without a name. */
const char *takt_nest_tenant(const takt_queue *queue, int level, int32_t *weight);

#endif
