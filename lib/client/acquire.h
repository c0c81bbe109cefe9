/*
 * acquire.h: the life of a permit, as the pass needs it.
 */
#ifndef TAKT_CLIENT_ACQUIRE_H
#define TAKT_CLIENT_ACQUIRE_H

#include "client/client.h"
#include "client/request.h"
#include "scheduler/nest.h"

/* The queues that work passes, with what it takes there: first those of limits that enforce, then
 * those of limits in shadow.  Where one claim can decide about all limits of a mode they have one
 * queue; otherwise each has its own, the innermost first. */
typedef struct takt_path {
    takt_queue *queues[TAKT_LEVELS_MAX];
    int32_t costs[TAKT_LEVELS_MAX];
    takt_more more[TAKT_LEVELS_MAX];
    int count, enforcing; /* all queues, and those of limits that enforce */
} takt_path;

/* Finds them, or makes them.  0 or TAKT_E_NOMEM. */
int takt_acquire_path(takt_client *client, const takt_request *request, const takt_levels *levels,
                      takt_path *path);

/* The policy has changed.  Work that waits for one slot of several limits, of which some are in
 * another mode now, passes those that enforce one after the other.  Without memory its limits stay
 * as they are. */
void takt_acquire_renew(takt_client *client);

/* Puts a permit into a queue, behind no other limit and without a deadline.  It waits in shadow
 * limits, too. */
void takt_acquire_ticket(takt_client *client, takt_queue *queue, takt_permit *permit, int32_t cost,
                         takt_more more, int32_t priority, takt_acquire_cb callback);

#endif
