/*
 * hand.c: see hand.h.
 */
#include "scheduler/hand.h"

#include <stdlib.h>
#include <string.h>

void takt_hand_close(takt_hand *hand)
{
    free(hand->runs);
    *hand = (takt_hand){0};
}

static int make_space(takt_hand *hand, int more)
{
    if (hand->first > 0) {
        memmove(hand->runs, hand->runs + hand->first, (size_t)hand->run_count * sizeof *hand->runs);
        hand->first = 0;
    }
    if (hand->run_count + more > hand->capacity) {
        int capacity = 2 * (hand->run_count + more);
        takt_run *runs = realloc(hand->runs, (size_t)capacity * sizeof *runs);
        if (!runs)
            return TAKT_E_NOMEM;
        hand->runs = runs;
        hand->capacity = capacity;
    }
    return 0;
}

int takt_hand_add(takt_hand *hand, const takt_run *runs, int run_count, int64_t fence)
{
    if (hand->first + hand->run_count + run_count > hand->capacity &&
        make_space(hand, run_count) < 0)
        return TAKT_E_NOMEM;
    for (int i = 0; i < run_count; i++) {
        takt_run *at = hand->runs + hand->first + hand->run_count;
        int64_t slot_us = takt_run_slot(&runs[i], 0);
        /* later awards mostly bring later slots; not so after a reset */
        for (; at > hand->runs + hand->first && takt_run_slot(at - 1, 0) > slot_us; at--)
            at[0] = at[-1];
        *at = runs[i];
        at->fence = fence;
        fence += fence > 0 ? runs[i].count : 0;
        hand->run_count++;
        hand->count += runs[i].count;
    }
    return 0;
}

int64_t takt_hand_next(const takt_hand *hand)
{
    return hand->run_count > 0 ? takt_fraction_ceil(hand->runs[hand->first].first) : TAKT_NEVER;
}

int32_t takt_hand_next_cost(const takt_hand *hand)
{
    return hand->runs[hand->first].cost;
}

int64_t takt_hand_next_fence(const takt_hand *hand)
{
    return hand->runs[hand->first].fence;
}

/* Puts the first run, whose next slot has become later, back into its place. */
static void settle_first(takt_hand *hand)
{
    takt_run *at = hand->runs + hand->first;
    takt_run moved = *at;
    int64_t slot_us = takt_fraction_ceil(moved.first);

    for (int i = 1; i < hand->run_count && takt_fraction_ceil(at[1].first) < slot_us; i++, at++)
        at[0] = at[1];
    *at = moved;
}

void takt_hand_pop(takt_hand *hand)
{
    takt_run *run = &hand->runs[hand->first];

    hand->count--;
    if (--run->count == 0) {
        hand->first++;
        hand->run_count--;
        return;
    }
    run->fence += run->fence > 0;
    run->first.us += run->step.us;
    run->first.parts += run->step.parts;
    if (run->first.parts >= run->whole) {
        run->first.us++;
        run->first.parts -= run->whole;
    }
    if (hand->run_count > 1)
        settle_first(hand);
}

int64_t takt_hand_last(const takt_hand *hand)
{
    int64_t last_us = hand->run_count > 0 ? INT64_MIN : TAKT_NEVER;

    for (int i = 0; i < hand->run_count; i++) {
        const takt_run *run = &hand->runs[hand->first + i];
        int64_t slot_us = takt_run_slot(run, run->count - 1);
        if (slot_us > last_us)
            last_us = slot_us;
    }
    return last_us;
}

bool takt_hand_pop_last(takt_hand *hand, takt_run *run)
{
    if (hand->run_count == 0)
        return false;
    *run = hand->runs[hand->first + --hand->run_count];
    hand->count -= run->count;
    return true;
}

void takt_hand_drop_before(takt_hand *hand, int64_t instant_us)
{
    while (takt_hand_next(hand) < instant_us)
        takt_hand_pop(hand);
}
