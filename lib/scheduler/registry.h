/*
 * registry.h: which queues a scheduler has, in which list each lies, and when each is looked at
 * next.
 */
#ifndef TAKT_SCHEDULER_REGISTRY_H
#define TAKT_SCHEDULER_REGISTRY_H

#include "scheduler/scheduler.h"

/* takt_registered.list */
enum { NOWHERE, TOUCHED, CLAIMING, IDLE };

void takt_registry_put(takt_scheduler *scheduler, takt_queue *queue, int list);
void takt_registry_wake_at(takt_scheduler *scheduler, takt_queue *queue, int64_t wake_at_us);

/* Nobody waits in it and nothing is in flight. */
void takt_registry_forget(takt_scheduler *scheduler, takt_queue *queue);

/* The next pass looks at it. */
void takt_registry_touch(takt_scheduler *scheduler, takt_queue *queue);

#endif
