/*
 * follow.h: a client that goes by the policy in the store.
 */
#ifndef TAKT_CLIENT_FOLLOW_H
#define TAKT_CLIENT_FOLLOW_H

#include "client/client.h"

/* Reads the policy that `place` says is in the store, which becomes the client's.  Blocks, at most
 * for the store's timeout. */
int takt_follow_open(takt_client *client, const takt_policy *place, takt_error *error);

/* The client is open: looks for a newer policy from now on, if it follows any. */
void takt_follow_begin(takt_client *client);
void takt_follow_stop(takt_client *client);

/* Looks now. */
void takt_follow_look(takt_client *client);

/* The client is closed. */
void takt_follow_close(takt_client *client);

#endif
