/*
 * renew.h: a policy replaces another one at run time.  Queues continue with the limit of the same
 * name, or its override for their key.  Slots in hand stay valid: the ledger gave them.
 */
#ifndef TAKT_SCHEDULER_RENEW_H
#define TAKT_SCHEDULER_RENEW_H

#include "scheduler/path.h"

/* The policy that replaces another one, as far as queues and their work need it. */
typedef struct takt_successor {
    /* The limit of that name in the policy that is replaced; NULL: it has none. */
    const takt_limit *(*before)(const void *data, const char *name);

    /* The limit that continues an old one, or its override for the key; NULL: it is gone. */
    const takt_limit *(*find)(const void *data, const takt_limit *limit, const char *key);

    /* The weight of a tenant, which was that of its last acquire. */
    int32_t (*weigh)(const void *data, const takt_limit *limit, const char *tenant, int32_t weight);

    /* Sets the level of work at `outer`, a limit that is around its others now and was not before:
     * it has no key, the work's tenant ("": not known), and of its amounts those that `levels`
     * have; 0: none.  `inside` is the next level further in.  The texts stay until there have been
     * TAKT_LEVELS_MAX further calls.  False: that is not possible. */
    bool (*join)(void *data, const takt_level *levels, int count, const takt_level *inside,
                 const takt_limit *outer, const char *tenant, takt_level *joined);
    void *data;
} takt_successor;

/*
 * The policy has changed: every queue continues with the limit that find() returns for its old
 * limit and its key, and its waiters claim.  If the limit is gone, the queue keeps its old one.
 * Numbers learned from awards stay in use if their revision is higher.  A tenant's queue has the
 * weight that weigh() returns.  If the limit has tenants no longer, or has them now, the queues
 * that are there keep what they are until nothing waits in them.  A nested queue of which a
 * limit is gone, or whose limits cannot be nested any longer, keeps all its old ones.  Work that
 * other limits hold up under the new policy moves first (move.h).
 */
void takt_renew_policy(takt_scheduler *scheduler, const takt_successor *to);

/* Whether a queue uses one of the limits that is_among() names, or a limit within one. */
bool takt_renew_is_used(const takt_scheduler *scheduler,
                        bool (*is_among)(const void *data, const takt_limit *limit),
                        const void *data);

#endif
