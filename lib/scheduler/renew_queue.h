/*
 * renew_queue.h: a queue continues with another limit of the same name, and its waiters claim.
 * Slots in hand stay valid: the ledger gave them.
 */
#ifndef TAKT_SCHEDULER_RENEW_QUEUE_H
#define TAKT_SCHEDULER_RENEW_QUEUE_H

#include "scheduler/nest.h"

void takt_renew_queue(takt_scheduler *scheduler, takt_queue *queue, const takt_limit *limit);

/* The same for a nested queue, which continues with the limits of that chain. */
void takt_renew_nested(takt_scheduler *scheduler, takt_queue *queue, const takt_chain *chain);

#endif
