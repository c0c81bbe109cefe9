/*
 * slots.c: see slots.h.
 */
#include "scheduler/slots.h"

#include <stdlib.h>
#include <string.h>

void takt_slots_close(takt_slots *in_hand)
{
    free(in_hand->runs);
    *in_hand = (takt_slots){0};
}

static int make_space(takt_slots *in_hand, int more)
{
    if (in_hand->first > 0) {
        memmove(in_hand->runs, in_hand->runs + in_hand->first,
                (size_t)in_hand->run_count * sizeof *in_hand->runs);
        in_hand->first = 0;
    }
    if (in_hand->run_count + more > in_hand->capacity) {
        int capacity = 2 * (in_hand->run_count + more);
        takt_run *runs = realloc(in_hand->runs, (size_t)capacity * sizeof *runs);
        if (!runs)
            return TAKT_E_NOMEM;
        in_hand->runs = runs;
        in_hand->capacity = capacity;
    }
    return 0;
}

int takt_slots_add(takt_slots *in_hand, const takt_run *runs, int run_count, int64_t fence)
{
    if (in_hand->first + in_hand->run_count + run_count > in_hand->capacity &&
        make_space(in_hand, run_count) < 0)
        return TAKT_E_NOMEM;
    for (int i = 0; i < run_count; i++) {
        takt_run *at = in_hand->runs + in_hand->first + in_hand->run_count;
        int64_t slot_us = takt_run_slot(&runs[i], 0);
        /* later awards mostly bring later slots, but not after a reset */
        for (; at > in_hand->runs + in_hand->first && takt_run_slot(at - 1, 0) > slot_us; at--)
            at[0] = at[-1];
        *at = runs[i];
        at->fence = fence;
        fence += fence > 0 ? runs[i].count : 0;
        in_hand->run_count++;
        in_hand->count += runs[i].count;
    }
    return 0;
}

int64_t takt_slots_next(const takt_slots *in_hand)
{
    return in_hand->run_count > 0 ? takt_fraction_ceil(in_hand->runs[in_hand->first].first)
                                  : TAKT_NEVER;
}

int32_t takt_slots_next_cost(const takt_slots *in_hand)
{
    return in_hand->runs[in_hand->first].cost;
}

int64_t takt_slots_next_fence(const takt_slots *in_hand)
{
    return in_hand->runs[in_hand->first].fence;
}

/* Moves the first run to its new place, because its next slot has become later. */
static void settle_first(takt_slots *in_hand)
{
    takt_run *at = in_hand->runs + in_hand->first;
    takt_run moved = *at;
    int64_t slot_us = takt_fraction_ceil(moved.first);

    for (int i = 1; i < in_hand->run_count && takt_fraction_ceil(at[1].first) < slot_us; i++, at++)
        at[0] = at[1];
    *at = moved;
}

void takt_slots_pop(takt_slots *in_hand)
{
    takt_run *run = &in_hand->runs[in_hand->first];

    in_hand->count--;
    if (--run->count == 0) {
        in_hand->first++;
        in_hand->run_count--;
        return;
    }
    run->fence += run->fence > 0;
    run->first.us += run->step.us;
    run->first.parts += run->step.parts;
    if (run->first.parts >= run->whole) {
        run->first.us++;
        run->first.parts -= run->whole;
    }
    if (in_hand->run_count > 1)
        settle_first(in_hand);
}

int64_t takt_slots_last(const takt_slots *in_hand)
{
    int64_t last_us = in_hand->run_count > 0 ? INT64_MIN : TAKT_NEVER;

    for (int i = 0; i < in_hand->run_count; i++) {
        const takt_run *run = &in_hand->runs[in_hand->first + i];
        int64_t slot_us = takt_run_slot(run, run->count - 1);
        if (slot_us > last_us)
            last_us = slot_us;
    }
    return last_us;
}

bool takt_slots_pop_last(takt_slots *in_hand, takt_run *run)
{
    if (in_hand->run_count == 0)
        return false;
    *run = in_hand->runs[in_hand->first + --in_hand->run_count];
    in_hand->count -= run->count;
    return true;
}

void takt_slots_drop_before(takt_slots *in_hand, int64_t instant_us)
{
    while (takt_slots_next(in_hand) < instant_us)
        takt_slots_pop(in_hand);
}
