/*
 * checker_permits.c: the holders of the permits of a limit with concurrency, as an observer sees
 * them.
 *
 * Never over: at no instant do more than N jobs hold a permit. A job holds it from its start to its
 * release, while its worker is within its lease by its own clock: the lease begins when the last
 * answered claim was sent, and is a thousandth shorter, by which two clocks may drift apart. The
 * permit of a dead worker counts until its lease ends. A worker that was stopped for longer gets
 * the event of the loss before it does anything else; no other worker loses a permit.
 *
 * Numbers: each award's are higher than all before, and each start has one of its own.
 *
 * In the calm no permit is free for longer than wake-ups take while there is a waiter and a slot. A
 * lost wake-up may cost a keepalive. The end of a lease wakes no worker: the first worker in line
 * claims by itself then, and no other does.
 */
#include <stdlib.h>

#include "checker.h"
#include "core/award.h"

#define SHARE_LOOKAHEADS 4 /* in which a worker with a weight gets room for a whole share */

bool checker_lease_is_over(const checker *self, const takt_fleet_worker *worker)
{
    return takt_fleet_clock(worker) >= self->workers[worker->index].holds.leased_until_us;
}

static bool is_vague(const checker *self)
{
    return self->fleet->now_us < self->holds_vague_until_us;
}

/* ---- holders --------------------------------------------------------------------------------- */

static int64_t ghosts(checker *self)
{
    int64_t held = 0;
    int kept = 0;

    for (int i = 0; i < self->ghost_count; i++)
        if (self->ghosts[i].until_us > self->fleet->now_us) {
            held += self->ghosts[i].held;
            self->ghosts[kept++] = self->ghosts[i];
        }
    self->ghost_count = kept;
    return held;
}

static int64_t live(checker *self)
{
    int64_t held = ghosts(self);

    for (int i = 0; i < self->fleet->worker_count; i++)
        if (!checker_lease_is_over(self, &self->fleet->workers[i]))
            held += self->workers[i].holds.running;
    return held;
}

void checker_permits_crashed(checker *self, const takt_fleet_worker *worker)
{
    const holdings *holds = &self->workers[worker->index].holds;
    int64_t left_us = holds->leased_until_us - takt_fleet_clock(worker);

    if (holds->running == 0 || left_us <= 0)
        return;
    if (self->ghost_count == self->ghost_capacity) {
        self->ghost_capacity = 2 * self->ghost_capacity + 8;
        self->ghosts = realloc(self->ghosts, (size_t)self->ghost_capacity * sizeof *self->ghosts);
        if (!self->ghosts)
            abort();
    }
    self->ghosts[self->ghost_count++] = (ghost){holds->running, self->fleet->now_us + left_us};
}

/* The ledger may know fewer permits than are held, until all of them are stated again or over. */
void checker_permits_vague(checker *self)
{
    self->holds_vague_until_us = self->fleet->now_us + self->lease_us;
    self->forgotten = true;
}

/* ---- what the store answers ------------------------------------------------------------------ */

static int64_t first_over_us(const takt_ledger *ledger)
{
    int64_t over_us = TAKT_NEVER;

    for (int i = 0; i < ledger->holder_count; i++)
        if (ledger->holders[i].expires_at_us < over_us)
            over_us = ledger->holders[i].expires_at_us + 1;
    return over_us;
}

/* Whether one of this worker's places is the first in line that wants anything: no place is more
 * urgent, and it is the first of its priority, or the others want nothing (their waiters were
 * dropped). */
static bool is_next(const takt_ledger *ledger, uint64_t worker)
{
    for (int own = 0; own < ledger->line_count; own++) {
        const takt_place *mine = &ledger->line[own];
        int64_t urgent = 0, others = 0, before = 0;
        for (int i = 0; i < ledger->line_count; i++) {
            const takt_place *place = &ledger->line[i];
            if (i == own || place->aside)
                continue;
            urgent += place->priority < mine->priority ? place->wanting : 0;
            others += place->priority == mine->priority ? place->wanting : 0;
            before += place->priority == mine->priority && i < own;
        }
        if (mine->worker == worker && urgent == 0 && (before == 0 || others == 0))
            return true;
    }
    return false;
}

/* When the head counts as late, which only the place right behind it can find out, or a keepalive;
 * TAKT_NEVER for all others of that worker's places. */
static int64_t head_late_us(const checker *self, uint64_t worker, int64_t now_us)
{
    const takt_ledger *ledger = checker_ledger(self);
    int64_t soonest_us = now_us + self->numbers.lookahead_us / TAKT_LOOKAHEAD_FRACTION;
    const takt_place *head = NULL;
    int64_t late_us;

    for (int i = 0; i < ledger->line_count; i++) {
        const takt_place *place = &ledger->line[i];
        if (place->worker == worker || place->aside) {
            if (place->worker == worker && head) {
                late_us = takt_max(head->again_at_us + self->numbers.lookahead_us + 1, soonest_us);
                return late_us < now_us + TAKT_KEEPALIVE_US ? late_us : TAKT_NEVER;
            }
            continue;
        }
        if (head)
            return TAKT_NEVER;
        head = place;
    }
    return TAKT_NEVER;
}

/* The first instant at which one of the worker's places is to claim. */
static int64_t first_again_us(const takt_ledger *ledger, uint64_t worker)
{
    int64_t again_us = TAKT_NEVER;

    for (int i = 0; i < ledger->line_count; i++)
        if (ledger->line[i].worker == worker)
            again_us = takt_min(again_us, ledger->line[i].again_at_us);
    return again_us;
}

/* A worker that finds all permits held gets the end of the first lease as its time, if it is the
 * next to be served and does not claim earlier anyway; the second in line gets the time when the
 * first one is late. */
static void check_told(const checker *self, const takt_store_call *call)
{
    const takt_ledger *ledger = checker_ledger(self);
    int64_t over_us = first_over_us(ledger), told_us = call->award->claim_again_at_us, held = 0,
            late_us;

    for (int i = 0; i < ledger->holder_count; i++)
        held += ledger->holders[i].held;
    if (call->award->stale || held < self->concurrency || call->award->in_line == 0)
        return;
    if (!is_next(ledger, call->claim->worker) || over_us >= checker_now(self) + TAKT_KEEPALIVE_US)
        over_us = TAKT_NEVER;
    late_us = head_late_us(self, call->claim->worker, checker_now(self));
    if (late_us != TAKT_NEVER && told_us > late_us)
        checker_fail(self, 5, "the second in line does not come when the first is late");
    if (told_us == late_us && late_us != TAKT_NEVER)
        return;
    if (first_again_us(ledger, call->claim->worker) > told_us)
        checker_fail(self, 5, "a worker that was told to come, and does not, is not late");
    if (over_us == TAKT_NEVER && told_us != TAKT_NEVER)
        checker_fail(self, 3, "who lacks a permit is to claim in %lld us, which is of no use",
                     (long long)(told_us - checker_now(self)));
    if (told_us == TAKT_NEVER ? over_us != TAKT_NEVER : told_us < over_us)
        checker_fail(self, 5, "the next in line is not told that a lease ends in %lld us",
                     (long long)(over_us - checker_now(self)));
    if (self->numbers.rule_count == 0 && self->blocked_until_us <= checker_now(self) &&
        over_us != TAKT_NEVER && told_us > over_us + self->numbers.lookahead_us)
        checker_fail(self, 5, "the next in line is to come %lld us after a lease ends",
                     (long long)(told_us - over_us));
}

void checker_permits_award(checker *self, const takt_store_call *call, int worker)
{
    const takt_award *award = call->award;
    int64_t given = takt_award_given(award);

    if (self->concurrency == 0)
        return;
    if (call->op == TAKT_OP_CLAIM)
        check_told(self, call);
    if (given > 0 && award->holding > self->concurrency)
        checker_fail(self, 1, "worker %d holds %lld of %lld permits", worker,
                     (long long)award->holding, (long long)self->concurrency);
    if (self->forgotten &&
        self->fence >= checker_now(self)) /* numbers that ran ahead of the clock */
        self->fence = checker_now(self) - 1;
    self->forgotten = false;
    if (given > 0 && award->fence <= self->fence)
        checker_fail(self, 1, "a permit has the number %lld, and there was %lld before",
                     (long long)award->fence, (long long)self->fence);
    if (given + award->reuses > 0 && award->fence > 0)
        self->fence = award->fence + given + award->reuses - 1;
    if (worker >= 0)
        self->workers[worker].holds.coming += given;
    checker_permits_flow(self);
}

void checker_permits_heard(checker *self, const takt_fleet_worker *worker, const takt_award *award,
                           int64_t sent_us)
{
    holdings *holds = &self->workers[worker->index].holds;
    int64_t given = takt_award_given(award);

    if (self->concurrency == 0 || award->stale)
        return;
    holds->coming = 0;
    holds->told = award->holding;
    holds->leased_until_us = sent_us + self->lease_us - self->lease_us / 1000;
    holds->others_wait = award->least_urgent >= 0;
    holds->reuse_next = award->fence + given;
    holds->reuse_end = holds->reuse_next + award->reuses;
}

void checker_permits_failed(checker *self, const takt_fleet_worker *worker)
{
    self->workers[worker->index].holds.coming = 0;
}

/* ---- what workers do ------------------------------------------------------------------------- */

/* A waiter takes over what another one of its worker has let go. */
static void check_handed_on(checker *self, holdings *holds, const fleet_job *started)
{
    int64_t fence = started->permit.fence;

    if (self->numbers.rule_count > 0)
        checker_fail(self, 1, "acquire %lld is handed a permit on, and no slot",
                     (long long)started->order);
    if (holds->others_wait)
        checker_fail(self, 4, "acquire %lld is handed a permit on, and others wait for it",
                     (long long)started->order);
    if (holds->running >= holds->told)
        checker_fail(self, 1, "acquire %lld starts while all %lld permits of its worker are held",
                     (long long)started->order, (long long)holds->told);
    if (fence < holds->reuse_next || fence >= holds->reuse_end)
        checker_fail(self, 1, "acquire %lld has the number %lld, which is not its worker's",
                     (long long)started->order, (long long)fence);
    holds->reuse_next = fence + 1;
    self->handed_on++;
}

void checker_permits_start(checker *self, const fleet_job *started, bool from_hand)
{
    watched *worker = &self->workers[started->worker->index];
    int64_t held;

    if (self->concurrency == 0 || started->permit.fence == 0)
        return;
    if (checker_lease_is_over(self, started->worker))
        checker_fail(self, 1, "acquire %lld starts with a permit whose lease is over",
                     (long long)started->order);
    if (!from_hand)
        check_handed_on(self, &worker->holds, started);
    worker->holds.running++;
    held = live(self);
    self->max_live = held > self->max_live ? held : self->max_live;
    if (held > self->concurrency && !is_vague(self))
        checker_fail(self, 1, "%lld permits are held of %lld", (long long)held,
                     (long long)self->concurrency);
    checker_permits_flow(self);
}

void checker_released(checker *self, const fleet_job *job)
{
    holdings *holds = &self->workers[job->worker->index].holds;

    checker_note(self, "worker %d: acquire %lld is released", job->worker->index,
                 (long long)job->order);
    if (!job->lost && checker_lease_is_over(self, job->worker) &&
        job->worker->frozen_until_us < self->fleet->now_us)
        checker_fail(self, 1, "acquire %lld has lost its permit, and was not told",
                     (long long)job->order);
    holds->running -= !job->lost;
    checker_permits_flow(self);
}

void checker_lost(checker *self, const fleet_job *job)
{
    checker_note(self, "worker %d: acquire %lld loses its permit", job->worker->index,
                 (long long)job->order);
    if (!checker_lease_is_over(self, job->worker) && !is_vague(self))
        checker_fail(self, 1, "acquire %lld loses its permit within its lease",
                     (long long)job->order);
    if (self->calm)
        checker_fail(self, 1, "acquire %lld loses its permit, and nothing held its worker up",
                     (long long)job->order);
    self->workers[job->worker->index].holds.running--;
    self->losers++;
}

/* ---- the calm -------------------------------------------------------------------------------- */

static int64_t taken(const checker *self)
{
    int64_t count = 0;

    for (int i = 0; i < self->fleet->worker_count; i++)
        count += self->workers[i].holds.running + self->workers[i].holds.coming +
                 self->workers[i].hand_count;
    return count;
}

void checker_permits_calm(checker *self)
{
    if (self->concurrency == 0)
        return;
    for (int i = 0; i < self->fleet->worker_count; i++) { /* unused slots have lapsed */
        watched *worker = &self->workers[i];
        int64_t due_us = checker_now(self) - 2 * self->fleet->delay_max_us - 10000;
        int kept = 0;
        for (int at = 0; at < worker->hand_count; at++)
            if (worker->hand[at].at_us >= due_us)
                worker->hand[kept++] = worker->hand[at];
        worker->hand_count = kept;
    }
    self->free_since_us = calloc((size_t)self->concurrency, sizeof *self->free_since_us);
    if (!self->free_since_us)
        abort();
    self->free_count = 0;
    checker_permits_flow(self);
}

/* How long a permit may be free: until its release arrives, the first in line is woken, and its
 * claim is answered. */
static int64_t hand_over_us(const checker *self)
{
    return (self->weighs ? SHARE_LOOKAHEADS : 1) * self->numbers.lookahead_us +
           8 * self->fleet->delay_max_us + (self->wakes_lost ? TAKT_KEEPALIVE_US : 0);
}

/* A grant takes the permit that was free for the longest time. */
void checker_permits_flow(checker *self)
{
    int64_t unheld, first_us, cost;

    if (!self->calm || self->concurrency == 0 || self->numbers.max_waiting > 0)
        return;
    unheld = self->concurrency - taken(self);
    unheld = unheld > 0 ? unheld : 0;
    if (self->free_count > unheld) {
        int64_t gone = self->free_count - unheld;
        for (int64_t i = 0; i < unheld; i++)
            self->free_since_us[i] = self->free_since_us[i + gone];
        self->free_count = unheld;
    }
    while (self->free_count < unheld)
        self->free_since_us[self->free_count++] = checker_now(self);
    if (self->free_count == 0 || checker_vague_until(self) >= self->calm_from_us)
        return;
    cost = self->cost_max < self->capacity ? self->cost_max : self->capacity;
    first_us = checker_first(self->rules, self->numbers.rule_count, self->free_since_us[0], cost);
    if (first_us + hand_over_us(self) < checker_now(self))
        checker_fail(self, 5, "a permit is free for %lld us, and there are waiters and a slot",
                     (long long)(checker_now(self) - first_us));
}

/* No permit is held, and a lease has passed. */
void checker_permits_quiet(const checker *self)
{
    if (checker_ledger(self)->holder_count > 0)
        checker_fail(self, 7, "%d workers hold permits, and all have been given back or are dead",
                     checker_ledger(self)->holder_count);
}
