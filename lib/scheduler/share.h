/*
 * share.h: a worker's part of a limit while the store is lost.  This worker alone paces it.
 *
 * Every rule becomes a gcra rule without a burst, at its rate divided by the number of workers.  No
 * jobs start together, even if the rule's own algorithm would allow it.  A cost is paid after its
 * slot, so every cost can be granted.  In any interval of length t the tokens taken are at most one
 * cost plus t times that part of each rate.
 */
#ifndef TAKT_SCHEDULER_SHARE_H
#define TAKT_SCHEDULER_SHARE_H

#include "core/numbers.h"

typedef struct takt_share {
    takt_numbers numbers; /* all zeros before its first use, as is `state` */
    takt_rules_state state;
} takt_share;

/*
 * Begins, or begins again.  The first slot lies at a random moment within one interval from from_us
 * on, or at the end of an earlier use if that is later.  So the workers of a fleet do not start
 * together, and a worker that loses its store repeatedly gains nothing.
 */
void takt_share_begin(takt_share *share, const takt_numbers *numbers, int64_t workers,
                      int64_t from_us, uint64_t *random);

/* The next slot from now on, and taking it. */
int64_t takt_share_next(const takt_share *share, int64_t now_us);
void takt_share_take(takt_share *share, int64_t slot_us, int32_t cost, takt_more more);

#endif
