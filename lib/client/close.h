/*
 * close.h: how a client ends.  takt_close makes all waiters leave.  When no call is under way any
 * more, the last pass closes the parts, and the last part to close frees the client.
 */
#ifndef TAKT_CLIENT_CLOSE_H
#define TAKT_CLIENT_CLOSE_H

#include "client/client.h"

/* Closes the store, and then the handles on the loop. */
void takt_close_parts(takt_client *client);

/* Frees a takt_client that has neither a store nor handles on the loop. */
void takt_close_free(void *client);

#endif
