/*
 * claims.h: when a queue claims from its ledger, and what it says.
 *
 * Others note reasons to claim; a pass asks when a queue claims next and takes out those that claim
 * now.  A queue has one call with what it holds under way at a time, a claim or a try, and what
 * happens meanwhile goes into the next one.  What an award means for those who wait is in
 * scheduler.c.
 */
#ifndef TAKT_SCHEDULER_CLAIMS_H
#define TAKT_SCHEDULER_CLAIMS_H

#include "scheduler/scheduler.h"

/* A permit may have come free for a queue of ours. */
void takt_claims_nudge(takt_scheduler *scheduler, takt_queue *queue);

/* A queue's ledger goes by newer numbers than ours, which only claims are told: the next pass
 * claims, whoever waits. */
void takt_claims_outdated(takt_scheduler *scheduler, takt_queue *queue);

/* Something may have happened to a queue's ledger: the next pass claims, and until the answer comes
 * no slot in hand is used. */
void takt_claims_hint(takt_scheduler *scheduler, takt_queue *queue);

/* When this queue has something to say to its ledger, as far as its waiters and permits go;
 * TAKT_NEVER: it has not. */
int64_t takt_claims_at(const takt_scheduler *scheduler, const takt_queue *queue, int64_t now_us);

/* The next queue that claims, with the claim filled in; NULL: no more.  Its answer must come by
 * takt_scheduler_award or takt_scheduler_failed. */
takt_queue *takt_claims_next(takt_scheduler *scheduler, int64_t now_us, takt_claim *claim);

/* The call of a queue has come back. */
void takt_claims_end(takt_scheduler *scheduler, takt_queue *queue);

/*
 * A try at a ledger with permits states what is held, as a claim does, so it waits until none is in
 * flight: false.  Its answer must come by tried, `award` NULL where none came; what was given is
 * the permit's, or, without one (NULL), given back by the next claim.
 */
bool takt_claims_begin_try(takt_scheduler *scheduler, takt_queue *queue, takt_claim *claim);
void takt_claims_tried(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                       int64_t sent_us, takt_permit *permit);

#endif
