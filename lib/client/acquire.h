/*
 * acquire.h: how permits begin to wait, for other files.
 */
#ifndef TAKT_CLIENT_ACQUIRE_H
#define TAKT_CLIENT_ACQUIRE_H

#include "client/client.h"
#include "client/request.h"
#include "scheduler/path.h"

/* Finds the queues that work of a request waits in, or makes them.  0 or TAKT_E_NOMEM. */
int takt_acquire_path(takt_client *client, const takt_request *request, const takt_levels *levels,
                      takt_path *path);

/* Puts a permit into a queue, behind no other limit and without a deadline.  It waits in shadow
 * limits, too. */
void takt_acquire_ticket(takt_client *client, takt_queue *queue, takt_permit *permit, int32_t cost,
                         takt_more more, int32_t priority, takt_acquire_cb callback);

#endif
