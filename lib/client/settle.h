/*
 * settle.h: telling a ledger the real cost of work, as the pass does it for the scheduler.
 */
#ifndef TAKT_CLIENT_SETTLE_H
#define TAKT_CLIENT_SETTLE_H

#include "client/client.h"

/* Hands back slots that nobody here waits for any more: their real cost is 0. */
void takt_settle_unused(takt_client *client, const takt_queue *queue, const takt_run *unused);

/* Tells the real cost of work that a shadow waiter stands for, now that its slot is known. */
void takt_settle_shadow(takt_client *client, const takt_shadow_waiter *shadow_waiter);

#endif
