/*
 * acquire.h: the life of a permit, as the pass needs it.
 */
#ifndef TAKT_CLIENT_ACQUIRE_H
#define TAKT_CLIENT_ACQUIRE_H

#include "client/client.h"
#include "client/request.h"
#include "scheduler/nest.h"

/* Puts a permit into the queue of its next limit.  A shadow limit lets it pass at once. */
void takt_acquire_enter(takt_client *client, takt_queue *queue, takt_permit *permit);

/* The limits and keys of a request as a chain, without levels whose key is unlimited, and the level
 * of its outermost one.  Returns whether its work is nested here. */
bool takt_acquire_chain(const takt_client *client, const takt_request *request,
                        const takt_levels *levels, takt_chain *chain, int *outermost);

/* For whom nested work is, with its weight; NULL: the chain has no tenants. */
const char *takt_acquire_tenant(const takt_request *request, const takt_levels *levels,
                                const takt_chain *chain, int outermost, int32_t *weight);

/* The store does not carry claims with inner limits: the waiters of a nested queue pass their
 * limits one after the other.  False: no memory, and they wait where they are. */
bool takt_acquire_unnest(takt_client *client, takt_queue *queue);

/* Puts a permit into a queue, behind no other limit and without a deadline.  It waits in shadow
 * limits, too.  Of a nested queue it fails with TAKT_E_INVALID if the store does not carry claims
 * with inner limits. */
void takt_acquire_ticket(takt_client *client, takt_queue *queue, takt_permit *permit, int32_t cost,
                         takt_more more, int32_t priority, takt_acquire_cb callback);

#endif
