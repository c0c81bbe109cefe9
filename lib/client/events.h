/*
 * events.h: the events that a pass sends to the program, with their sentences.  client.c has those
 * of a lost server, and follow.c those of a stored policy.
 */
#ifndef TAKT_CLIENT_EVENTS_H
#define TAKT_CLIENT_EVENTS_H

#include "client/client.h"

/* The queue is served without the store: one event for each limit whose on_store_failure decides,
 * and for all of its keys. */
void takt_events_fallback(takt_client *client, const takt_queue *queue);

/* A running job has lost its permit. */
void takt_events_permit_lost(takt_client *client, takt_permit *permit);

/* A ledger of the limit has other rules than ours, of the same revision. */
void takt_events_difference(takt_client *client, const char *name, const takt_numbers *ours,
                            const takt_numbers *held);

#endif
