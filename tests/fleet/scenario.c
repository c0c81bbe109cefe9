/*
 * scenario.c: see scenario.h.
 */
#include "scenario.h"

#include <stdlib.h>

#include "base/integers.h"
#include "scheduler/registry.h"

#define SECOND_US     INT64_C(1000000)
#define BUSY_CALLS    200  /* in two seconds */
#define TIMER_LATE_US 2000 /* at most */

scenario_sum scenario_total;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

fleet_job *scenario_jobs_of(scenario *self, const takt_fleet_worker *worker, int ledger)
{
    return &self->jobs[((ptrdiff_t)worker->index * self->ledger_count + ledger) * self->jobs_each];
}

checker *scenario_checker_of(const fleet_job *job)
{
    return &job->scenario->checkers[job->ledger];
}

/* ---- work ------------------------------------------------------------------------------------ */

/* The job is done, or its worker is not there any more. */
static void work_ends(takt_fleet *fleet, void *data)
{
    fleet_job *job = data;
    scenario *self = job->scenario;

    if (!job->running || job->done_at_us != fleet->now_us)
        return;
    if (job->worker->frozen_until_us > fleet->now_us) {
        job->done_at_us = job->worker->frozen_until_us;
        takt_fleet_at(fleet, job->done_at_us, work_ends, job);
        return;
    }
    checker_released(scenario_checker_of(job), job);
    job->running = false;
    takt_fleet_release(job->worker, &job->permit);
    scenario_ask(job, job->steady ? 0 : draw(&self->random, self->pause_us + 1));
}

static void work(fleet_job *job)
{
    scenario *self = job->scenario;

    job->running = true;
    job->lost = false;
    job->done_at_us = self->fleet.now_us + draw(&self->random, self->work_us + 1);
    takt_fleet_at(&self->fleet, job->done_at_us, work_ends, job);
}

/* A job takes as much of each unit as it costs. */
static takt_more as_much(int32_t cost)
{
    return (takt_more){{cost, cost, cost}};
}

/* Work was not begun after all, as is known only now. */
static void settle_job(takt_fleet *fleet, void *data)
{
    fleet_job *job = data;
    takt_run run = {{job->settled_slot_us, 0},  {0, 0}, 1, 1, job->settled_cost,
                    as_much(job->settled_cost), 0};

    job->settles = false;
    if (!job->worker->dead && job->scenario->phase == STORM) {
        timeline_note(fleet, "worker %d settles a slot", job->worker->index);
        takt_fleet_settle(job->worker, job->ledger, &run);
    }
}

static void draw_cost(fleet_job *job)
{
    scenario *self = job->scenario;

    if (!self->settles || self->phase != STORM || job->settles || job->permit.uncharged ||
        job->permit.slot_at_us == 0 || !chance(&self->costs, 20))
        return;
    job->settles = true;
    job->settled_slot_us = job->permit.slot_at_us;
    job->settled_cost = job->permit.cost;
    takt_fleet_at(&self->fleet, self->fleet.now_us + draw(&self->costs, 3 * SECOND_US), settle_job,
                  job);
}

static void ended(takt_permit *permit, int status)
{
    fleet_job *job = permit->data;
    scenario *self = job->scenario;
    checker *watching = scenario_checker_of(job);

    checker_ended(watching, job, status, scenario_jobs_of(self, job->worker, job->ledger),
                  self->jobs_each);
    job->waiting = false;
    if (status == 0)
        draw_cost(job);
    if (status == 0 && permit->fence > 0)
        work(job);
    else if (status == TAKT_E_FULL || status == TAKT_E_DEADLINE || status == TAKT_E_COST ||
             status == TAKT_E_STORE_TIMEOUT || watching->workers[job->worker->index].lost)
        scenario_ask(job, SECOND_US / 2);
    else
        scenario_ask(job, job->steady ? 0 : draw(&self->random, self->pause_us + 1));
}

static void give_up(takt_fleet *fleet, void *data)
{
    fleet_job *job = data;
    const scenario *self = job->scenario;

    if (!job->waiting || job->permit.state != TAKT_PERMIT_WAITING || job->cancelled ||
        job->worker->frozen_until_us > fleet->now_us)
        return;
    if (self->phase != ENDING)
        timeline_note(fleet, "worker %d: acquire %lld is cancelled", job->worker->index,
                      (long long)job->order);
    job->cancelled = true;
    takt_fleet_cancel(job->worker, &job->permit);
}

static void ask(takt_fleet *fleet, void *data)
{
    fleet_job *job = data;
    scenario *self = job->scenario;
    int64_t max_wait_us = 0, capacity;

    job->asks = false;
    if (job->waiting || job->running || job->worker->dead || self->phase == ENDING)
        return;
    if (job->worker->frozen_until_us > fleet->now_us || self->quiet_until_us > fleet->now_us) {
        scenario_ask(job,
                     later(job->worker->frozen_until_us, self->quiet_until_us) - fleet->now_us);
        return;
    }
    job->permit = (takt_permit){.data = job, .callback = ended};
    capacity = policy_capacity(&job->worker->limit->numbers); /* a client refuses more when asked */
    job->permit.cost = (int32_t)(1 + draw(&self->random, self->cost_max));
    if (job->permit.cost > capacity)
        job->permit.cost = (int32_t)capacity;
    job->permit.more = as_much(job->permit.cost);
    job->permit.priority =
        self->priorities ? (int8_t)(3 * draw(&self->random, 4)) : TAKT_PRIORITY_DEFAULT;
    job->order = ++self->orders;
    job->asked_us = takt_fleet_clock(job->worker);
    job->told_of = 0;
    job->waiting = true;
    job->cancelled = false;
    job->incarnation = job->worker->incarnation;
    if (self->deadlines && self->phase == STORM && chance(&self->random, 50))
        max_wait_us = 1 + draw(&self->random, 2 * SECOND_US);
    takt_fleet_acquire(job->worker, job->ledger, &job->permit, max_wait_us);
    if (self->cancels && self->phase == STORM && chance(&self->random, 30))
        takt_fleet_at(fleet, fleet->now_us + draw(&self->random, 2 * SECOND_US), give_up, job);
}

void scenario_ask(fleet_job *job, int64_t pause_us)
{
    if (job->asks)
        return;
    job->asks = true;
    takt_fleet_at(&job->scenario->fleet, job->scenario->fleet.now_us + pause_us, ask, job);
}

void scenario_begin_work(scenario *self, takt_fleet_worker *worker)
{
    fleet_job *jobs = scenario_jobs_of(self, worker, 0);

    for (int i = 0; i < self->ledger_count * self->jobs_each; i++)
        scenario_ask(&jobs[i], self->phase == STORM ? draw(&self->random, self->pause_us + 1) : 0);
}

/* ---- the hooks of the fleet ----------------------------------------------------------------- */

static void on_call(takt_fleet *fleet, uint64_t worker, const takt_store_call *call)
{
    scenario *self = fleet->data;

    checker_call(&self->checkers[takt_fleet_ledger_of(call->key)], worker, call);
}

static void on_lost(takt_fleet *fleet, takt_fleet_worker *worker, takt_permit *permit)
{
    fleet_job *job = permit->data;

    (void)fleet;
    (void)worker;
    checker_lost(scenario_checker_of(job), job);
    job->lost = true;
}

static const takt_queue *queue_of(takt_fleet_worker *worker, int ledger)
{
    return takt_registry_find(&worker->scheduler, worker->limit, takt_fleet_key(ledger));
}

/* What a worker hears by one ledger of a node concerns all its ledgers there. */
static void tell_views(scenario *self, const takt_fleet_worker *worker)
{
    for (int i = 0; i < self->ledger_count; i++)
        checker_viewed(&self->checkers[i], worker);
}

static void on_heard(takt_fleet *fleet, takt_fleet_worker *worker, int ledger, int node,
                     const takt_award *award, int64_t sent_us)
{
    scenario *self = fleet->data;
    node_view *view = &self->views[worker->index];
    fleet_job *jobs = scenario_jobs_of(self, worker, ledger);
    int waiting = 0;

    for (int i = 0; i < self->jobs_each; i++) {
        waiting += jobs[i].waiting;
        jobs[i].told_of += self->policy_count == 1 && jobs[i].waiting &&
                           jobs[i].asked_us < sent_us && !award->stale;
    }
    view->lost &= ~(1U << node);
    view->known |= 1U << node;
    view->workers = award->workers + (award->in_line == 0);
    checker_heard(&self->checkers[ledger], worker, node, award,
                  &queue_of(worker, ledger)->claims.offer, sent_us, waiting);
    tell_views(self, worker);
}

static void on_unused(takt_fleet *fleet, takt_fleet_worker *worker, int ledger,
                      const takt_run *unused)
{
    checker_hands_back(&((scenario *)fleet->data)->checkers[ledger], worker, unused);
}

static void on_told(takt_fleet *fleet, takt_fleet_worker *worker, int ledger,
                    const takt_standing *standing)
{
    checker_told(&((scenario *)fleet->data)->checkers[ledger], worker, standing);
}

static void on_failed(takt_fleet *fleet, takt_fleet_worker *worker, int ledger, int node)
{
    scenario *self = fleet->data;
    const takt_queue *queue = queue_of(worker, ledger);
    const takt_offer none = {.cost = 0};

    if (fleet->node_count > 1)
        timeline_note(fleet, "worker %d has no answer of node %d for ledger %d", worker->index,
                      node, ledger);
    else
        timeline_note(fleet, "worker %d has no answer", worker->index);
    checker_failed(&self->checkers[ledger], worker, node, queue ? &queue->claims.offer : &none);
    self->views[worker->index].lost |= 1U << node;
    tell_views(self, worker);
}

static void on_gone(takt_fleet *fleet, takt_fleet_worker *worker, int node)
{
    scenario *self = fleet->data;

    self->views[worker->index].lost &= ~(1U << node);
    tell_views(self, worker);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static int draw_workers(uint64_t *random)
{
    int64_t size = draw(random, 100);

    if (size < 60)
        return 2 + (int)draw(random, 4);
    if (size < 90)
        return 6 + (int)draw(random, 15);
    if (size < 98)
        return 21 + (int)draw(random, 40);
    return 61 + (int)draw(random, 60);
}

/* Half of all fleets wait for their store. */
static takt_on_store_failure choose_mode(uint64_t random)
{
    static const takt_on_store_failure others[] = {
        TAKT_ON_STORE_FAILURE_CLOSED, TAKT_ON_STORE_FAILURE_OPEN, TAKT_ON_STORE_FAILURE_SHARE};

    return chance(&random, 50) ? TAKT_ON_STORE_FAILURE_WAIT : others[draw(&random, 3)];
}

/* One fleet in seven has several nodes.  Clocks differ by half a second, or by several. */
static void draw_nodes(scenario *self)
{
    takt_fleet *fleet = &self->fleet;
    uint64_t *random = &self->nodes;
    int64_t apart_us = chance(random, 70) ? SECOND_US / 2 : 3 * SECOND_US;

    self->ledger_count = 1;
    if (!chance(random, 15))
        return;
    self->ledger_count += (int)draw(random, TAKT_FLEET_LEDGERS_MAX);
    fleet->replicas = chance(random, 50);
    fleet->node_count = 2 + (int)draw(random, TAKT_FLEET_NODES_MAX - 1);
    for (int i = 0; i < fleet->node_count; i++) {
        fleet->nodes[i].clock_us = draw(random, 2 * apart_us + 1) - apart_us;
        fleet->nodes[i].drift_ppm = (int)draw(random, 199) - 99;
    }
    for (int i = 0; i < self->ledger_count; i++)
        fleet->ledgers[i].node = (int)draw(random, fleet->node_count);
}

static void draw_clocks(scenario *self)
{
    int64_t ahead_us = draw(&self->random, 100 * SECOND_US) - 50 * SECOND_US;

    for (int i = 0; i < self->fleet.node_count; i++)
        self->fleet.nodes[i].clock_us += ahead_us;
}

static void draw_policies(scenario *self, uint64_t random)
{
    bool too_dear =
        chance(&self->random, 30); /* some costs are more than a later policy can give */
    int64_t capacity = 10;
    uint64_t rivals = random + 1;

    self->policy_count = 1 + (int)draw(&self->random, POLICIES_MAX);
    self->policies_out = 1;
    for (int i = 0; i < self->policy_count; i++) {
        policy_draw(&self->policies[i], &self->random, i + chance(&self->random, 50),
                    i > 0 ? &self->policies[i - 1] : NULL);
        if (i > 0 && self->policies[i].numbers.revision <= self->policies[i - 1].numbers.revision)
            self->policies[i].numbers.revision = self->policies[i - 1].numbers.revision + 1;
        if ((i == 0 || !too_dear) && policy_capacity(&self->policies[i].numbers) < capacity)
            capacity = policy_capacity(&self->policies[i].numbers);
    }
    if (self->policy_count > 1 && chance(&rivals, 30)) /* somebody forgot to increase it */
        for (int i = 1 + (int)draw(&rivals, self->policy_count - 1); i < self->policy_count; i++)
            self->policies[i].numbers.revision--;
    /* it is unknown by which of several policies a worker shares */
    if (self->policy_count == 1 || choose_mode(~random) != TAKT_ON_STORE_FAILURE_SHARE)
        policy_draw_guards(self->policies, self->policy_count, rivals);
    policy_draw_units(self->policies, self->policy_count, rivals + 1);
    policy_draw_more_units(self->policies, self->policy_count, rivals + 2);
    if (chance(&random, 40))
        policy_draw_permits(self->policies, self->policy_count, &random);
    if (chance(&random, 60))
        policy_draw_adapt(self->policies, self->policy_count, &random);
    self->cost_max = chance(&self->random, 60) ? 1 : 1 + draw(&self->random, capacity);
}

/* How late timers are: at most the guard. Leases end to the microsecond, and a worker gets the
 * event of a loss then. */
static void draw_timers(scenario *self, uint64_t random)
{
    int64_t least_us = 2 * TIMER_LATE_US;

    for (int i = 0; i < self->policy_count; i++)
        for (int j = 0; j < self->policies[i].numbers.rule_count; j++)
            if (self->policies[i].numbers.rules[j].guard_us > 0)
                least_us = takt_min(least_us, self->policies[i].numbers.rules[j].guard_us);
    if (takt_numbers_guard(&self->policies[0].numbers) != TAKT_NEVER &&
        self->policies[0].numbers.concurrency == 0)
        self->fleet.timer_late_us = draw(&random, least_us / 2 + 1);
}

static void draw_mode(scenario *self, takt_on_store_failure mode)
{
    for (int i = 0; i < self->ledger_count; i++)
        self->checkers[i].mode = mode;
    for (int i = 0; i < self->policy_count; i++)
        self->policies[i].on_store_failure = mode;
}

/* Jobs per worker, so that more is wanted than there is: twice what may be in hand, and the first
 * of all. */
static int jobs_needed(const scenario *self, int workers)
{
    int64_t max = 0;

    for (int i = 0; i < self->policy_count; i++) {
        const takt_limit *limit = &self->policies[i];
        int64_t tokens = limit->numbers.rule_count > 0
                             ? takt_amounts_least(takt_numbers_throughput(
                                   &limit->numbers, NULL, 2 * limit->numbers.lookahead_us + 320000))
                             : limit->numbers.concurrency;
        if (tokens > limit->numbers.concurrency && limit->numbers.concurrency > 0)
            tokens = limit->numbers.concurrency;
        tokens += limit->numbers.concurrency; /* and those who work */
        max = tokens > max ? tokens : max;
    }
    return (int)(max / workers) + 3;
}

/* For which a permit is held, at most: where no rule paces, some 300 jobs a second are enough to
 * see. */
static int64_t choose_work(const scenario *self, uint64_t seed)
{
    static const int64_t works_us[] = {2000, 10000, 100000, 500000, 3000000};
    int64_t min_us = self->policies[0].numbers.concurrency * SECOND_US / 150;

    if (self->policies[0].numbers.rule_count > 0 || works_us[seed % 5] > min_us)
        return works_us[seed % 5];
    return min_us;
}

/* Some workers claim for many. */
static void draw_weights(scenario *self, uint64_t random)
{
    static const int64_t weights[] = {1, 1, 2, 5, 64, 3000};
    bool weighs = chance(&random, 25);

    for (int i = 0; i < self->ledger_count; i++)
        self->checkers[i].weighs = weighs;
    for (int i = 0; weighs && i < self->fleet.worker_count; i++)
        self->fleet.workers[i].weight = weights[draw(&random, 6)];
}

static void open_checkers(scenario *self)
{
    self->views = calloc((size_t)self->fleet.worker_count, sizeof *self->views);
    if (!self->views)
        abort();
    for (int i = 0; i < self->ledger_count; i++) {
        checker *opened = &self->checkers[i];
        checker_open(opened, &self->fleet, i, self->views);
        opened->concurrency = self->policies[0].numbers.concurrency;
        opened->one_policy = self->policy_count == 1;
        opened->lease_us = self->policies[0].numbers.lease_us;
        opened->cost_max = self->cost_max;
        opened->replicas = self->fleet.replicas;
    }
}

static void open_scenario(scenario *self, uint64_t seed)
{
    int64_t now_us = INT64_C(1763692800000000) + (int64_t)(seed % 1000) * 777777;
    int workers;

    *self = (scenario){.random = seed * 2654435761U + 1, .nodes = seed + 5};
    workers = draw_workers(&self->random);
    draw_policies(self, ~seed);
    if (takt_fleet_open(&self->fleet, &self->policies[0], workers, now_us,
                        takt_random(&self->random)) < 0)
        abort();
    draw_nodes(self);
    open_checkers(self);
    draw_mode(self, choose_mode(seed));
    draw_timers(self, seed);
    self->fleet.data = self;
    self->fleet.on.call = on_call;
    self->fleet.on.heard = on_heard;
    self->fleet.on.unused = on_unused;
    self->fleet.on.told = on_told;
    self->fleet.on.failed = on_failed;
    self->fleet.on.lost = on_lost;
    self->fleet.on.gone = on_gone;
    self->fleet.timeout_us = chance(&self->random, 70) ? SECOND_US : 300000;
    draw_clocks(self);
    self->jobs_each = jobs_needed(self, workers);
    self->job_count = workers * self->ledger_count * self->jobs_each;
    self->jobs = calloc((size_t)self->job_count, sizeof *self->jobs);
    if (!self->jobs)
        abort();
    for (int i = 0; i < self->job_count; i++)
        self->jobs[i] =
            (fleet_job){.scenario = self,
                        .worker = &self->fleet.workers[i / self->jobs_each / self->ledger_count],
                        .ledger = i / self->jobs_each % self->ledger_count};
    for (int i = 0; i < workers; i++)
        self->fleet.workers[i].drift_ppm = (int)draw(&self->random, 201) - 100;
    self->priorities = chance(&self->random, 40);
    self->costs = seed % 3 == 0 && !self->priorities ? seed + 1 : 0;
    self->deadlines = chance(&self->random, 40);
    self->cancels = chance(&self->random, 40);
    for (int i = 0; i < self->ledger_count; i++)
        self->checkers[i].ranked = self->priorities;
    self->pause_us = chance(&self->random, 50) ? 0 : draw(&self->random, 5 * SECOND_US);
    self->work_us = choose_work(self, seed);
    draw_weights(self, seed + 3);
}

static void run_storm(scenario *self)
{
    takt_fleet *fleet = &self->fleet;
    int64_t longest_us = 20 * SECOND_US / (1 + fleet->worker_count / 10) + SECOND_US;

    faults_draw(self);
    self->storm_until_us = fleet->now_us + SECOND_US + draw(&self->random, longest_us);
    for (int i = 0; i < fleet->worker_count; i++)
        scenario_begin_work(self, &fleet->workers[i]);
    faults_begin(self);
    takt_fleet_run(fleet, self->storm_until_us);
    self->phase = SETTLING;
    faults_end(self);
}

static int64_t count_calls(const scenario *self)
{
    int64_t calls = 0;

    for (int i = 0; i < self->ledger_count; i++)
        calls += self->checkers[i].calls;
    return calls;
}

/* A virtual time at which the clock of a ledger's node certainly shows that. */
static int64_t virtual_at(const takt_fleet *fleet, int ledger, int64_t store_us)
{
    int64_t left_us = store_us - takt_fleet_ledger_clock(fleet, ledger);

    return fleet->now_us + left_us + (left_us > 0 ? left_us / 5000 + 1 : 0);
}

/* Until the dead are forgotten.  A fleet that makes many calls shows in some seconds what it would
 * show in all of them: it is quiet in between. */
static void settle(scenario *self)
{
    takt_fleet *fleet = &self->fleet;
    int64_t until_us, calls = count_calls(self), lookahead_us = 0;

    if (self->frozen_until_us > fleet->now_us)
        takt_fleet_run(fleet, self->frozen_until_us);
    until_us = fleet->now_us + 12 * SECOND_US + self->checkers[0].lease_us;
    for (int i = 0; i < self->ledger_count; i++) /* a block's */
        until_us = later(until_us, virtual_at(fleet, i, self->checkers[i].paced_until_us));
    takt_fleet_run(fleet, fleet->now_us + 2 * SECOND_US);
    for (int i = 0; i < self->ledger_count; i++)
        lookahead_us = later(lookahead_us, self->checkers[i].numbers.lookahead_us);
    if (count_calls(self) - calls > BUSY_CALLS)
        self->quiet_until_us = until_us - 2 * SECOND_US - lookahead_us;
    takt_fleet_run(fleet, until_us);
}

/* Whether a job waits for more than its ledger can ever give, and an answer must have said so. */
static bool waits_in_vain(const fleet_job *job)
{
    const checker *watching = scenario_checker_of(job);
    int64_t waited_us = takt_fleet_clock(job->worker) - job->asked_us;

    return job->waiting && job->permit.cost > watching->capacity &&
           waited_us > TAKT_KEEPALIVE_US + 2 * watching->slowest_us;
}

/* Everybody wants more, always. */
static void run_calm(scenario *self)
{
    takt_fleet *fleet = &self->fleet;
    int64_t each_us = 0, lookahead_us = 0, calm_us;

    for (int i = 0; i < self->job_count; i++) {
        self->jobs[i].steady = true;
        scenario_ask(&self->jobs[i], 0);
    }
    settle(self);
    for (int i = 0; i < self->ledger_count; i++) {
        const takt_numbers *numbers = &self->checkers[i].numbers;
        lookahead_us = later(lookahead_us, numbers->lookahead_us);
        for (int j = 0; j < numbers->rule_count; j++)
            each_us = later(each_us, (numbers->rules[j].period_us + numbers->rules[j].guard_us) /
                                         numbers->rules[j].limit);
    }
    calm_us = 2 * SECOND_US + 100 * each_us;
    calm_us = calm_us > 60 * SECOND_US ? 60 * SECOND_US : calm_us;
    self->phase = CALM;
    for (int i = 0; i < self->ledger_count; i++)
        checker_calm_begins(&self->checkers[i], calm_us);
    takt_fleet_run(fleet, fleet->now_us + calm_us + lookahead_us + SECOND_US / 5);
    for (int i = 0; i < self->ledger_count; i++)
        checker_calm_ends(&self->checkers[i]);
    for (int i = 0; i < self->job_count; i++)
        if (waits_in_vain(&self->jobs[i]))
            checker_fail(scenario_checker_of(&self->jobs[i]), 5,
                         "acquire %lld waits for more than there can ever be",
                         (long long)self->jobs[i].order);
}

static int waiting_jobs(const scenario *self)
{
    int waiting = 0;

    for (int i = 0; i < self->job_count; i++)
        waiting += self->jobs[i].waiting;
    return waiting;
}

/* No work is added, and after a while the remaining waiters give up. */
static void run_out(scenario *self)
{
    takt_fleet *fleet = &self->fleet;

    self->phase = ENDING;
    takt_fleet_run(fleet, fleet->now_us + 5 * SECOND_US);
    for (int i = 0; i < self->job_count; i++)
        give_up(fleet, &self->jobs[i]);
    takt_fleet_run(fleet, fleet->now_us + 10 * SECOND_US);
    if (waiting_jobs(self) > 0)
        checker_fail(&self->checkers[0], 5, "%d waiters are lost", waiting_jobs(self));
}

/* Each ledger is looked at. */
static void peek(scenario *self, int64_t wait_us)
{
    takt_fleet *fleet = &self->fleet;

    for (int i = 0; i < self->ledger_count; i++)
        takt_fleet_call(&fleet->workers[0], i, TAKT_OP_PEEK, 0);
    takt_fleet_run(fleet, fleet->now_us + wait_us);
}

/* Nothing happens until the store has forgotten everything. */
static void run_quiet(scenario *self)
{
    takt_fleet *fleet = &self->fleet;
    int64_t until_us = 0;

    peek(self, SECOND_US);
    for (int i = 0; i < self->ledger_count; i++) {
        const takt_virtual_store *store = &fleet->ledgers[i].store;
        checker_quiet(&self->checkers[i]);
        if (store->size > 0)
            until_us = later(until_us, virtual_at(fleet, i, store->expires_at_us));
    }
    if (until_us > fleet->now_us)
        takt_fleet_run(fleet, until_us);
}

/* All die at once, at work: a lease later all permits are free. */
static void run_death(scenario *self)
{
    takt_fleet *fleet = &self->fleet;

    for (int i = 0; i < self->job_count; i++)
        scenario_ask(&self->jobs[i], 0);
    takt_fleet_run(fleet, fleet->now_us + 1 + draw(&self->random, SECOND_US));
    self->phase = ENDING;
    for (int i = 0; i < fleet->worker_count; i++)
        faults_kill(self, &fleet->workers[i]);
    takt_fleet_run(fleet, fleet->now_us + self->checkers[0].lease_us + fleet->delay_max_us);
    peek(self, 3 * fleet->delay_max_us);
    for (int i = 0; i < self->ledger_count; i++)
        checker_permits_quiet(&self->checkers[i]);
}

/* A ledger that was forgotten promises the same; a block is all that it was made for. */
static void run_anew(scenario *self)
{
    takt_fleet *fleet = &self->fleet;

    for (int i = 0; i < self->ledger_count; i++)
        takt_fleet_call(&fleet->workers[0], i, TAKT_OP_BLOCK,
                        1 + draw(&self->random, 3 * SECOND_US));
    takt_fleet_run(fleet, fleet->now_us + 4 * SECOND_US);
    self->phase = SETTLING;
    for (int i = 0; i < self->job_count; i++)
        scenario_ask(&self->jobs[i], 0);
    takt_fleet_run(fleet, fleet->now_us + SECOND_US);
}

/* Adds up what was looked at, and frees the checkers. */
static void close_checkers(scenario *self)
{
    for (int i = 0; i < self->ledger_count; i++) {
        checker *closed = &self->checkers[i];
        if (closed->known && checker_now(closed) < self->fleet.ledgers[i].store.expires_at_us)
            checker_fail(closed, 7, "the ledger does not go away");
        scenario_total.calls += closed->calls;
        scenario_total.slots += closed->slots;
        scenario_total.started += closed->fired;
        scenario_total.left += closed->left;
        scenario_total.handed_back += closed->handed_back;
        scenario_total.handed_on += closed->handed_on;
        scenario_total.losers += closed->losers;
        checker_close(closed);
    }
    free(self->views);
}

void scenario_run(uint64_t seed)
{
    scenario self;

    timeline_clear();
    open_scenario(&self, seed);
    run_storm(&self);
    run_calm(&self);
    run_out(&self);
    run_quiet(&self);
    if (chance(&self.random, 30)) {
        run_anew(&self);
        run_out(&self);
    }
    if (self.policies[0].numbers.concurrency > 0) {
        self.phase = SETTLING;
        run_death(&self);
    }
    peek(&self, 0);
    run_quiet(&self);
    close_checkers(&self);
    takt_fleet_close(&self.fleet);
    free(self.jobs);
}
