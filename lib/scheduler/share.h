/*
 * share.h: a worker's part of a limit while the store is lost, paced by this worker alone.
 *
 * Every rule becomes a gcra rule without a burst, at its rate divided by the workers: whatever its
 * own algorithm would let start together, nothing does here.  A cost is paid for after its slot, so
 * that any cost can be given.  In any interval of length t the tokens taken are at most one cost
 * and t times that part of each rate.
 */
#ifndef TAKT_SCHEDULER_SHARE_H
#define TAKT_SCHEDULER_SHARE_H

#include "core/numbers.h"

typedef struct takt_share {
    takt_numbers numbers; /* zeros before its first use, as `state` is */
    takt_rules_state state;
} takt_share;

/*
 * Begins, or begins again: the first slot lies at a random moment within one interval from from_us
 * on, or where an earlier use reached to, if that is later.  So the workers of a fleet that loses
 * its store do not start together, and one that loses it again and again gains nothing.
 */
void takt_share_begin(takt_share *share, const takt_numbers *numbers, int64_t workers,
                      int64_t from_us, uint64_t *random);

/* The next slot from now on; taking it for a cost. */
int64_t takt_share_next(const takt_share *share, int64_t now_us);
void takt_share_take(takt_share *share, int64_t slot_us, int32_t cost);

#endif
