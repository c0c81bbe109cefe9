/*
 * follow.h: a client that follows the policy in the store.
 */
#ifndef TAKT_CLIENT_FOLLOW_H
#define TAKT_CLIENT_FOLLOW_H

#include "client/client.h"

/* Reads the stored policy that `location` points to; it becomes the client's.  Blocks for the
 * store's timeout at most. */
int takt_follow_open(takt_client *client, const takt_policy *location, takt_error *error);

/* Called when the client is open: looks for newer policies from now on, if the client follows
 * one. */
void takt_follow_begin(takt_client *client);
void takt_follow_stop(takt_client *client);

/* Looks now. */
void takt_follow_look(takt_client *client);

/* Called when the client is closed. */
void takt_follow_close(takt_client *client);

#endif
