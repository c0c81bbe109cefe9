/*
 * loss.h: what happens to waiters while the store is lost.
 *
 * Each server of the store (server.h) is lost from its first failed call until it answers one.  An
 * error that may concern one ledger alone (no right to it, another program's data under its name)
 * only affects its queue. A lost server is not polled on a timer.  If the waiters need no claim,
 * because they have failed or were granted, the acquires themselves bring one claim at a time, each
 * no sooner than a random time after the last failure.  After some seconds without another failure
 * the loss is in doubt: the next waiter waits for an answer.
 *
 * Nested work (nest.h) goes by the on_store_failure of all its limits: it fails if one is `closed`,
 * and waits if one is `wait`.  Otherwise it starts when all suit that are `share`: the pace of the
 * outermost limit, which its subjects share as tenants do, and one of each inner limit and key.
 */
#ifndef TAKT_SCHEDULER_LOSS_H
#define TAKT_SCHEDULER_LOSS_H

#include "scheduler/scheduler.h"

/* A call that was no claim has failed with that status, or was answered. */
void takt_loss_begin(takt_scheduler *scheduler, takt_server *server, int status, int64_t now_us);
void takt_loss_end(takt_scheduler *scheduler, takt_server *server);

/* The server may be back: waiters whose claim is to be repeated claim at the next pass. */
void takt_loss_retry(takt_scheduler *scheduler, takt_server *server);

/* What a queue's limits say about a lost store. */
takt_on_store_failure takt_loss_mode(const takt_queue *queue);

/* Takes out a queue that is now served by its limits' on_store_failure; once for each queue and
 * loss.  NULL: no more. */
const takt_queue *takt_loss_next_fallback(takt_scheduler *scheduler);

/* Decides a try that the store failed with `status`.  0: granted without the store; TAKT_E_NO_SLOT:
 * refused; both fill *standing as far as it is known.  Otherwise returns `status`. */
int takt_loss_try_alone(takt_scheduler *scheduler, takt_queue *queue, int status, int32_t cost,
                        takt_more more, int64_t now_us, takt_standing *standing);

/* Takes in that a queue's claim failed or was answered. */
void takt_loss_failed(takt_scheduler *scheduler, takt_queue *queue, int status, int64_t now_us);
void takt_loss_answered(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                        int64_t now_us);

/* Notes whether the queue is served without the store. */
void takt_loss_set_alone(takt_queue *queue, bool alone);

/* The workers that have shared the queue's ledger of late; 0: no award has said so. */
int64_t takt_loss_workers(const takt_queue *queue);

/* The store has sent a message about the queue's ledger: its next claim need not wait. */
void takt_loss_heard(takt_queue *queue);

/* Waiters without a slot in hand leave as the limit's on_store_failure says; true: at least one
 * did.  *next_us is the local time at which the next one will, TAKT_NEVER if none will. */
bool takt_loss_serve(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us,
                     int64_t *next_us);

/* Whether a claim is due whose only purpose is to find out if the store is back. */
bool takt_loss_asks(const takt_queue *queue, int64_t now_us);

#endif
