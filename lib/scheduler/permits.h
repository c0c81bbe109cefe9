/*
 * permits.h: which of a limit's permits this worker holds, between its ledger and its jobs.
 *
 * A claim states how many are held: by running jobs, and by slots in hand.  A released permit is
 * reported at once, unless a waiter here takes it over.  It may do so if no rule limits the rate
 * and nothing else in the fleet waits: then the permit would be its anyway.
 *
 * The permits are held until one lease after the last answered claim was sent.  This process's
 * clock measures the lease, so it ends here before the ledger gives the permits to another worker.
 * A worker that was suspended for longer gives up all of them before anything else happens.
 */
#ifndef TAKT_SCHEDULER_PERMITS_H
#define TAKT_SCHEDULER_PERMITS_H

#include "scheduler/scheduler.h"

/* Everything that permits hold is given back, although they are still to be released. */
void takt_permits_part(takt_scheduler *scheduler);

/* Waiters take over released permits, if that is allowed. */
void takt_permits_hand_on(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us);

/* At a pass: permits whose lease is over are lost. */
void takt_permits_tick(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us);

/* The next granted permit that has lost something it held; NULL: no more. */
takt_permit *takt_permits_next_loser(takt_scheduler *scheduler);

/* Marks the number held as told to the ledger, and returns it, for a claim or a try. */
int64_t takt_permits_mark_told(takt_queue *queue);

/* Takes in the ledger's answer to it.  To be called before the award's slots are added to the slots
 * in hand. */
void takt_permits_awarded(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                          int64_t sent_us);
void takt_permits_failed(const takt_scheduler *scheduler, takt_queue *queue);

/* When the number held must be stated again; TAKT_NEVER: nothing is held, and the ledger knows
 * it. */
int64_t takt_permits_claim_at(const takt_queue *queue, int64_t now_us);

/* When a queue of tenants claims that was woken: not at once if its last wake-up was meant for
 * another queue.  While that one waits for an answer, each claim of the others brings a wake-up. */
int64_t takt_permits_woken_at(const takt_queue *queue, int64_t now_us);

/* When the permits are lost unless a claim is answered before; TAKT_NEVER: nothing is held. */
int64_t takt_permits_lost_at(const takt_queue *queue);

/* Whether the permit certainly still holds what it was given. */
bool takt_permits_are_held(const takt_permit *permit, int64_t now_us);

#endif
