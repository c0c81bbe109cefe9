/*
 * permits.h: what this worker holds of a limit's permits, between its ledger and its jobs.
 *
 * A claim states how many are held: by jobs that run, by waiters that have this permit and wait for
 * an outer limit, and by slots in hand.  One that was let go is said so at once, unless a waiter
 * here takes it over: where no rule has a say and nobody else in the fleet waits, it would be the
 * next one's anyhow.
 *
 * They are ours until a lease after the last claim that was answered was sent, by our own clock, so
 * always sooner than the ledger gives them to somebody else.  A worker that was held up for longer
 * gives up all of them before anything else happens.
 */
#ifndef TAKT_SCHEDULER_PERMITS_H
#define TAKT_SCHEDULER_PERMITS_H

#include "scheduler/scheduler.h"

/* Whoever holds something holds it no more, though it is still to be released: all is given back.
 */
void takt_permits_part(takt_scheduler *scheduler);

/* Waiters take over what was let go, as far as that may be. */
void takt_permits_hand_on(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us);

/* At a pass: what a lease was over for is lost. */
void takt_permits_tick(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us);

/* The next granted permit that has lost something it held; NULL: no more. */
takt_permit *takt_permits_next_loser(takt_scheduler *scheduler);

/* What a claim, or a try, says is held. */
int64_t takt_permits_state(takt_queue *queue);

/* What became of it.  Before the award's slots are taken into the hand. */
void takt_permits_awarded(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                          int64_t sent_us);
void takt_permits_failed(const takt_scheduler *scheduler, takt_queue *queue);

/* When there is something to say; TAKT_NEVER: nothing is held, and the ledger knows it. */
int64_t takt_permits_claim_at(const takt_queue *queue, int64_t now_us);

/* When what is held is lost if no claim is answered before; TAKT_NEVER: nothing is held. */
int64_t takt_permits_lost_at(const takt_queue *queue);

/* Whether the permit is held for certain. */
bool takt_permits_are_held(const takt_permit *permit, int64_t now_us);

#endif
