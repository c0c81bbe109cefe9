/*
 * renew.h: a policy replaces another one at run time.  Queues continue with the limit of the same
 * name, or its override for their key.  Slots in hand stay valid: the ledger gave them.
 */
#ifndef TAKT_SCHEDULER_RENEW_H
#define TAKT_SCHEDULER_RENEW_H

#include "scheduler/nest.h"

typedef const takt_limit *takt_finder(const void *data, const takt_limit *limit, const char *key);

/* The weight of a tenant, which was that of its last acquire. */
typedef int32_t takt_weigher(const void *data, const takt_limit *limit, const char *tenant,
                             int32_t weight);

/*
 * The policy has changed: every queue continues with the limit that find() returns for its old
 * limit and its key, and its waiters claim.  NULL: the limit is gone, and the queue keeps its old
 * one.  Numbers learned from awards stay in use if their revision is higher.  A tenant's queue has
 * the weight that weigh() returns.  If the limit has tenants no longer, or has them now, the queues
 * that are there keep what they are until nothing waits in them.  A nested queue of which a
 * limit is gone, or whose limits cannot be nested any longer, keeps all its old ones.  Work that
 * limits hold up, or do so no longer, because their mode is another one moves first (move.h).
 */
void takt_renew_policy(takt_scheduler *scheduler, takt_finder *find, takt_weigher *weigh,
                       const void *data);

/* Whether a queue uses one of the limits that is_among() names, or a limit within one. */
bool takt_renew_is_used(const takt_scheduler *scheduler,
                        bool (*is_among)(const void *data, const takt_limit *limit),
                        const void *data);

#endif
