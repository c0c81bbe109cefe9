/*
 * claims.h: when a queue claims from its ledger, and what the claim says.
 *
 * Other files note reasons to claim.  A pass asks when a queue claims next, and takes out the
 * queues that claim now.  A queue has one call under way at a time that states what it holds: a
 * claim or a try.  The next one states what happens meanwhile.  scheduler.c applies the
 * award to the waiters.
 */
#ifndef TAKT_SCHEDULER_CLAIMS_H
#define TAKT_SCHEDULER_CLAIMS_H

#include "scheduler/scheduler.h"

/* A permit may have become free for this queue. */
void takt_claims_nudge(takt_scheduler *scheduler, takt_queue *queue);

/* An award names this worker: the queue may have a permit.  Among tenants only those that stand in
 * line claim. */
void takt_claims_wake(takt_scheduler *scheduler, takt_queue *queue);

/* The same of an inner limit of nested work, which may be parked. */
void takt_claims_wake_inner(takt_scheduler *scheduler, takt_queue *queue);

/* The queue's ledger uses newer numbers than ours.  Only a claim's answer brings them, so the next
 * pass claims even if nothing waits. */
void takt_claims_outdated(takt_scheduler *scheduler, takt_queue *queue);

/* The queue's ledger may have changed: the next pass claims, and no slot in hand is used until the
 * answer comes. */
void takt_claims_hint(takt_scheduler *scheduler, takt_queue *queue);

/* The same of an inner ledger, for which the queue may be parked. */
void takt_claims_hint_inner(takt_scheduler *scheduler, takt_queue *queue);

/* When this queue's waiters and permits need a claim next; TAKT_NEVER: they need none. */
int64_t takt_claims_at(const takt_queue *queue, int64_t now_us);

/* When to claim because of waiters that no award has counted, if a line may be full: it was more
 * than half full at the last answer.  The claim comes at once, so that excess waiters are refused
 * soon, but no sooner than the first in line may claim.  A parked queue would claim much later: it
 * does so at its keepalive. */
int64_t takt_claims_newcomers_at(const takt_queue *queue, int64_t now_us);

/* Takes out the next queue that takt_scheduler_run has found to claim now (takt_claims_at), and
 * fills in its claim; NULL: no more.  The driver passes the answer to takt_scheduler_award or
 * takt_scheduler_failed. */
takt_queue *takt_claims_next(takt_scheduler *scheduler, int64_t now_us, takt_claim *claim);

/* What an award brought is in hand: from now on the ledger plans for the first waiter without a
 * slot.  If that waiter goes, the next claim comes at once, because others may have waited for it.
 */
void takt_claims_planned(takt_queue *queue);

/* The slot that the last claim offered is, or may be, another worker's now. */
void takt_claims_hand_on(takt_scheduler *scheduler, takt_queue *queue);

/* The queue's call has come back. */
void takt_claims_end(takt_scheduler *scheduler, takt_queue *queue);

/*
 * A try at a ledger with permits states what is held, as a claim does.  Returns false while another
 * call is in flight: the try must wait.  Its answer must come by takt_claims_tried, with `award`
 * NULL if there is none.  The permit gets what was given; with `permit` NULL the next claim gives
 * it back.
 */
bool takt_claims_begin_try(takt_scheduler *scheduler, takt_queue *queue, takt_claim *claim);
void takt_claims_tried(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                       int64_t sent_us, takt_permit *permit);

#endif
