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

fleet_job *scenario_jobs_of(scenario *self, const takt_fleet_worker *worker)
{
    return &self->jobs[(ptrdiff_t)worker->index * self->jobs_each];
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
    checker_released(&self->checker, job);
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

/* Work was not begun after all, as is known only now. */
static void settle_job(takt_fleet *fleet, void *data)
{
    fleet_job *job = data;
    takt_run run = {{job->settled_slot_us, 0}, {0, 0}, 1, 1, job->settled_cost, 0};

    job->settles = false;
    if (!job->worker->dead && job->scenario->phase == STORM) {
        timeline_note(fleet, "worker %d settles a slot", job->worker->index);
        takt_fleet_settle(job->worker, &run);
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

    checker_ended(&self->checker, job, status, scenario_jobs_of(self, job->worker),
                  self->jobs_each);
    job->waiting = false;
    if (status == 0)
        draw_cost(job);
    if (status == 0 && permit->fence > 0)
        work(job);
    else if (status == TAKT_E_FULL || status == TAKT_E_DEADLINE || status == TAKT_E_COST ||
             status == TAKT_E_STORE_TIMEOUT || self->checker.workers[job->worker->index].lost)
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
    capacity = takt_numbers_capacity(&job->worker->limit->numbers, TAKT_UNIT_TOKENS,
                                     NULL); /* a client refuses more when asked */
    job->permit.cost = (int32_t)(1 + draw(&self->random, self->cost_max));
    if (job->permit.cost > capacity)
        job->permit.cost = (int32_t)capacity;
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
    takt_fleet_acquire(job->worker, &job->permit, max_wait_us);
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
    fleet_job *jobs = scenario_jobs_of(self, worker);

    for (int i = 0; i < self->jobs_each; i++)
        scenario_ask(&jobs[i], self->phase == STORM ? draw(&self->random, self->pause_us + 1) : 0);
}

/* ---- the hooks of the fleet ----------------------------------------------------------------- */

static void on_call(takt_fleet *fleet, uint64_t worker, const takt_store_call *call)
{
    checker_call(&((scenario *)fleet->data)->checker, worker, call);
}

static void on_lost(takt_fleet *fleet, takt_fleet_worker *worker, takt_permit *permit)
{
    fleet_job *job = permit->data;

    (void)worker;
    checker_lost(&((scenario *)fleet->data)->checker, job);
    job->lost = true;
}

static void on_heard(takt_fleet *fleet, takt_fleet_worker *worker, const takt_award *award,
                     int64_t sent_us)
{
    scenario *self = fleet->data;
    const takt_queue *queue = takt_registry_find(&worker->scheduler, worker->limit, "");
    fleet_job *jobs = scenario_jobs_of(self, worker);
    int waiting = 0;

    for (int i = 0; i < self->jobs_each; i++) {
        waiting += jobs[i].waiting;
        jobs[i].told_of += self->policy_count == 1 && jobs[i].waiting &&
                           jobs[i].asked_us < sent_us && !award->stale;
    }
    checker_heard(&self->checker, worker, award, &queue->claims.offer, sent_us, waiting);
}

static void on_unused(takt_fleet *fleet, takt_fleet_worker *worker, const takt_run *unused)
{
    checker_hands_back(&((scenario *)fleet->data)->checker, worker, unused);
}

static void on_told(takt_fleet *fleet, takt_fleet_worker *worker, const takt_standing *standing)
{
    checker_told(&((scenario *)fleet->data)->checker, worker, standing);
}

static void on_failed(takt_fleet *fleet, takt_fleet_worker *worker)
{
    const takt_queue *queue = takt_registry_find(&worker->scheduler, worker->limit, "");
    const takt_offer none = {.cost = 0};

    timeline_note(fleet, "worker %d has no answer", worker->index);
    checker_failed(&((scenario *)fleet->data)->checker, worker,
                   queue ? &queue->claims.offer : &none);
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
        if ((i == 0 || !too_dear) &&
            takt_numbers_capacity(&self->policies[i].numbers, TAKT_UNIT_TOKENS, NULL) < capacity)
            capacity = takt_numbers_capacity(&self->policies[i].numbers, TAKT_UNIT_TOKENS, NULL);
    }
    if (self->policy_count > 1 && chance(&rivals, 30)) /* somebody forgot to increase it */
        for (int i = 1 + (int)draw(&rivals, self->policy_count - 1); i < self->policy_count; i++)
            self->policies[i].numbers.revision--;
    /* which of several policies a worker shares by alone is not told */
    if (self->policy_count == 1 || choose_mode(~random) != TAKT_ON_STORE_FAILURE_SHARE)
        policy_draw_guards(self->policies, self->policy_count, rivals);
    policy_draw_units(self->policies, self->policy_count, rivals + 1);
    if (chance(&random, 40))
        policy_draw_permits(self->policies, self->policy_count, &random);
    if (chance(&random, 60))
        policy_draw_adapt(self->policies, self->policy_count, &random);
    self->cost_max = chance(&self->random, 60) ? 1 : 1 + draw(&self->random, capacity);
}

/* How late timers are: no later than any guard permits.  Leases end to the microsecond, and whoever
 * has lost one is told then. */
static void draw_timers(scenario *self, uint64_t random)
{
    int64_t least_us = 2 * TIMER_LATE_US;

    for (int i = 0; i < self->policy_count; i++)
        for (int j = 0; j < self->policies[i].numbers.rule_count; j++)
            if (self->policies[i].numbers.rules[j].guard_us > 0)
                least_us = takt_min(least_us, self->policies[i].numbers.rules[j].guard_us);
    if (takt_numbers_guard(&self->policies[0].numbers) != TAKT_NEVER &&
        self->checker.concurrency == 0)
        self->fleet.timer_late_us = draw(&random, least_us / 2 + 1);
}

static void draw_mode(scenario *self, takt_on_store_failure mode)
{
    self->checker.mode = mode;
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
    int64_t min_us = self->checker.concurrency * SECOND_US / 150;

    if (self->policies[0].numbers.rule_count > 0 || works_us[seed % 5] > min_us)
        return works_us[seed % 5];
    return min_us;
}

static void open_scenario(scenario *self, uint64_t seed)
{
    int64_t now_us = INT64_C(1763692800000000) + (int64_t)(seed % 1000) * 777777;
    int workers;

    *self = (scenario){.random = seed * 2654435761U + 1};
    workers = draw_workers(&self->random);
    draw_policies(self, ~seed);
    if (takt_fleet_open(&self->fleet, &self->policies[0], workers, now_us,
                        takt_random(&self->random)) < 0)
        abort();
    checker_open(&self->checker, &self->fleet);
    self->checker.concurrency = self->policies[0].numbers.concurrency;
    self->checker.one_policy = self->policy_count == 1;
    self->checker.lease_us = self->policies[0].numbers.lease_us;
    draw_mode(self, choose_mode(seed));
    draw_timers(self, seed);
    self->checker.cost_max = self->cost_max;
    self->fleet.data = self;
    self->fleet.on_call = on_call;
    self->fleet.on_heard = on_heard;
    self->fleet.on_unused = on_unused;
    self->fleet.on_told = on_told;
    self->fleet.on_failed = on_failed;
    self->fleet.on_lost = on_lost;
    self->fleet.timeout_us = chance(&self->random, 70) ? SECOND_US : 300000;
    self->fleet.store_clock_us = draw(&self->random, 100 * SECOND_US) - 50 * SECOND_US;
    self->jobs_each = jobs_needed(self, workers);
    self->jobs = calloc((size_t)(workers * self->jobs_each), sizeof *self->jobs);
    if (!self->jobs)
        abort();
    for (int i = 0; i < workers * self->jobs_each; i++)
        self->jobs[i] =
            (fleet_job){.scenario = self, .worker = &self->fleet.workers[i / self->jobs_each]};
    for (int i = 0; i < workers; i++)
        self->fleet.workers[i].drift_ppm = (int)draw(&self->random, 201) - 100;
    self->priorities = chance(&self->random, 40);
    self->costs = seed % 3 == 0 && !self->priorities ? seed + 1 : 0;
    self->deadlines = chance(&self->random, 40);
    self->cancels = chance(&self->random, 40);
    self->checker.ranked = self->priorities;
    self->pause_us = chance(&self->random, 50) ? 0 : draw(&self->random, 5 * SECOND_US);
    self->work_us = choose_work(self, seed);
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

/* Until the dead are forgotten.  A fleet that makes many calls shows in some seconds what it would
 * show in all of them: it is quiet in between. */
static void settle(scenario *self)
{
    takt_fleet *fleet = &self->fleet;
    int64_t until_us, calls = self->checker.calls;

    if (self->frozen_until_us > fleet->now_us)
        takt_fleet_run(fleet, self->frozen_until_us);
    until_us = fleet->now_us + 12 * SECOND_US + self->checker.lease_us;
    until_us =
        later(until_us, self->checker.paced_until_us - fleet->store_clock_us); /* a block's */
    takt_fleet_run(fleet, fleet->now_us + 2 * SECOND_US);
    if (self->checker.calls - calls > BUSY_CALLS)
        self->quiet_until_us = until_us - 2 * SECOND_US - self->checker.numbers.lookahead_us;
    takt_fleet_run(fleet, until_us);
}

/* Everybody wants more, always. */
static void run_calm(scenario *self)
{
    takt_fleet *fleet = &self->fleet;
    int64_t each_us = 0, calm_us;

    for (int i = 0; i < fleet->worker_count * self->jobs_each; i++) {
        self->jobs[i].steady = true;
        scenario_ask(&self->jobs[i], 0);
    }
    settle(self);
    for (int i = 0; i < self->checker.numbers.rule_count; i++) {
        const takt_rule *rule = &self->checker.numbers.rules[i];
        each_us = later(each_us, (rule->period_us + rule->guard_us) / rule->limit);
    }
    calm_us = 2 * SECOND_US + 100 * each_us;
    calm_us = calm_us > 60 * SECOND_US ? 60 * SECOND_US : calm_us;
    self->phase = CALM;
    checker_calm_begins(&self->checker, calm_us);
    takt_fleet_run(fleet,
                   fleet->now_us + calm_us + self->checker.numbers.lookahead_us + SECOND_US / 5);
    checker_calm_ends(&self->checker);
    for (int i = 0; i < fleet->worker_count * self->jobs_each; i++)
        if (self->jobs[i].waiting && self->jobs[i].permit.cost > self->checker.capacity)
            checker_fail(&self->checker, 5, "acquire %lld waits for more than there can ever be",
                         (long long)self->jobs[i].order);
}

static int waiting_jobs(const scenario *self)
{
    int waiting = 0;

    for (int i = 0; i < self->fleet.worker_count * self->jobs_each; i++)
        waiting += self->jobs[i].waiting;
    return waiting;
}

/* Nobody asks any more, and after a while those who still wait give up. */
static void run_out(scenario *self)
{
    takt_fleet *fleet = &self->fleet;

    self->phase = ENDING;
    takt_fleet_run(fleet, fleet->now_us + 5 * SECOND_US);
    for (int i = 0; i < fleet->worker_count * self->jobs_each; i++)
        give_up(fleet, &self->jobs[i]);
    takt_fleet_run(fleet, fleet->now_us + 10 * SECOND_US);
    if (waiting_jobs(self) > 0)
        checker_fail(&self->checker, 5, "%d waiters are lost", waiting_jobs(self));
}

/* Nothing happens until the store has forgotten everything. */
static void run_quiet(scenario *self)
{
    takt_fleet *fleet = &self->fleet;
    int64_t expires_us;

    takt_fleet_call(&fleet->workers[0], TAKT_OP_PEEK, 0);
    takt_fleet_run(fleet, fleet->now_us + SECOND_US);
    checker_quiet(&self->checker);
    expires_us = fleet->store.size > 0 ? fleet->store.expires_at_us - fleet->store_clock_us : 0;
    if (expires_us > fleet->now_us)
        takt_fleet_run(fleet, expires_us);
}

/* All die at once, at work: a lease later all permits are free. */
static void run_death(scenario *self)
{
    takt_fleet *fleet = &self->fleet;

    for (int i = 0; i < fleet->worker_count * self->jobs_each; i++)
        scenario_ask(&self->jobs[i], 0);
    takt_fleet_run(fleet, fleet->now_us + 1 + draw(&self->random, SECOND_US));
    self->phase = ENDING;
    for (int i = 0; i < fleet->worker_count; i++)
        faults_kill(self, &fleet->workers[i]);
    takt_fleet_run(fleet, fleet->now_us + self->checker.lease_us + fleet->delay_max_us);
    takt_fleet_call(&fleet->workers[0], TAKT_OP_PEEK, 0);
    takt_fleet_run(fleet, fleet->now_us + fleet->delay_max_us);
    checker_permits_quiet(&self->checker);
}

/* A ledger that was forgotten promises the same; a block is all that it was made for. */
static void run_anew(scenario *self)
{
    takt_fleet *fleet = &self->fleet;

    takt_fleet_call(&fleet->workers[0], TAKT_OP_BLOCK, 1 + draw(&self->random, 3 * SECOND_US));
    takt_fleet_run(fleet, fleet->now_us + 4 * SECOND_US);
    self->phase = SETTLING;
    for (int i = 0; i < fleet->worker_count * self->jobs_each; i++)
        scenario_ask(&self->jobs[i], 0);
    takt_fleet_run(fleet, fleet->now_us + SECOND_US);
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
    if (self.checker.concurrency > 0) {
        self.phase = SETTLING;
        run_death(&self);
    }
    takt_fleet_call(&self.fleet.workers[0], TAKT_OP_PEEK, 0);
    run_quiet(&self);
    if (self.checker.known && checker_now(&self.checker) < self.fleet.store.expires_at_us)
        checker_fail(&self.checker, 7, "the ledger does not go away");
    scenario_total.calls += self.checker.calls;
    scenario_total.slots += self.checker.slots;
    scenario_total.started += self.checker.fired;
    scenario_total.left += self.checker.left;
    scenario_total.handed_back += self.checker.handed_back;
    scenario_total.handed_on += self.checker.handed_on;
    scenario_total.losers += self.checker.losers;
    takt_fleet_close(&self.fleet);
    checker_close(&self.checker);
    free(self.jobs);
}
