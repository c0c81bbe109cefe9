/*
 * definition_unused.c: slots that are handed back, against the list of all taken slots.
 *
 * After that a rule may give what it could have given if these slots had never been given: they are
 * removed from the list. A bucket is computed again from the rest of its slots, over the last
 * seconds. A formula has the least that a ledger takes back (docs/design.md); between the two it is
 * never over and wastes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "definition.h"

#define REMEMBERED_US INT64_C(12000000) /* slots are handed back sooner than that */

static wide larger(wide a, wide b)
{
    return a > b ? a : b;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- buckets --------------------------------------------------------------------------------- */

void definition_forget(definition *self)
{
    self->taking_count = 0;
    self->base_told = self->told;
    self->base_min = self->min;
}

static void replay(const definition_taking *taking, wide *told, wide *min)
{
    *told = larger(*told, taking->at_told) + taking->told;
    *min = larger(*min, taking->at_least) + taking->min;
}

static void drop_old(definition *self, int64_t before_us)
{
    int old = 0;

    while (old < self->taking_count && self->takings[old].slot_us < before_us)
        replay(&self->takings[old++], &self->base_told, &self->base_min);
    if (old == 0)
        return;
    self->taking_count -= old;
    memmove(self->takings, self->takings + old, (size_t)self->taking_count * sizeof *self->takings);
}

void definition_note(definition *self, definition_taking taking)
{
    if (self->taking_count == self->taking_capacity) {
        drop_old(self, taking.slot_us - REMEMBERED_US);
        if (2 * self->taking_count >= self->taking_capacity) {
            self->taking_capacity = 2 * self->taking_capacity + 64;
            self->takings =
                realloc(self->takings, (size_t)self->taking_capacity * sizeof *self->takings);
            if (!self->takings)
                abort();
        }
    }
    self->takings[self->taking_count++] = taking;
}

static bool strike_taking(definition *self, int64_t slot_us, int64_t cost)
{
    for (int i = self->taking_count - 1; i >= 0; i--)
        if (self->takings[i].slot_us == slot_us && self->takings[i].cost == cost) {
            self->taking_count--;
            memmove(self->takings + i, self->takings + i + 1,
                    (size_t)(self->taking_count - i) * sizeof *self->takings);
            return true;
        }
    return false;
}

/* So many tokens from slot_us on are taken off, but for the time since then and until the last slot
 * that can have been given, unless nothing was taken after them. */
static void take_off(definition *self, int64_t slot_us, int64_t tokens, int64_t until_us)
{
    wide without = self->max - tokens * self->span, slot = (wide)slot_us * self->tokens;

    if ((without > slot || self->span < self->tokens) && until_us >= slot_us)
        without += (wide)(until_us - slot_us + 1) * self->tokens;
    if (without < self->max)
        self->max = without;
}

static void bucket_hand_back(definition *self, const takt_run *run, int64_t until_us,
                             int64_t set_back_us)
{
    int64_t tokens = run->count * run->cost, struck = 0;

    for (int64_t i = 0; i < run->count; i++)
        struck += strike_taking(self, takt_run_slot(run, i), run->cost);
    /* of before a reset or the like, or of another clock: they could have been used as well */
    if (struck < run->count || takt_run_slot(run, 0) <= set_back_us) {
        self->told -= tokens * self->span;
        self->min -= tokens * self->span;
        definition_forget(self);
        return;
    }
    self->told = self->base_told;
    self->min = self->base_min;
    for (int i = 0; i < self->taking_count; i++)
        replay(&self->takings[i], &self->told, &self->min);
    take_off(self, takt_run_slot(run, 0), tokens, until_us);
}

/* ---- windows --------------------------------------------------------------------------------- */

/* The latest token of that slot's window; -1: there is none.  A log takes back none, and neither
 * does a window that is over: a sliding one still counts the window before the last. */
static int latest_of_window(const definition *self, int64_t slot_us)
{
    int64_t period_us = self->period_us;
    int at = self->kind == DEFINED_LOG ? -1 : self->count - 1;

    while (self->kind == DEFINED_SLIDING && at >= 0 &&
           self->taken[at].at_us / period_us > slot_us / period_us)
        at--;
    return at >= 0 && self->taken[at].at_us / period_us == slot_us / period_us ? at : -1;
}

/* The latest taken at that slot.  If none was, because of a reset or the like: the latest of its
 * window. */
static void strike_token(definition *self, int64_t slot_us, int64_t cost)
{
    int at = self->count - 1;

    while (at >= 0 && self->taken[at].at_us != slot_us)
        at--;
    if (at < 0)
        at = latest_of_window(self, slot_us);
    for (; at >= 0 && cost > 0; at--) {
        int64_t struck = self->taken[at].cost < cost ? self->taken[at].cost : cost;
        self->taken[at].cost -= struck;
        definition_add_up(self, at);
        cost -= struck;
    }
}

static void window_hand_back(definition *self, const takt_run *run)
{
    int64_t period_us = self->period_us, first_us = takt_run_slot(run, 0);
    int64_t last_us = takt_run_slot(run, run->count - 1);
    bool late =
        self->kind == DEFINED_FIXED && last_us % period_us >= period_us - self->rule.guard_us;
    bool whole = self->kind != DEFINED_LOG && !late && first_us / period_us == last_us / period_us;

    for (int64_t i = run->count - 1; i >= 0; i--)
        strike_token(self, takt_run_slot(run, i), run->cost);
    if (first_us >= self->opened_us)
        self->used = later(self->used - run->count * run->cost, 0);
    if (self->used == 0) { /* it was not opened, and that before it may last */
        self->opened_us = self->opened_before_us;
        self->used = self->used_before;
        self->opened_before_us = self->used_before = 0;
    }
    /* slots do not return to an earlier window; those that a log cannot take back, and those that
     * count in two windows, still count */
    definition_blur(self, last_us + (whole ? 0 : 2 * period_us));
}

void definition_hand_back(definition *self, const takt_run *unused, int64_t until_us,
                          int64_t set_back_us)
{
    takt_run of_rule = *unused, *run = &of_rule;

    run->cost = (int32_t)definition_amount(self, unused->cost);
    for (int64_t i = 0; i < run->count; i++)
        for (int j = 0; j < self->debt_count; j++)
            if (takt_run_slot(run, i) >= self->debts[j].at_us)
                self->debts[j].given -= run->cost;
    if (self->kind == DEFINED_BUCKET)
        bucket_hand_back(self, run, until_us, set_back_us);
    else
        window_hand_back(self, run);
}
