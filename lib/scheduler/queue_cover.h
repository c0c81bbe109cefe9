/*
 * queue_cover.h: the slots in hand beside the waiters: which waiters have one, and what a claim
 * wants for the others.
 *
 * A slot in hand belongs to no waiter before it is due.  Here each waiter in turn counts as having
 * a slot that suits it: one that takes no less of any unit.
 */
#ifndef TAKT_SCHEDULER_QUEUE_COVER_H
#define TAKT_SCHEDULER_QUEUE_COVER_H

#include "scheduler/queue.h"

/* Whether the slots in hand suffice for all waiters. */
bool takt_queue_is_covered(const takt_queue *queue);

/* The most urgent priority of the waiters without a slot in hand; -1: there is a slot for each. */
int takt_queue_uncovered_priority(const takt_queue *queue);

/* The first waiter without a slot in hand, and the first one of the least urgent priority that has
 * such waiters; NULL: there is a slot for each. */
takt_permit *takt_queue_uncovered(const takt_queue *queue);
takt_permit *takt_queue_least_urgent_uncovered(const takt_queue *queue);

/* Lists the waiters without a slot in hand, for a claim.  The ledger learns the deadlines up to
 * `deadline_soon_us` (local clock), each earlier by `offset_us` (local - store). */
void takt_queue_wants(const takt_queue *queue, int64_t deadline_soon_us, int64_t offset_us,
                      takt_claim *claim);

#endif
