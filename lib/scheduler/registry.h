/*
 * registry.h: the queues of a scheduler, the list that each is in, and when each is looked at next.
 */
#ifndef TAKT_SCHEDULER_REGISTRY_H
#define TAKT_SCHEDULER_REGISTRY_H

#include "scheduler/scheduler.h"

/* takt_registered.list */
enum { NOWHERE, TOUCHED, CLAIMING, IDLE };

int takt_registry_init(takt_scheduler *scheduler, uint64_t worker, uint64_t seed, void *owner);
void takt_registry_close(takt_scheduler *scheduler); /* nothing waits and nothing is in flight */

/* The queue of a (limit, key), made if necessary; NULL: no memory.  It stays while it is in use,
 * and for a while afterwards. */
takt_queue *takt_registry_queue(takt_scheduler *scheduler, const takt_limit *limit,
                                const char *key);

/* The same if the queue exists; NULL: nothing waits there. */
takt_queue *takt_registry_find(takt_scheduler *scheduler, const takt_limit *limit, const char *key);

void takt_registry_put(takt_scheduler *scheduler, takt_queue *queue, int list);
void takt_registry_wake_at(takt_scheduler *scheduler, takt_queue *queue, int64_t wake_at_us);

/* Frees a queue in which nothing waits and nothing is in flight. */
void takt_registry_forget(takt_scheduler *scheduler, takt_queue *queue);

/* Makes the next pass look at the queue. */
void takt_registry_touch(takt_scheduler *scheduler, takt_queue *queue);

#endif
