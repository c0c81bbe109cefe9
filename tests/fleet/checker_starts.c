/*
 * checker_starts.c: the starts of work, beside their slots: promise 1 as a vendor sees it.
 *
 * Work does not begin if its worker comes later than its slot by more than the guard. Without
 * faults, starts keep the rules with a guard in strict windows of their own periods: a vendor
 * counts these, and knows of no guard.
 */
#include "checker.h"

#include <stdlib.h>

/* The least guard of the rules that a worker goes by; TAKT_NEVER: there is none. */
static int64_t least_guard(const takt_numbers *numbers)
{
    int64_t least_us = TAKT_NEVER;

    for (int i = 0; i < numbers->rule_count; i++)
        if (numbers->rules[i].guard_us > 0 && numbers->rules[i].guard_us < least_us)
            least_us = numbers->rules[i].guard_us;
    return least_us;
}

/* The slots in hand that it is certainly not too late for.  An older policy may have had a guard.
 */
int checker_in_hand(const checker *self, const watched *worker)
{
    int64_t guard_us = least_guard(&worker->numbers);
    int count = 0;

    if (guard_us == TAKT_NEVER && !self->one_policy)
        guard_us = 0;
    for (int i = 0; i < worker->hand_count; i++)
        count += guard_us == TAKT_NEVER ||
                 checker_now(self) <= worker->hand[i].at_us + guard_us - self->slowest_us;
    return count;
}

/* In virtual time: by the clock of any node that had the ledger since. */
static int64_t due_at(const checker *self, const hand_slot *used)
{
    const takt_fleet *fleet = self->fleet;
    int64_t due_us = used->due_us, by_us;

    for (int i = 0; due_us > 0 && i < fleet->node_count; i++) {
        by_us = fleet->now_us + used->at_us - takt_fleet_node_time(fleet, i, fleet->now_us);
        if (used->nodes >> i & 1 && by_us > due_us)
            due_us = by_us;
    }
    return due_us;
}

/* A worker knows the time as exactly as its answers were quick.  Which of several policies it goes
 * by is not told. */
static void check_late(const checker *self, const watched *worker, const fleet_job *started,
                       const hand_slot *used)
{
    int64_t due_us = due_at(self, used);
    int64_t late_us = self->fleet->now_us - due_us - self->slowest_us;
    int64_t guard_us = least_guard(&worker->numbers);

    if (self->one_policy && due_us > 0 && guard_us != TAKT_NEVER && late_us > guard_us)
        checker_fail(self, 1,
                     "acquire %lld begins at least %lld us after its slot, which was in hand in "
                     "time; the guard is %lld us",
                     (long long)started->order, (long long)late_us, (long long)guard_us);
}

static int64_t begun_since(const checker *self, const definition *rule, int64_t from_us)
{
    int64_t sum = 0;

    for (int i = self->start_count - 1; i >= 0 && self->starts[i].at_us >= from_us; i--)
        sum += definition_amount(rule, self->starts[i].cost);
    return sum;
}

/* The most that may begin in one period, and from when on this one counts. */
static int64_t allowed(const definition *rule, int64_t now_us, int64_t *from_us)
{
    int64_t period_us = rule->rule.period_us, tokens = (int64_t)(rule->tokens / 10000);

    *from_us = now_us - period_us + 1;
    if (rule->kind == DEFINED_FIXED)
        *from_us = now_us - now_us % period_us;
    return tokens + (rule->kind == DEFINED_BUCKET ? rule->rule.burst : 0);
}

static bool is_strict(const checker *self, const definition *rule)
{
    int64_t delay_us = self->fleet->delay_max_us + self->fleet->timer_late_us + CHECKER_PROMPT_US;

    return rule->rule.guard_us >= delay_us && rule->kind != DEFINED_SLIDING &&
           rule->rule.align != TAKT_ALIGN_FIRST_USE;
}

static void note(checker *self, int64_t now_us, int64_t cost)
{
    if (self->start_count == self->start_capacity) {
        self->start_capacity = 2 * self->start_capacity + 64;
        self->starts = realloc(self->starts, (size_t)self->start_capacity * sizeof *self->starts);
        if (!self->starts)
            abort();
    }
    self->starts[self->start_count++] = (definition_token){.at_us = now_us, .cost = cost};
}

void checker_start(checker *self, const watched *worker, const fleet_job *started,
                   const hand_slot *used)
{
    int64_t now_us = checker_now(self), from_us;

    check_late(self, worker, started, used);
    if (!self->calm || least_guard(&self->numbers) == TAKT_NEVER)
        return;
    note(self, now_us, started->permit.cost);
    for (int i = 0; i < self->numbers.rule_count; i++) {
        const definition *rule = &self->rules[i];
        int64_t max = allowed(rule, now_us, &from_us), begun = begun_since(self, rule, from_us);
        if (is_strict(self, rule) && begun > max)
            checker_fail(self, 1, "rule %d (%s): %lld begin within a period, and %lld may", i,
                         rule->rule.algorithm->name, (long long)begun, (long long)max);
    }
}
