/*
 * acquire.h: a permit's life, as the pass sees it.
 */
#ifndef TAKT_CLIENT_ACQUIRE_H
#define TAKT_CLIENT_ACQUIRE_H

#include "client/client.h"

/* A permit comes to a limit: it waits there, or passes it in shadow. */
void takt_acquire_enter(takt_client *client, takt_queue *queue, takt_permit *permit);

#endif
