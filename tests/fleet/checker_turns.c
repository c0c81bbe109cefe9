/*
 * checker_turns.c: whose turn it is, promise 4.  Two things are asked of every award:
 *
 * Priority.  It leaves room within one lookahead for all that live workers are known to want with a
 * higher priority. A worker that did not come when it was told to, and one lookahead on, has no
 * such claim.
 *
 * Round robin.  Where all work has one priority and one weight, nobody is refused, there are no
 * faults, messages are quick and all look ahead as far, no worker has a third turn while another
 * one waits for its next; a
 * fourth, where costs differ, since a turn may pass a worker by whose first waiter costs more than
 * a share.
 */
#include <string.h>

#include "checker.h"

#define WANTED_MAX  50  /* tokens of a window that are counted one by one for each award */
#define COUNTED_MAX 500 /* and where somebody leaves */

/* Whether a worker takes part: it lives, and claims at its times. A worker that was set aside under
 * a shorter lookahead stays so. */
static bool takes_part(const checker *self, int worker, int64_t now_us)
{
    const takt_fleet_worker *of_fleet = &self->fleet->workers[worker];

    return !of_fleet->dead && self->workers[worker].told_at_us + self->lookahead_min_us >= now_us;
}

/* Tokens that are known to be wanted with a higher priority than that. */
static int64_t wanted_above(const checker *self, int priority, int64_t now_us)
{
    int64_t tokens = 0;

    for (int i = 0; i < self->fleet->worker_count; i++)
        for (int p = 0; p < priority && takes_part(self, i, now_us); p++)
            if (self->workers[i].places[p].standing)
                tokens += self->workers[i].places[p].wanting;
    return tokens;
}

/* When the last of so many tokens can be taken of a bucket. */
static int64_t last_of(const definition *bucket, int64_t from_us, int64_t tokens)
{
    wide tat = bucket->min, from = (wide)from_us * bucket->tokens;
    wide last = (tat > from ? tat : from) + (tokens - bucket->rule.burst) * bucket->span;

    return (int64_t)((last + bucket->tokens - 1) / bucket->tokens);
}

int64_t checker_due(const checker *self, int64_t t_us, int64_t tokens)
{
    definition rules[TAKT_RULES_MAX] = {0};
    int count = self->numbers.rule_count;

    t_us = self->blocked_until_us > t_us ? self->blocked_until_us : t_us;
    if (count == 1 && self->rules[0].kind == DEFINED_BUCKET)
        return last_of(&self->rules[0], t_us, tokens);
    if (tokens > COUNTED_MAX)
        return TAKT_NEVER / 2;
    for (int i = 0; i < count; i++)
        definition_copy(&rules[i], &self->rules[i]);
    for (int64_t taken = 0; taken < tokens; taken++) {
        t_us = checker_first(rules, count, t_us, 1);
        for (int i = 0; i < count; i++)
            definition_take(&rules[i], t_us, 1);
    }
    for (int i = 0; i < count; i++)
        definition_close(&rules[i]);
    return t_us;
}

/* Whether a number of tokens describes the state of the rule. */
static bool counts_tokens(const checker *self, const definition *rule)
{
    return rule->rule.unit != TAKT_UNIT_REQUESTS || self->cost_max == 1;
}

static void check_priority(const checker *self, int worker, int priority)
{
    const definition *rule = &self->rules[0];
    int64_t wanted = wanted_above(self, priority, checker_now(self));

    /* of waiters that it has refused a ledger knows the number, and not what each would have cost
     */
    if (wanted == 0 || checker_now(self) < self->set_back_us || self->numbers.rule_count != 1 ||
        !counts_tokens(self, rule) || (self->numbers.max_waiting > 0 && self->cost_max > 1) ||
        (rule->kind != DEFINED_BUCKET && (wanted > WANTED_MAX || self->cost_max > 1)))
        return;
    /* a window that slides has its room in parts of a period */
    if (checker_due(self, checker_now(self), wanted) >
        checker_now(self) + self->numbers.lookahead_us +
            (rule->kind == DEFINED_SLIDING ? rule->period_us : 0))
        checker_fail(self, 4,
                     "worker %d was given tokens with priority %d, which leaves %lld more urgent "
                     "ones no room",
                     worker, priority, (long long)wanted);
}

/* A try does not overtake waiters: all that they want could be taken now as well. */
void checker_try_turn(const checker *self, int64_t now_us)
{
    const definition *rule = &self->rules[0];
    int64_t wanted = wanted_above(self, TAKT_PRIORITIES, now_us);

    if (wanted > 0 && self->numbers.rule_count == 1 && counts_tokens(self, rule) &&
        rule->kind == DEFINED_BUCKET && last_of(rule, now_us, wanted) > now_us)
        checker_fail(self, 4, "a try overtakes those who wait for %lld tokens", (long long)wanted);
}

/* How many turns a place may have while another one waits for its own: two. One more if costs
 * differ, since shares are smaller than some costs; and if the tokens of a window come all at once,
 * since a near worker may have some of them before a far one can claim. */
static int turns_at_max(const checker *self)
{
    if (self->cost_max == 1)
        return TURNS - 2;
    return self->numbers.rule_count == 1 && self->rules[0].kind == DEFINED_BUCKET ? TURNS - 1
                                                                                  : TURNS;
}

/* Debts and clocks that were set back: workers may have been told to come later than need be. */
static bool is_vague(const checker *self)
{
    for (int i = 0; i < self->numbers.rule_count; i++)
        if (self->rules[i].vague_until_us > checker_now(self))
            return true;
    return false;
}

/* The least that a turn has at most: a share, or one request. */
static int64_t usual_turn(const checker *self, int priority)
{
    takt_amounts through =
        takt_numbers_throughput(&self->numbers, NULL, self->numbers.lookahead_us);
    int64_t places = 0;

    for (int i = 0; i < self->fleet->worker_count; i++)
        places += self->workers[i].places[priority].standing;
    return takt_max(through.of[TAKT_UNIT_TOKENS] / takt_max(places, 1), self->cost_max);
}

/* Where costs differ a large turn counts as several, and a small one as less than one. So many
 * turns are too many if they have more than two, and more than twice what the other's last turn
 * had. */
static bool had_less(const checker *self, const line_place *mine, int turns,
                     const line_place *other, int priority)
{
    int64_t given = 0;

    if (self->cost_max == 1)
        return false;
    for (int i = 0; i < turns; i++)
        given += mine->given[i];
    return given <= 2 * takt_max(usual_turn(self, priority), other->given[0]);
}

/* A worker's place gets a turn: does another one wait for its own too long? */
static void check_round(const checker *self, int worker, int priority)
{
    const line_place *mine = &self->workers[worker].places[priority];
    int turns = turns_at_max(self);

    if (!self->calm || self->ranked || self->weighs || self->far || self->numbers.max_waiting > 0 ||
        self->concurrency > 0 || /* permits go to the quickest worker */
        self->mixed || is_vague(self))
        return;
    for (int i = 0; i < self->fleet->worker_count; i++) {
        const line_place *other = &self->workers[i].places[priority];
        if (i == worker || !other->standing || had_less(self, mine, turns, other, priority))
            continue;
        if (mine->turns_us[turns - 1] > other->since_us &&
            mine->turns_us[turns - 1] > self->calm_from_us)
            checker_fail(self, 4, "worker %d has had %d turns while worker %d waits for one",
                         worker, turns, i);
    }
}

/* Refused waiters are gone: the newcomers that the line does not count, or else the last ones of
 * the claim. */
static void leave_out(const checker *self, uint64_t worker, int64_t wanting[TAKT_PRIORITIES],
                      int64_t refused, int64_t cost_max)
{
    int64_t left[TAKT_PRIORITIES] = {0};

    if (refused > 0 && self->numbers.when_full == TAKT_WHEN_FULL_REFUSE) {
        for (int i = 0; i < checker_ledger(self)->line_count; i++)
            if (checker_ledger(self)->line[i].worker == worker)
                left[checker_ledger(self)->line[i].priority] =
                    checker_ledger(self)->line[i].wanting;
        for (int p = 0; p < TAKT_PRIORITIES; p++)
            wanting[p] = left[p] < wanting[p] ? left[p] : wanting[p];
        return;
    }
    for (int p = TAKT_PRIORITIES - 1; p >= 0 && refused > 0; p--) {
        int64_t tokens = refused * cost_max < wanting[p] ? refused * cost_max : wanting[p];
        refused -= (tokens + cost_max - 1) / cost_max;
        wanting[p] -= tokens;
    }
}

void checker_turn(checker *self, const takt_store_call *call, int worker,
                  const int64_t given[TAKT_PRIORITIES])
{
    watched *mine = &self->workers[worker];
    int64_t lookahead_us = self->numbers.lookahead_us;
    int64_t wanting[TAKT_PRIORITIES] = {0}, cost_max = 1;
    int last = -1;

    if (self->lookahead_min_us == 0 || lookahead_us < self->lookahead_min_us)
        self->lookahead_min_us = lookahead_us;
    for (int i = 0; i < call->claim->want_count; i++) {
        const takt_want *want = &call->claim->wants[i];
        wanting[want->priority] += want->count * want->cost;
        cost_max = want->cost > cost_max ? want->cost : cost_max;
    }
    for (int p = 0; p < TAKT_PRIORITIES; p++)
        wanting[p] -= given[p];
    leave_out(self, self->caller, wanting, call->award->refused, cost_max);
    for (int p = 0; p < TAKT_PRIORITIES; p++) {
        line_place *at = &mine->places[p];
        bool stands = call->award->in_line >> p & 1;
        if (given[p] > 0) {
            last = p;
            memmove(at->turns_us + 1, at->turns_us, (TURNS - 1) * sizeof *at->turns_us);
            memmove(at->given + 1, at->given, (TURNS - 1) * sizeof *at->given);
            at->turns_us[0] = checker_now(self);
            at->given[0] = given[p];
            check_round(self, worker, p);
        }
        if (given[p] > 0 || !at->standing)
            at->since_us = checker_now(self);
        at->standing = stands;
        at->wanting = wanting[p];
    }
    mine->told_at_us = call->award->claim_again_at_us == TAKT_NEVER
                           ? checker_now(self)
                           : call->award->claim_again_at_us;
    if (mine->told_at_us > checker_now(self) + TAKT_KEEPALIVE_US)
        mine->told_at_us = checker_now(self) + TAKT_KEEPALIVE_US;
    if (last >= 0)
        check_priority(self, worker, last);
}
