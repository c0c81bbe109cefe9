/*
 * settle.h: reports the real cost of work to a ledger, as the pass does it for the scheduler.
 */
#ifndef TAKT_CLIENT_SETTLE_H
#define TAKT_CLIENT_SETTLE_H

#include "client/client.h"

/* Hands back slots that no waiter here needs: their real cost is 0. */
void takt_settle_unused(takt_client *client, const takt_queue *queue, const takt_run *unused);

/* Hands back the unneeded slot of a permit of that queue. */
void takt_settle_ticket(takt_client *client, const takt_queue *queue, const takt_permit *permit);

/* Reports the real cost of a shadow waiter's work, now that its slot is known. */
void takt_settle_shadow(takt_client *client, const takt_shadow_waiter *shadow_waiter);

#endif
