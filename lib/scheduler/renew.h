/*
 * renew.h: a policy replaces another one at run time.  Queues continue with the limit of the same
 * name, or its override for their key.  Slots in hand stay valid: the ledger gave them.
 */
#ifndef TAKT_SCHEDULER_RENEW_H
#define TAKT_SCHEDULER_RENEW_H

#include "scheduler/scheduler.h"

/*
 * The policy has changed: every queue continues with the limit that find() returns for its old
 * limit and its key, and its waiters claim.  NULL: the limit is gone, and the queue keeps its old
 * one.  Numbers learned from awards stay in use if their revision is higher.
 */
void takt_renew_policy(takt_scheduler *scheduler,
                       const takt_limit *(*find)(const void *data, const takt_limit *limit,
                                                 const char *key),
                       const void *data);

/* The same for one queue, which continues with that limit. */
void takt_renew_queue(takt_scheduler *scheduler, takt_queue *queue, const takt_limit *limit);

/* Whether a queue uses one of the limits that is_among() names, or a limit within one. */
bool takt_renew_is_used(const takt_scheduler *scheduler,
                        bool (*is_among)(const void *data, const takt_limit *limit),
                        const void *data);

#endif
