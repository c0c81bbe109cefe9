/*
 * pass.h: the pass of a client, which everything that happens leads to (client.h).
 */
#ifndef TAKT_CLIENT_PASS_H
#define TAKT_CLIENT_PASS_H

#include "client/client.h"

/* A claim under way: its memory is used again and again. */
typedef struct takt_claiming {
    takt_store_call call; /* first */
    takt_claim claim;
    takt_award award;
    takt_client *client;
    takt_queue *queue;
    int64_t sent_us;
    struct takt_claiming *next; /* among the spare ones */
} takt_claiming;

/* Runs passes until nothing is due, but not without end: others share the loop.  Arms the timer for
 * the next one.  May close the client's parts, and calls the user back. */
void takt_pass_run_due(takt_client *client);

#endif
