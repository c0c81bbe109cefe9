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

takt_run takt_slots_next_run(const takt_slots *in_hand)
{
    const takt_run *run = &in_hand->runs[in_hand->first];

    return takt_run_at(takt_fraction_ceil(run->first), 1, run->cost, run->more);
}

int64_t takt_slots_next_fence(const takt_slots *in_hand)
{
    return in_hand->runs[in_hand->first].fence;
}

/* Moves the first run behind those whose next slot is sooner now. */
static void sort_first(takt_slots *in_hand)
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
        sort_first(in_hand);
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

/* The index of the run's first slot at t_us or later; its count: there is none. */
static int64_t index_from(const takt_run *run, int64_t t_us)
{
    int64_t low = 0, high = run->count;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (takt_run_slot(run, middle) >= t_us)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int64_t takt_slots_from(const takt_slots *in_hand, int64_t t_us, int32_t *cost)
{
    int64_t first_us = TAKT_NEVER;

    for (int i = 0; i < in_hand->run_count; i++) {
        const takt_run *run = &in_hand->runs[in_hand->first + i];
        int64_t at = index_from(run, t_us);
        if (at < run->count && takt_run_slot(run, at) < first_us) {
            first_us = takt_run_slot(run, at);
            *cost = run->cost;
        }
    }
    return first_us;
}

/* The run from that index on. */
static takt_run rest_of(const takt_run *run, int64_t index)
{
    takt_run rest = *run;
    int64_t parts = run->first.parts + index * run->step.parts;

    rest.first.us += index * run->step.us + parts / run->whole;
    rest.first.parts = parts % run->whole;
    rest.count = run->count - index;
    rest.fence += run->fence > 0 ? index : 0;
    return rest;
}

bool takt_slots_pop_before(takt_slots *in_hand, int64_t instant_us, takt_run *run)
{
    takt_run *first;

    if (takt_slots_next(in_hand) >= instant_us)
        return false;
    first = &in_hand->runs[in_hand->first];
    *run = *first;
    run->count = index_from(first, instant_us);
    in_hand->count -= run->count;
    if (run->count == first->count) {
        in_hand->first++;
        in_hand->run_count--;
    } else {
        *first = rest_of(first, run->count);
        sort_first(in_hand);
    }
    return true;
}

int takt_slots_take_out(takt_slots *in_hand, int64_t slot_us, int32_t cost)
{
    for (int i = 0; i < in_hand->run_count; i++) {
        takt_run *run = &in_hand->runs[in_hand->first + i], behind;
        int64_t at = index_from(run, slot_us);
        if (run->cost != cost || at == run->count || takt_run_slot(run, at) != slot_us)
            continue;
        behind = rest_of(run, at);
        in_hand->count -= behind.count;
        run->count = at;
        if (at == 0) {
            memmove(run, run + 1, (size_t)(in_hand->run_count - i - 1) * sizeof *run);
            in_hand->run_count--;
        }
        if (behind.count == 1)
            return 0;
        behind = rest_of(&behind, 1);
        return takt_slots_add(in_hand, &behind, 1, behind.fence);
    }
    return 0;
}
