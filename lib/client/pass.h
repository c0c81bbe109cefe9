/*
 * pass.h: the pass of a client, which everything that happens leads to (client.h).
 */
#ifndef TAKT_CLIENT_PASS_H
#define TAKT_CLIENT_PASS_H

#include "client/client.h"

/* Runs passes until nothing is due, but not without end: others share the loop.  Arms the timer for
 * the next one.  May close the client's parts, and calls the user back. */
void takt_client_pass(takt_client *client);

#endif
