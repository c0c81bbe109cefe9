/*
 * presence.h: for how many processes a client of an agent waits, which its claims state.
 *
 * A presence is one process that waits in one queue, however many waiters it has there.
 */
#ifndef TAKT_RELAY_PRESENCE_H
#define TAKT_RELAY_PRESENCE_H

#include "client/client.h"

typedef struct takt_presence takt_presence;

/* A process, told apart by any address of its own, has waiters in a queue.  NULL: no memory; then
 * it is not counted. */
takt_presence *takt_presence_begin(takt_client *client, const void *process, takt_queue *queue);

/* It has none from now on.  NULL is harmless. */
void takt_presence_end(takt_client *client, takt_presence *presence);

#endif
