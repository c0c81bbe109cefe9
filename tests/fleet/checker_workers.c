/*
 * checker_workers.c: the use of awards by workers: promise 2 (never early), and that each waiter is
 * served or fails with a reason, once, in its order, and not after its deadline.
 *
 * Also workers without the store, each by itself: promise 1 as far as `share` keeps it: a worker is
 * no quicker than its part, and begins after the last slot given before.
 */
#include <stdlib.h>

#include "base/integers.h"
#include "checker.h"

static void drop_before(watched *worker, int64_t instant_us)
{
    int kept = 0;

    for (int i = 0; i < worker->hand_count; i++)
        if (worker->hand[i].at_us >= instant_us)
            worker->hand[kept++] = worker->hand[i];
    worker->hand_count = kept;
}

/* No worker claims more slots than it has waiters, except for those that leave meanwhile. */
static void check_hand(const checker *self, const watched *worker, int of_worker, int waiting)
{
    int in_hand = checker_in_hand(self, worker);

    if (in_hand > waiting && worker->left == 0 && self->cost_max == 1 && !self->blocks &&
        self->concurrency == 0)
        checker_fail(self, 5, "worker %d has %d waiters and %d slots in hand", of_worker, waiting,
                     in_hand);
}

/* The slot that it offered is not its own any more. */
static void give_up(watched *worker, const takt_offer *offer)
{
    for (int i = 0; i < worker->hand_count; i++)
        if (worker->hand[i].at_us == offer->slot_us && worker->hand[i].cost == offer->cost) {
            worker->hand[i] = worker->hand[--worker->hand_count];
            return;
        }
}

/* Slots in hand are judged by the clock of the node that has the ledger, once that is known. */
static void note_node(watched *worker, int node)
{
    worker->node = node;
    for (int i = 0; i < worker->hand_count; i++)
        worker->hand[i].nodes |= 1U << node;
}

void checker_viewed(checker *self, const takt_fleet_worker *of_fleet)
{
    watched *worker = &self->workers[of_fleet->index];
    bool lost = worker->node != NO_NODE && self->views[of_fleet->index].lost >> worker->node & 1;

    if (lost && !worker->lost)
        worker->begins_us = self->fleet->now_us + worker->numbers.lookahead_us - CHECKER_PROMPT_US;
    worker->lost = lost;
}

void checker_heard(checker *self, const takt_fleet_worker *of_fleet, int node,
                   const takt_award *award, const takt_offer *offer, int64_t sent_us, int waiting)
{
    watched *worker = &self->workers[of_fleet->index];
    int64_t fence = award->fence;

    if (self->past && self->replicas && award->run_count > 0 && award->now_us > self->past_at_us &&
        self->fleet->ledgers[self->ledger].node == node)
        checker_fail(self, 1, "worker %d hears of an award that no replica has", of_fleet->index);
    worker->heard_at_us = self->fleet->now_us;
    note_node(worker, node);
    worker->workers = award->workers + (award->in_line == 0);
    worker->learned = worker->learned || (award->outdated & 1);
    if (award->outdated & 1) /* of the outermost limit */
        worker->numbers = award->newer[0];
    else if (!worker->learned || worker->numbers.revision <= of_fleet->limit->numbers.revision)
        worker->numbers = of_fleet->limit->numbers;
    worker->blocked_until_us = award->blocked_until_us;
    checker_permits_heard(self, of_fleet, award, sent_us);
    if (award->taken || award->stale) /* a stale answer may be to a repeated claim */
        give_up(worker, offer);
    for (int i = 0; i < award->run_count; i++)
        for (int64_t j = 0; j < award->runs[i].count; j++) {
            if (worker->hand_count == worker->hand_capacity) {
                worker->hand_capacity = 2 * worker->hand_capacity + 16;
                worker->hand =
                    realloc(worker->hand, (size_t)worker->hand_capacity * sizeof *worker->hand);
                if (!worker->hand)
                    abort();
            }
            int64_t slot_us = takt_run_slot(&award->runs[i], j), due_us = 0;
            /* the clock may have leapt since the answer */
            if (slot_us > takt_fleet_node_time(self->fleet, node, self->fleet->now_us))
                due_us = self->fleet->now_us + slot_us - award->now_us;
            worker->hand[worker->hand_count++] =
                (hand_slot){slot_us, award->runs[i].cost, fence, due_us, 1U << node};
            fence += fence > 0;
        }
    drop_before(worker, award->blocked_until_us);
    checker_permits_flow(self);
    check_hand(self, worker, of_fleet->index, waiting);
}

void checker_told(checker *self, const takt_fleet_worker *of_fleet, const takt_standing *standing)
{
    watched *worker = &self->workers[of_fleet->index];

    worker->blocked_until_us = standing->blocked_until_us;
    drop_before(worker, worker->blocked_until_us);
}

/* Without an answer from that node its clock is unknown, and no slot in hand can be due by it. */
void checker_failed(checker *self, const takt_fleet_worker *of_fleet, int node,
                    const takt_offer *offer)
{
    watched *worker = &self->workers[of_fleet->index];

    give_up(worker, offer); /* it may be another worker's now */
    note_node(worker, node);
    if (!(self->views[of_fleet->index].known >> node & 1))
        worker->hand_count = 0;
    checker_permits_failed(self, of_fleet);
}

/* A slot that is handed back was in hand, and is not any more. Numbers are not handed back: it is
 * unknown which of several slots of one instant it was. */
void checker_hands_back(checker *self, const takt_fleet_worker *of_fleet, const takt_run *unused)
{
    watched *worker = &self->workers[of_fleet->index];

    for (int64_t i = 0; i < unused->count; i++) {
        int64_t slot_us = takt_run_slot(unused, i);
        int at = worker->hand_count - 1;
        while (at >= 0 &&
               (worker->hand[at].at_us != slot_us || worker->hand[at].cost != unused->cost))
            at--;
        if (at < 0 && slot_us < worker->blocked_until_us)
            continue; /* it was too late for it before it knew of the block */
        if (at < 0)
            checker_fail(self, 1, "worker %d hands back the slot at now%+lld us, and has none",
                         of_fleet->index, (long long)(slot_us - checker_now(self)));
        worker->hand[at] = worker->hand[--worker->hand_count];
        for (at = 0; at < worker->hand_count; at++)
            if (worker->hand[at].at_us == slot_us)
                worker->hand[at].fence = ANY_FENCE;
    }
}

/* How long a cost keeps a worker busy that has its part of each rate. */
static int64_t busy_us(const watched *worker, int64_t cost)
{
    wide longest = 0;

    for (int i = 0; i < worker->numbers.rule_count; i++) {
        const takt_rule *rule = &worker->numbers.rules[i];
        wide amount = rule->unit == TAKT_UNIT_REQUESTS ? 1 : cost;
        wide us = (wide)definition_period(rule) * 10000 * amount * worker->workers /
                  ((wide)rule->limit * (10000 - rule->headroom_bp));
        longest = us > longest ? us : longest;
    }
    return (int64_t)longest;
}

static void check_alone(const checker *self, watched *worker, const fleet_job *started)
{
    int64_t slot_us = started->permit.slot_at_us;

    if (!worker->lost || self->mode == TAKT_ON_STORE_FAILURE_WAIT ||
        self->mode == TAKT_ON_STORE_FAILURE_CLOSED)
        checker_fail(self, 1,
                     "acquire %lld is served by a slot that its worker was not given, or has used",
                     (long long)started->order);
    worker->left++; /* slots that may still come for it are unused */
    if (self->mode == TAKT_ON_STORE_FAILURE_OPEN)
        return;
    if (worker->workers == 0)
        worker->workers = self->views[started->worker->index].workers;
    if (worker->workers == 0)
        checker_fail(self, 1, "acquire %lld starts where nothing is known of other workers",
                     (long long)started->order);
    if (self->fleet->now_us < worker->begins_us)
        checker_fail(self, 1, "acquire %lld starts while slots from before may be due elsewhere",
                     (long long)started->order);
    if (slot_us < worker->alone_us)
        checker_fail(self, 1, "acquire %lld has %lld us less than this worker's part of the rate",
                     (long long)started->order, (long long)(worker->alone_us - slot_us));
    worker->alone_us = slot_us + busy_us(worker, started->permit.cost);
}

/* Takes the slot out of the worker's hand: the cheapest one of that instant and number that is
 * large enough. */
static bool use(watched *worker, int64_t slot_us, int64_t cost, int64_t fence, hand_slot *used)
{
    int found = -1;

    for (int i = 0; i < worker->hand_count; i++)
        if (worker->hand[i].at_us == slot_us && worker->hand[i].cost >= cost &&
            (worker->hand[i].fence == fence || worker->hand[i].fence == ANY_FENCE) &&
            (found < 0 || worker->hand[i].cost < worker->hand[found].cost))
            found = i;
    if (found < 0)
        return false;
    *used = worker->hand[found];
    worker->hand[found] = worker->hand[--worker->hand_count];
    return true;
}

static bool goes_before(const fleet_job *a, const fleet_job *b)
{
    if (a->permit.priority != b->permit.priority)
        return a->permit.priority < b->permit.priority;
    return a->order < b->order;
}

static void check_order(const checker *self, const fleet_job *started, const fleet_job *jobs,
                        int job_count)
{
    for (int i = 0; i < job_count; i++)
        if (&jobs[i] != started && jobs[i].waiting && jobs[i].permit.cost == started->permit.cost &&
            goes_before(&jobs[i], started))
            checker_fail(self, 4, "acquire %lld is served before acquire %lld",
                         (long long)started->order, (long long)jobs[i].order);
}

/* A callback comes as soon as the worker can know for certain that its slot is due. */
static void check_prompt(const checker *self, const watched *worker, int64_t slot_us)
{
    int64_t heard_us = takt_fleet_node_time(self->fleet, worker->node, worker->heard_at_us);
    int64_t late_us = checker_now(self) - (slot_us > heard_us ? slot_us : heard_us);

    if (late_us > self->fleet->delay_max_us + self->fleet->timer_late_us + CHECKER_PROMPT_US)
        checker_fail(self, 5, "a slot is used %lld us after it was due and known",
                     (long long)late_us);
}

/* By the clock of a node that had the ledger since the slot was given, as its worker heard. */
static void check_early(const checker *self, const fleet_job *started, const hand_slot *used)
{
    const takt_fleet *fleet = self->fleet;
    int64_t early_us = TAKT_NEVER;

    for (int i = 0; i < fleet->node_count; i++)
        if (used->nodes >> i & 1)
            early_us =
                takt_min(early_us, used->at_us - takt_fleet_node_time(fleet, i, fleet->now_us));
    if (early_us > 0 && early_us != TAKT_NEVER)
        checker_fail(self, 2, "acquire %lld is served %lld us before its slot",
                     (long long)started->order, (long long)early_us);
}

static void check_start(checker *self, const fleet_job *started, const fleet_job *jobs,
                        int job_count)
{
    watched *worker = &self->workers[started->worker->index];
    int64_t slot_us = started->permit.slot_at_us;
    hand_slot used = {.at_us = slot_us};
    bool from_hand;

    if (worker->node != NO_NODE)
        used.nodes = 1U << worker->node;
    if (slot_us < worker->blocked_until_us)
        checker_fail(self, 1, "acquire %lld is served in a block that its worker had heard of",
                     (long long)started->order);
    from_hand = use(worker, slot_us, started->permit.cost, started->permit.fence, &used);
    check_early(self, started, &used);
    if (from_hand)
        checker_start(self, worker, started, &used);
    if (!from_hand && started->permit.fence == 0)
        check_alone(self, worker, started);
    checker_permits_start(self, started, from_hand);
    if (takt_fleet_clock(started->worker) > started->permit.deadline_at_us)
        checker_fail(
            self, 2, "acquire %lld is served %lld us after its deadline", (long long)started->order,
            (long long)(takt_fleet_clock(started->worker) - started->permit.deadline_at_us));
    if (self->calm)
        check_prompt(self, worker, slot_us);
    check_order(self, started, jobs, job_count);
    self->fired++;
}

/* The tokens of other waiters that may be served before it: those in the ledger's line, and those
 * of its worker. */
static int64_t tokens_before(const checker *self, const fleet_job *ended, const fleet_job *jobs,
                             int job_count)
{
    const takt_ledger *ledger = checker_ledger(self);
    int64_t tokens = 0;

    for (int i = 0; i < ledger->line_count; i++)
        if (ledger->line[i].worker != ended->worker->name &&
            ledger->line[i].priority <= ended->permit.priority)
            tokens += ledger->line[i].wanting;
    for (int i = 0; i < job_count; i++)
        if (&jobs[i] != ended && jobs[i].waiting)
            tokens += jobs[i].permit.cost;
    /* waiters that have left since the answer was given still counted before it */
    for (int i = 0; i < CHECKER_LEAVERS; i++)
        if (self->leavers[i].at_us >= self->fleet->now_us - 2 * self->slowest_us)
            tokens += self->leavers[i].cost;
    return tokens;
}

/* A waiter that fails before its deadline could not have been served by then if the waiters before
 * it stayed, up to the time of an answer. */
static void check_hopeless(const checker *self, const fleet_job *ended, const fleet_job *jobs,
                           int job_count)
{
    int64_t left_us = ended->permit.deadline_at_us - takt_fleet_clock(ended->worker);
    int64_t capacity = self->capacity; /* of newer numbers it may be less */
    int64_t cost = ended->permit.cost < capacity ? ended->permit.cost : capacity;
    int64_t now_us = checker_now(self), first_us, last_us;

    /* its worker gets slots that were handed back with its next claim */
    if (left_us <= 0 || self->forgetful || self->concurrency > 0 ||
        checker_vague_until(self) >= now_us ||
        self->fleet->now_us - self->handed_back_at_us < TAKT_KEEPALIVE_US + self->slowest_us)
        return;
    first_us = checker_earliest(self, now_us, cost) - now_us;
    if (first_us + self->slowest_us >= left_us)
        return;
    last_us =
        checker_due(self, now_us, tokens_before(self, ended, jobs, job_count) + cost) - now_us;
    if (last_us + self->slowest_us < left_us)
        checker_fail(
            self, 5,
            "acquire %lld leaves %lld us before its deadline, but there is a slot in %lld us, %lld "
            "with all others before it",
            (long long)ended->order, (long long)left_us, (long long)first_us, (long long)last_us);
}

void checker_ended(checker *self, const fleet_job *ended, int status, const fleet_job *jobs,
                   int job_count)
{
    if (status == 0)
        checker_note(self, "worker %d: acquire %lld starts, its slot was at now%+lld us",
                     ended->worker->index, (long long)ended->order,
                     (long long)(ended->permit.slot_at_us - checker_now(self)));
    else
        checker_note(self, "worker %d: acquire %lld ends with %d", ended->worker->index,
                     (long long)ended->order, status);
    if (!ended->waiting)
        checker_fail(self, 1, "acquire %lld gets a second callback", (long long)ended->order);
    if (ended->worker->dead || ended->incarnation != ended->worker->incarnation)
        checker_fail(self, 1, "acquire %lld of a dead worker gets a callback",
                     (long long)ended->order);
    if (status == 0) {
        check_start(self, ended, jobs, job_count);
        return;
    }
    self->left++;
    self->calm_refused += status == TAKT_E_COST;
    self->leavers[self->leaver_count++ % CHECKER_LEAVERS] =
        (checker_leaver){self->fleet->now_us, ended->permit.cost};
    self->workers[ended->worker->index].left++;
    if (status == TAKT_E_STORE_TIMEOUT && self->mode == TAKT_ON_STORE_FAILURE_CLOSED &&
        self->workers[ended->worker->index].lost)
        return;
    if (status == TAKT_E_LEASE && self->concurrency > 0 &&
        checker_lease_is_over(self, ended->worker))
        return;
    if ((status == TAKT_E_CANCELED && !ended->cancelled) ||
        (status == TAKT_E_DEADLINE && ended->permit.deadline_at_us == TAKT_NEVER) ||
        (status == TAKT_E_COST && ended->permit.cost <= self->capacity_min) ||
        (status != TAKT_E_CANCELED && status != TAKT_E_DEADLINE && status != TAKT_E_FULL &&
         status != TAKT_E_COST))
        checker_fail(self, 5, "acquire %lld ends with %d", (long long)ended->order, status);
    if (status == TAKT_E_DEADLINE)
        check_hopeless(self, ended, jobs, job_count);
    /* the first answer accepts or refuses it */
    if (status == TAKT_E_FULL && ended->told_of > 1 &&
        self->numbers.when_full == TAKT_WHEN_FULL_REFUSE)
        checker_fail(self, 5, "acquire %lld was accepted, and is refused", (long long)ended->order);
}

/* An unused slot exists because a waiter left: a waiter that leaves costs at most one slot. */
void checker_unused(const checker *self)
{
    for (int i = 0; i < self->fleet->worker_count; i++)
        if (self->cost_max == 1 && !self->blocks && self->concurrency == 0 &&
            checker_in_hand(self, &self->workers[i]) > self->workers[i].left)
            checker_fail(self, 5, "worker %d has %d slots unused, and %lld waiters that left", i,
                         self->workers[i].hand_count, (long long)self->workers[i].left);
}

void checker_crashed(checker *self, const takt_fleet_worker *of_fleet)
{
    watched *worker = &self->workers[of_fleet->index];

    checker_permits_crashed(self, of_fleet);
    *worker =
        (watched){.node = NO_NODE, .hand = worker->hand, .hand_capacity = worker->hand_capacity};
}
