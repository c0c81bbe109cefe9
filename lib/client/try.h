/*
 * try.h: takt_try_acquire, as the pass needs it.
 */
#ifndef TAKT_CLIENT_TRY_H
#define TAKT_CLIENT_TRY_H

#include "client/client.h"

struct takt_calling;

/* Begins a try at the levels of a call, for a permit that is idle. */
void takt_try_begin(struct takt_calling *calling, takt_permit *permit);

/* Sends the tries that a claim under way has held up. */
void takt_try_send_held(takt_client *client);

#endif
