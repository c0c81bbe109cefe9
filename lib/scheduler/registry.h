/*
 * registry.h: the queues of a scheduler, the list that each is in, and when each is looked at next.
 */
#ifndef TAKT_SCHEDULER_REGISTRY_H
#define TAKT_SCHEDULER_REGISTRY_H

#include "scheduler/nest.h"

/* takt_registered.list */
enum { NOWHERE, TOUCHED, CLAIMING, IDLE };

int takt_registry_init(takt_scheduler *scheduler, uint64_t worker, uint64_t seed, void *owner);
void takt_registry_close(takt_scheduler *scheduler); /* nothing waits and nothing is in flight */

/* The queue of a (limit, key), made if necessary; NULL: no memory.  It stays while it is in use,
 * and for a while afterwards. */
takt_queue *takt_registry_queue(takt_scheduler *scheduler, const takt_limit *limit,
                                const char *key);

/* The queue of a tenant there, whose weight is set; tenant NULL: takt_registry_queue. */
takt_queue *takt_registry_tenant(takt_scheduler *scheduler, const takt_limit *limit,
                                 const char *key, const char *tenant, int32_t weight);

/* The queue of work that is nested, with the limits of that chain, and of a tenant with that weight
 * (NULL: the outermost limit has no tenants). */
takt_queue *takt_registry_nested(takt_scheduler *scheduler, const takt_chain *chain,
                                 const char *tenant, int32_t weight);

/* The queue of a (limit, key) if it exists; NULL: nothing waits there. */
takt_queue *takt_registry_find(takt_scheduler *scheduler, const takt_limit *limit, const char *key);
takt_queue *takt_registry_find_tenant(takt_scheduler *scheduler, const takt_limit *limit,
                                      const char *key, const char *tenant);

/* The queue of that name if it exists.  A queue is called by the name of its limit, NUL, its key;
 * with a tenant also NUL, the tenant.  Of nested work always the tenant or nothing, then NUL, name,
 * NUL, key of each inner limit, the innermost first.  If amounts of inner levels have other places
 * among those that work states, also NUL, and the places (takt_unit_map_digits) of each level. */
takt_queue *takt_registry_named(takt_scheduler *scheduler, const char *name, size_t size);

/* All queues that claim from a ledger, one after the other: `before` is the last one, NULL for the
 * first.  NULL: no more. */
takt_queue *takt_registry_next(takt_scheduler *scheduler, const takt_limit *limit, const char *key,
                               takt_queue *before);

void takt_registry_put(takt_scheduler *scheduler, takt_queue *queue, int list);
void takt_registry_pass_at(takt_scheduler *scheduler, takt_queue *queue, int64_t pass_at_us);

/* Frees a queue in which nothing waits and nothing is in flight. */
void takt_registry_forget(takt_scheduler *scheduler, takt_queue *queue);

/* Makes the next pass look at the queue. */
void takt_registry_touch(takt_scheduler *scheduler, takt_queue *queue);

#endif
