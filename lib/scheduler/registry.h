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

/*
 * The queue of that name if it exists.  A name has these parts, with a NUL between them:
 *     the limit's name and the key; of nested work those of the outermost limit;
 *     the tenant's name, if there is a tenant; of nested work it is there in any case, or empty;
 *     of nested work: the name and the key of each inner limit, the innermost first;
 *     of nested work, if amounts of an inner level have other numbers among those that work states:
 *     four digits for each inner level (takt_unit_map_digits).
 */
takt_queue *takt_registry_named(takt_scheduler *scheduler, const char *name, size_t size);

/* All queues that claim from the ledger of a limit's name and a key, one after the other: `before`
 * is the last one, NULL for the first.  NULL: no more. */
takt_queue *takt_registry_next(takt_scheduler *scheduler, const char *limit, const char *key,
                               takt_queue *before);

/* Of these the turns of each that has that tenant. */
takt_turn *takt_registry_turn(takt_scheduler *scheduler, const char *limit, const char *key,
                              const char *tenant, const takt_turn *before);

void takt_registry_put(takt_scheduler *scheduler, takt_queue *queue, int list);
void takt_registry_pass_at(takt_scheduler *scheduler, takt_queue *queue, int64_t pass_at_us);

/* Frees a queue in which nothing waits and nothing is in flight. */
void takt_registry_forget(takt_scheduler *scheduler, takt_queue *queue);

/* Makes the next pass look at the queue. */
void takt_registry_touch(takt_scheduler *scheduler, takt_queue *queue);

#endif
