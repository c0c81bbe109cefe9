/*
 * checker_brake.c: penalties, against the promise of `adapt`: a new event lowers the rate. From a
 * penalty on the slots in any interval are at most a burst and the tokens of the rate, which falls
 * and recovers as the policy says. (The policy's rules are checked as always.)
 *
 * The rate in this file recovers while the ledger is blocked, which the ledger's own does not: it
 * is an upper bound.
 */
#include "checker.h"

#include <stdlib.h>

#define SECOND_US INT64_C(1000000)

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void checker_brake_off(checker *self)
{
    self->braked = false;
    self->braked_count = 0;
}

/* Percent of the rate at an instant after the penalty. */
static int64_t percent_at(const checker *self, int64_t t_us)
{
    const takt_adapt *adapt = &self->numbers.adapt;
    wide gained;

    if (adapt->backoff == 0) /* another policy of the revision has none */
        return 100;
    gained = (wide)later(t_us - self->braked_at_us, 0) * adapt->recover / adapt->recover_us;
    return gained > 100 ? 100 : sooner(self->braked_percent + (int64_t)gained, 100);
}

/* The percents of each microsecond from the penalty to t_us, summed up. */
static wide percents_until(const checker *self, int64_t t_us)
{
    const takt_adapt *adapt = &self->numbers.adapt;
    int64_t end_us = t_us - self->braked_at_us, from_us = 0;
    wide sum = 0;

    for (int64_t gained = 0; from_us < end_us; gained++) {
        int64_t percent = sooner(self->braked_percent + gained, 100);
        /* the first microsecond at which another one is back */
        wide next_us =
            ((wide)(gained + 1) * adapt->recover_us + adapt->recover - 1) / adapt->recover;
        int64_t until_us = percent == 100 || next_us > end_us ? end_us : (int64_t)next_us;
        sum += (wide)percent * (until_us - from_us);
        from_us = until_us;
    }
    return sum;
}

void checker_brake_penalty(checker *self, const takt_store_call *call)
{
    const takt_adapt *adapt = &self->numbers.adapt;
    int64_t told = call->standing.rate_percent, before;
    bool anew = self->known && self->penalized_at_us + SECOND_US <= checker_now(self) &&
                self->blocked_until_us <= checker_now(self);

    checker_note(self, "penalty, block for %lld us: the rate is %lld %%", (long long)call->for_us,
                 (long long)told);
    self->penalized_at_us = checker_now(self);
    if (adapt->backoff == 0 || self->numbers.rule_count == 0) {
        if (told != 100)
            checker_fail(self, 1, "the rate falls to %lld %% where it does not adapt",
                         (long long)told);
        return;
    }
    before = self->braked ? percent_at(self, checker_now(self)) : 100;
    if (anew && told > later(before * adapt->backoff / 100, adapt->floor))
        checker_fail(self, 1, "the rate is %lld %% after a penalty, and was %lld %%",
                     (long long)told, (long long)before);
    if (told < adapt->floor)
        checker_fail(self, 5, "the rate falls to %lld %%, below its floor", (long long)told);
    self->braked = true;
    self->braked_at_us = checker_now(self);
    self->braked_percent = anew ? told : sooner(told + 1, 100); /* part of a percent may be back */
    self->braked_count = 0;
}

/* A brake may delay slots beyond the policy's rules. After a penalty's block the rest of the brake
 * is taken off; slots given ahead stay. */
void checker_brake_vague(checker *self, int64_t now_us)
{
    const takt_adapt *adapt = &self->numbers.adapt;

    if (adapt->backoff > 0 && (self->braked || self->brake_vague_until_us > now_us))
        self->brake_vague_until_us =
            later(self->brake_vague_until_us, later(now_us, self->blocked_until_us) +
                                                  100 * adapt->recover_us / adapt->recover +
                                                  self->numbers.lookahead_us + SECOND_US);
}

static void note_slot(checker *self, int64_t slot_us, int64_t cost)
{
    if (self->braked_count == self->braked_capacity) {
        self->braked_capacity = 2 * self->braked_capacity + 64;
        self->braked_slots =
            realloc(self->braked_slots, (size_t)self->braked_capacity * sizeof *self->braked_slots);
        if (!self->braked_slots)
            abort();
    }
    self->braked_slots[self->braked_count++] = (definition_token){.at_us = slot_us, .cost = cost};
}

/* They are none of those given since. */
void checker_brake_slots_back(checker *self, const takt_run *unused)
{
    for (int64_t i = 0; i < unused->count; i++)
        for (int at = self->braked_count - 1; at >= 0; at--) {
            definition_token *slot = &self->braked_slots[at];
            if (slot->at_us == takt_run_slot(unused, i) && slot->cost == unused->cost) {
                slot->cost = 0;
                break;
            }
        }
}

/* A burst of the limit's largest cost, or of requests, and the recovered rate of the first rule;
 * slots are whole microseconds. */
void checker_brake_slot(checker *self, int64_t now_us, int64_t slot_us, int64_t cost)
{
    const definition *first = &self->rules[0];
    int64_t burst = TAKT_NEVER;
    wide until, sum = 0;

    if (!self->braked)
        return;
    if (percent_at(self, now_us) >= 100) {
        checker_brake_off(self);
        return;
    }
    note_slot(self, slot_us, cost);
    for (int i = 0; i < self->numbers.rule_count; i++)
        if (self->rules[i].rule.unit == first->rule.unit)
            burst = sooner(burst, definition_capacity(&self->rules[i]));
    until = percents_until(self, slot_us);
    for (int i = self->braked_count - 1; i >= 0; i--) {
        const definition_token *from = &self->braked_slots[i];
        wide passed = until - percents_until(self, from->at_us) + 100;
        sum += from->cost > 0 ? definition_amount(first, from->cost) : 0;
        if ((sum - burst) * first->span * 100 > passed * first->tokens)
            checker_fail(self, 1,
                         "%lld tokens from now%+lld us to now%+lld us are more than the brake lets "
                         "through at %lld %%",
                         (long long)sum, (long long)(from->at_us - now_us),
                         (long long)(slot_us - now_us), (long long)percent_at(self, now_us));
    }
}
