/*
 * acquire.h: the life of a permit, as the pass needs it.
 */
#ifndef TAKT_CLIENT_ACQUIRE_H
#define TAKT_CLIENT_ACQUIRE_H

#include "client/client.h"

/* Puts a permit into the queue of its next limit.  A shadow limit lets it pass at once. */
void takt_acquire_enter(takt_client *client, takt_queue *queue, takt_permit *permit);

#endif
