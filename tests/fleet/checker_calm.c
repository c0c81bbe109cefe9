/*
 * checker_calm.c: what holds when there are no faults and every worker always wants more: promise 5
 * (work conserving) over the whole time, and promise 3 (bounded calls).
 */
#include "checker.h"

#define WINDOW_LAG_US                                                                              \
    INT64_C(1000000)       /* in which a fleet has used up a window that was opened at once */
#define CALLS_PER_AWARD 12 /* of a worker that waits, besides its keepalives */
#define FLEET_PER_AWARD 10 /* of all of them, where others come between */

/* Promise 3, from one award to a worker's next: if all work has one priority and one cost, a worker
 * that claims at its announced time gets a slot.  In a line with weights a worker waits for a whole
 * share, and only the fleet's bound holds. */
void checker_calm_call(checker *self, int of_worker, int64_t now_us, bool awarded)
{
    watched *worker = &self->workers[of_worker];
    int64_t max;

    if (worker->awarded_at_us < self->calm_from_us) {
        worker->awarded_at_us = now_us;
        worker->calls = 0;
    }
    worker->calls++;
    max = CALLS_PER_AWARD + (now_us - worker->awarded_at_us) / TAKT_KEEPALIVE_US;
    if (worker->calls > max && !self->ranked && !self->weighs && self->cost_max == 1 &&
        self->concurrency == 0 && self->numbers.max_waiting == 0 && !self->mixed)
        checker_fail(self, 3, "worker %d has called %lld times in %lld us of waiting", of_worker,
                     (long long)worker->calls, (long long)(now_us - worker->awarded_at_us));
    if (awarded) {
        worker->awarded_at_us = now_us;
        worker->calls = 0;
    }
    self->calm_calls++;
    self->calm_awards += awarded;
}

void checker_calm_begins(checker *self, int64_t for_us)
{
    self->calm = true;
    self->mixed = false;
    self->calm_from_us = checker_now(self);
    self->calm_until_us = self->calm_from_us + for_us;
    self->calm_tokens = self->calm_calls = self->calm_awards = self->calm_refused = 0;
    self->start_count = 0;
    for (int i = 0; i < self->numbers.rule_count; i++)
        definition_copy(&self->greedy[i], &self->rules[i]);
    checker_permits_calm(self);
}

/* Promise 3, for the fleet: a worker that is passed over gets a new time, a few times for each
 * award. */
static void check_calls(const checker *self)
{
    int64_t each_us = self->concurrency > 0 && self->lease_us / 3 < TAKT_KEEPALIVE_US
                          ? self->lease_us / 3
                          : TAKT_KEEPALIVE_US;
    int64_t keepalives = (self->calm_until_us - self->calm_from_us) / each_us + 3;
    int64_t max =
        (self->weighs ? 2 : 1) * FLEET_PER_AWARD * (self->calm_awards + self->calm_refused) +
        keepalives * self->fleet->worker_count;

    if (self->calm_calls > max && self->numbers.max_waiting == 0 && !self->mixed)
        checker_fail(self, 3, "%lld calls for %lld awards to %d workers in %lld us",
                     (long long)self->calm_calls, (long long)self->calm_awards,
                     self->fleet->worker_count,
                     (long long)(self->calm_until_us - self->calm_from_us));
}

/* How far a fleet may be behind a single worker that takes each token at once. A bucket's tokens
 * come one by one and are given ahead; a window's come all at once, and it takes some claims to use
 * them up. */
static int64_t lag_us(const checker *self)
{
    for (int i = 0; i < self->numbers.rule_count; i++)
        if (self->rules[i].kind != DEFINED_BUCKET)
            return WINDOW_LAG_US;
    return 0;
}

/* Whether a fleet can reach a schedule of single tokens. After a block it cannot reach the tokens
 * that the rules saved meanwhile. */
static bool is_comparable(const checker *self)
{
    if (self->paced_until_us > self->calm_from_us)
        return false;
    for (int i = 0; i < self->numbers.rule_count; i++)
        if (self->rules[i].rule.unit == TAKT_UNIT_REQUESTS && self->cost_max > 1)
            return false;
    return lag_us(self) == 0 ||
           (self->cost_max == 1 && !self->far && checker_vague_until(self) < self->calm_from_us);
}

static bool has_guard(const checker *self)
{
    for (int i = 0; i < self->numbers.rule_count; i++)
        if (self->numbers.rules[i].guard_us > 0)
            return true;
    return false;
}

/* Whether a lookahead has too few tokens for one request, or too few requests may wait for all of
 * its tokens. */
static bool is_narrow(const checker *self)
{
    const takt_numbers *numbers = &self->numbers;
    int64_t ahead =
        takt_amounts_least(takt_numbers_throughput(numbers, NULL, numbers->lookahead_us));

    return ahead < self->cost_max || (numbers->max_waiting > 0 && numbers->max_waiting < ahead);
}

/*
 * Promise 5: as many tokens as if somebody had taken each as soon as there was one, but for the
 * last cost at either end. Where a round trip takes longer than the tokens within a lookahead last,
 * a quarter may be missing; where the clocks of nodes drift too, one in fifty. An answer for one
 * ledger may show that slots of another on the same node are later than their guard: a quarter.
 * One in eight may be missing where the lookahead or the line is too small for the requests.
 */
void checker_calm_ends(checker *self)
{
    int64_t t_us = self->calm_from_us, until_us = self->calm_until_us - lag_us(self), tokens = 0,
            slack;

    self->calm = false;
    check_calls(self);
    if (self->concurrency > 0 || !is_comparable(self))
        return;
    while ((t_us = checker_first(self->greedy, self->numbers.rule_count, t_us, 1)) <= until_us) {
        for (int i = 0; i < self->numbers.rule_count; i++)
            definition_take(&self->greedy[i], t_us, 1);
        tokens++;
    }
    slack = 2 * self->cost_max + (self->far ? tokens / 4 : 0);
    if (is_narrow(self))
        slack += tokens / 8;
    if (self->fleet->node_count > 1)
        slack += tokens / (has_guard(self) ? 4 : 50);
    if (self->calm_tokens + slack < tokens)
        checker_fail(self, 5, "in %lld us of calm %lld tokens were given, and %lld could have been",
                     (long long)(self->calm_until_us - self->calm_from_us),
                     (long long)self->calm_tokens, (long long)tokens);
}
