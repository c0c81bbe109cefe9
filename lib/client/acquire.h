/*
 * acquire.h: what other files need of acquire.c: the queues that work of a request waits in, for
 * tries (call.c) and for an agent (lib/relay), and how an agent's tickets begin to wait.
 *
 * takt_acquire, takt_cancel, takt_release and takt_is_held are declared in takt/takt.h.
 */
#ifndef TAKT_CLIENT_ACQUIRE_H
#define TAKT_CLIENT_ACQUIRE_H

#include "client/client.h"
#include "client/request.h"
#include "scheduler/path.h"

/* Finds the queues that work of a request waits in (scheduler/path.h), or makes them.  0, or
 * TAKT_E_NOMEM. */
int takt_acquire_path(takt_client *client, const takt_request *request, const takt_demand *demand,
                      takt_path *path);

/* A ticket of an agent begins to wait in a queue.  It has no deadline.  A limit in shadow holds it
 * up like one that enforces. */
void takt_acquire_ticket(takt_client *client, takt_queue *queue, takt_permit *permit, int32_t cost,
                         takt_more more, int32_t priority, takt_acquire_cb callback);

#endif
