/*
 * hand.h: the slots in hand, awarded and not yet used, in the order in which they fall due.
 */
#ifndef TAKT_SCHEDULER_HAND_H
#define TAKT_SCHEDULER_HAND_H

#include "core/rule.h"

typedef struct takt_hand {
    takt_run *runs; /* runs[first .. first + run_count), sorted by their next slot */
    int first;
    int run_count;
    int capacity;
    int64_t count; /* slots */
} takt_hand;

void takt_hand_close(takt_hand *hand);

/* Takes runs into the hand, their slots with fencing numbers from `fence` on (0: without): 0, or
 * TAKT_E_NOMEM with the hand as before. */
int takt_hand_add(takt_hand *hand, const takt_run *runs, int run_count, int64_t fence);

/* The next slot, its cost and its fencing number; TAKT_NEVER where there is none. */
int64_t takt_hand_next(const takt_hand *hand);
int32_t takt_hand_next_cost(const takt_hand *hand);
int64_t takt_hand_next_fence(const takt_hand *hand);
void takt_hand_pop(takt_hand *hand); /* the next slot is used up; there is one */

/* The last slot in hand, TAKT_NEVER where there is none. */
int64_t takt_hand_last(const takt_hand *hand);

/* Takes out the run that begins last: false where there is none. */
bool takt_hand_pop_last(takt_hand *hand, takt_run *run);

/* Drops the slots that fall due before that instant. */
void takt_hand_drop_before(takt_hand *hand, int64_t instant_us);

#endif
