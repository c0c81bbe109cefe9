/*
 * renew.h: a policy that takes the place of another while clients are at work.  Queues go on with
 * the limits of the same name; slots in hand were given by the ledger and stay good.
 */
#ifndef TAKT_SCHEDULER_RENEW_H
#define TAKT_SCHEDULER_RENEW_H

#include "scheduler/scheduler.h"

/*
 * The numbers of limits have changed: every queue goes on with the limit that find() names for its
 * limit's name, and who waits there claims.  NULL: there is no such limit any more; who waits goes
 * on with what there was.  What was learned from awards stays where its revision is higher.
 */
void takt_renew_policy(takt_scheduler *scheduler,
                       const takt_limit *(*find)(const void *data, const char *name),
                       const void *data);

/* Whether a queue goes by a limit that is among them, or by one that is within such a limit. */
bool takt_renew_is_used(const takt_scheduler *scheduler,
                        bool (*is_among)(const void *data, const takt_limit *limit),
                        const void *data);

#endif
