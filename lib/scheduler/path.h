/*
 * path.h: the queues that work waits in: one for its limits that enforce, and one for those in
 * shadow, which its shadow waiter comes to when the work starts.
 *
 * One claim decides about all limits of a mode (chain.h), so each mode has one queue.  Levels whose
 * keys are unlimited take no part.  If one limit of a mode is left, its queue is that of the limit
 * and key (and tenant); if several are left, it is a nested queue (nest.h).
 */
#ifndef TAKT_SCHEDULER_PATH_H
#define TAKT_SCHEDULER_PATH_H

#include "scheduler/nest.h"

#define TAKT_PATH_MAX 2

/* One limit of some work, with the work's key and tenant there (NULL: the limit has no tenants),
 * and what the work takes of it. */
typedef struct takt_level {
    const takt_limit *limit;
    const char *key;
    const char *tenant;
    int32_t weight; /* of the tenant */
    int32_t cost;
    takt_more more;
} takt_level;

/* The queues, with what the work takes there. */
typedef struct takt_path {
    takt_queue *queues[TAKT_PATH_MAX];
    int32_t costs[TAKT_PATH_MAX];
    takt_more more[TAKT_PATH_MAX];
    int count;
    bool enforcing;   /* the first one is that of the limits that enforce */
    uint8_t shadowed; /* bits of the levels in shadow, the innermost first */
} takt_path;

/* Finds the queues of work with these levels, the innermost first, or makes them.  With `renew`
 * they continue with the levels' limits; otherwise only those in which nothing waits do.  0,
 * TAKT_E_NOMEM, or TAKT_E_POLICY if no claim can decide about all levels of a mode: a policy is
 * refused that has such limits, but work may have asked for its levels under another policy. */
int takt_path_find(takt_scheduler *scheduler, const takt_level *levels, int count, bool renew,
                   takt_path *path);

/* How many limits enforce. */
uint8_t takt_path_enforcing(const takt_path *path);

/* A permit begins to wait on that path, or starts: no limit enforces.  Its priority and
 * deadline_at_us (TAKT_NEVER: none) are set. */
void takt_path_enter(takt_scheduler *scheduler, takt_permit *permit, const takt_path *path);

#endif
