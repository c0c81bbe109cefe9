/*
 * loss.h: what becomes of waiters while the store is lost.
 *
 * The store is lost from the first call that fails until one is answered.  An error that may be one
 * ledger's own (no right to it, another program's data under its name) is its queue's alone.
 * Nobody asks a store on a schedule: where those who wait need no claim (they failed, or were
 * granted), the acquires themselves bring one claim at a time, no sooner than a random while after
 * the last failure.  A failure that nobody has confirmed for some seconds is not believed any more:
 * the next waiter waits for an answer.
 */
#ifndef TAKT_SCHEDULER_LOSS_H
#define TAKT_SCHEDULER_LOSS_H

#include "scheduler/scheduler.h"

/* A call to the store that was no claim has failed with that status, or was answered. */
void takt_loss_begin(takt_scheduler *scheduler, int status, int64_t now_us);
void takt_loss_end(takt_scheduler *scheduler);

/* The store may be there again: who waits for another try has it at the next pass. */
void takt_loss_retry(takt_scheduler *scheduler);

/* A queue that has begun to be served as its limit's on_store_failure says, once in each loss;
 * NULL: no more. */
const takt_queue *takt_loss_next_fallback(takt_scheduler *scheduler);

/* Now or never, for a call that the store failed with `status`: 0 where it is granted without the
 * store, TAKT_E_NO_SLOT, both with *standing as far as it is known, or `status` again. */
int takt_loss_try_alone(takt_scheduler *scheduler, takt_queue *queue, int status, int32_t cost,
                        int64_t now_us, takt_standing *standing);

/* Takes in that a queue's claim failed or was answered. */
void takt_loss_failed(takt_scheduler *scheduler, takt_queue *queue, int status, int64_t now_us);
void takt_loss_answered(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                        int64_t now_us);

/* The store itself has sent something about a queue's ledger: its next claim need not wait. */
void takt_loss_heard(takt_queue *queue);

/* At a pass: what is not believed any more is dropped. */
void takt_loss_tick(takt_scheduler *scheduler, int64_t now_us);

/* Those whom no slot in hand is for leave as the limit says; true: somebody did.  *next_us is the
 * local time at which the next one will, TAKT_NEVER where none will. */
bool takt_loss_serve(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us,
                     int64_t *next_us);

/* Whether a claim is due that only finds out if the store is back. */
bool takt_loss_asks(const takt_scheduler *scheduler, const takt_queue *queue, int64_t now_us);

#endif
