/*
 * pass.h: the pass of a client; every event leads to one (client.h).
 */
#ifndef TAKT_CLIENT_PASS_H
#define TAKT_CLIENT_PASS_H

#include "client/client.h"

/* A claim under way.  Its memory is reused.  (takt_scheduler.claiming has the queues whose claims
 * are still to be sent.) */
typedef struct takt_claiming {
    takt_store_call call; /* first */
    takt_claim claim;
    takt_store_inner inner[TAKT_INNER_MAX];
    takt_award award;
    takt_client *client;
    takt_queue *queue;
    int64_t sent_us;
    struct takt_claiming *next; /* in the list of spare ones */
} takt_claiming;

/* Makes the memory for a claim, so that one can always be sent.  0 or TAKT_E_NOMEM. */
int takt_pass_open(takt_client *client);

/* Runs passes until nothing is due, but only a limited number, because others share the loop.  Arms
 * the timer for the next pass.  May close the client's parts, and calls the user's callbacks. */
void takt_pass_run_due(takt_client *client);

#endif
