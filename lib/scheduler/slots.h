/*
 * slots.h: the slots in hand: awarded, not yet used, in the order in which they become due.
 */
#ifndef TAKT_SCHEDULER_SLOTS_H
#define TAKT_SCHEDULER_SLOTS_H

#include "rules/rule.h"

typedef struct takt_slots {
    takt_run *runs; /* runs[first .. first + run_count), sorted by their next slot */
    int first;
    int run_count;
    int capacity;
    int64_t count; /* slots */
} takt_slots;

void takt_slots_close(takt_slots *in_hand);

/* Adds runs to the slots in hand.  Their slots get fencing numbers from `fence` on (0: none).
 * Returns 0, or TAKT_E_NOMEM with nothing changed. */
int takt_slots_add(takt_slots *in_hand, const takt_run *runs, int run_count, int64_t fence);

/* The next slot (TAKT_NEVER: there is none), as a run of its own, and its fencing number. */
int64_t takt_slots_next(const takt_slots *in_hand);
takt_run takt_slots_next_run(const takt_slots *in_hand);
int64_t takt_slots_next_fence(const takt_slots *in_hand);
void takt_slots_pop(takt_slots *in_hand); /* removes the next slot, which must exist */

/* The run of the next slot, which must exist. */
static inline const takt_run *takt_slots_first_run(const takt_slots *in_hand)
{
    return &in_hand->runs[in_hand->first];
}

/* The last slot in hand; TAKT_NEVER: there is none. */
int64_t takt_slots_last(const takt_slots *in_hand);

/* Takes out the run that begins last; false: there is none. */
bool takt_slots_pop_last(takt_slots *in_hand, takt_run *run);

/* The first slot at t_us or later, and its cost; TAKT_NEVER: there is none. */
int64_t takt_slots_from(const takt_slots *in_hand, int64_t t_us, int32_t *cost);

/* Takes out one slot of that time and cost, if there is one.  TAKT_E_NOMEM: slots behind it lapse,
 * too. */
int takt_slots_take_out(takt_slots *in_hand, int64_t slot_us, int32_t cost);

/* Takes out the slots of the first run that are due before that instant; false: there is none. */
bool takt_slots_pop_before(takt_slots *in_hand, int64_t instant_us, takt_run *run);

/* Drops the slots that are due before that instant. */
void takt_slots_drop_before(takt_slots *in_hand, int64_t instant_us);

#endif
