/*
 * faults.c: the faults of a storm, and how they end.
 */
#include "scenario.h"

typedef enum fault {
    NODE_DOWN,
    CRASH,
    FREEZE,
    CUT,
    BLOCK,
    PENALIZE,
    UNBLOCK,
    RESET,
    LOSE_STATE,
    NEW_POLICY,
    TRY,
    NETWORK,
    CLOCK_FORWARD,
    FAULTS_OF_ONE, /* node */
    MOVE = FAULTS_OF_ONE,
    PROMOTE,
    FAULTS
} fault;

static void node_comes_back(takt_fleet *fleet, void *data)
{
    takt_fleet_node *node = data;

    timeline_note(fleet, "node %d is back", (int)(node - fleet->nodes));
    node->down = false;
}

static void restart(takt_fleet *fleet, void *data)
{
    scenario *self = fleet->data;
    takt_fleet_worker *worker = data;

    if (!worker->dead)
        return;
    timeline_note(fleet, "worker %d starts anew", worker->index);
    if (chance(&self->random, 50))
        worker->limit = &self->policies[self->policies_out - 1];
    takt_fleet_restart(worker);
    scenario_begin_work(self, worker);
}

void faults_kill(scenario *self, takt_fleet_worker *worker)
{
    fleet_job *jobs = scenario_jobs_of(self, worker, 0);

    timeline_note(&self->fleet, "worker %d crashes", worker->index);
    for (int i = 0; i < self->ledger_count; i++)
        checker_crashed(&self->checkers[i], worker);
    self->views[worker->index] = (node_view){.lost = 0};
    takt_fleet_crash(worker);
    for (int i = 0; i < self->ledger_count * self->jobs_each; i++)
        jobs[i].waiting = jobs[i].running = false;
}

static void crash(scenario *self, takt_fleet_worker *worker)
{
    if (worker->dead)
        return;
    faults_kill(self, worker);
    takt_fleet_at(&self->fleet, self->fleet.now_us + draw(&self->random, 5000000), restart, worker);
}

static void join_again(takt_fleet *fleet, void *data)
{
    takt_fleet_worker *worker = data;

    timeline_note(fleet, "worker %d is connected", worker->index);
    takt_fleet_cut(worker, false);
}

static void draw_network(scenario *self)
{
    static const int64_t delays_us[][2] = {
        {100, 2000}, {100, 2000}, {20000, 80000}, {100, 300000}, {100, 1500000}};
    const int64_t *delay_us = delays_us[draw(&self->random, 5)];

    self->fleet.delay_min_us = delay_us[0];
    self->fleet.delay_max_us = delay_us[1];
    self->fleet.lost_per_mille = chance(&self->random, 50) ? (int)draw(&self->random, 300) : 0;
    self->fleet.doubled_per_mille = chance(&self->random, 50) ? (int)draw(&self->random, 300) : 0;
}

static void call(takt_fleet_worker *worker, int ledger, takt_op op, int64_t value)
{
    if (!worker->dead)
        takt_fleet_call(worker, ledger, op, value);
}

/* A slot moves with its ledger, whose instants are the other clock's from now on. */
static void move(scenario *self, int ledger)
{
    takt_fleet_record *moved = &self->fleet.ledgers[ledger];
    int64_t was_us = takt_fleet_ledger_clock(&self->fleet, ledger);

    moved->node += 1 + (int)draw(&self->nodes, self->fleet.node_count - 1);
    moved->node %= self->fleet.node_count;
    timeline_note(&self->fleet, "ledger %d moves to node %d, whose clock is %+lld us ahead", ledger,
                  moved->node, (long long)(takt_fleet_ledger_clock(&self->fleet, ledger) - was_us));
    checker_clock_jumps(&self->checkers[ledger], was_us);
}

/* The replica takes the place of a node that has died. */
static void promote(takt_fleet *fleet, void *data)
{
    scenario *self = fleet->data;
    checker *watching = data;
    int ledger = watching->ledger, node = fleet->ledgers[ledger].node;
    int64_t was_us = takt_fleet_ledger_clock(fleet, ledger);

    if (!fleet->ledgers[ledger].lags || self->phase != STORM)
        return;
    node = (node + 1 + (int)draw(&self->nodes, fleet->node_count - 1)) % fleet->node_count;
    takt_fleet_promote(fleet, ledger, node);
    timeline_note(fleet, "node %d takes ledger %d over, with its clock %+lld us ahead", node,
                  ledger, (long long)(takt_fleet_ledger_clock(fleet, ledger) - was_us));
    checker_promoted(watching, was_us);
}

static void lag(scenario *self, int ledger)
{
    takt_fleet *fleet = &self->fleet;

    if (fleet->ledgers[ledger].lags)
        return;
    timeline_note(fleet, "the replica of ledger %d lags", ledger);
    takt_fleet_lag(fleet, ledger);
    checker_lags(&self->checkers[ledger]);
    takt_fleet_at(fleet, fleet->now_us + 1 + draw(&self->nodes, 500000), promote,
                  &self->checkers[ledger]);
}

static void set_clock_forward(scenario *self, int node)
{
    int64_t was_us = takt_fleet_node_time(&self->fleet, node, self->fleet.now_us);

    self->fleet.nodes[node].clock_us += draw(&self->random, 2000000);
    timeline_note(&self->fleet, "the clock of node %d is set forward", node);
    for (int i = 0; i < self->ledger_count; i++)
        if (self->fleet.ledgers[i].node == node && self->checkers[i].past)
            self->checkers[i].past_at_us += takt_fleet_ledger_clock(&self->fleet, i) - was_us;
    for (int i = 0; i < self->ledger_count; i++)
        if (self->fleet.ledgers[i].node == node)
            checker_clock_jumps(&self->checkers[i], was_us);
}

static void happen(scenario *self, fault what)
{
    takt_fleet *fleet = &self->fleet;
    takt_fleet_worker *worker = &fleet->workers[draw(&self->random, fleet->worker_count)];
    int64_t for_us = 1 + draw(&self->random, chance(&self->random, 80) ? 1500000 : 8000000);
    int ledger = (int)draw(&self->nodes, self->ledger_count);
    int node = (int)draw(&self->nodes, fleet->node_count);

    switch (what) {
    case NODE_DOWN:
        timeline_note(fleet, "node %d is down for %lld us", node, (long long)for_us);
        fleet->nodes[node].down = true;
        takt_fleet_at(fleet, fleet->now_us + for_us, node_comes_back, &fleet->nodes[node]);
        break;
    case CRASH:
        crash(self, worker);
        break;
    case FREEZE:
        timeline_note(fleet, "worker %d is stopped for %lld us", worker->index, (long long)for_us);
        takt_fleet_freeze(worker, fleet->now_us + for_us);
        break;
    case CUT:
        timeline_note(fleet, "worker %d is cut off for %lld us", worker->index, (long long)for_us);
        takt_fleet_cut(worker, true);
        takt_fleet_at(fleet, fleet->now_us + for_us, join_again, worker);
        break;
    case BLOCK:
        call(worker, ledger, TAKT_OP_BLOCK, for_us);
        break;
    case PENALIZE:
        call(worker, ledger, TAKT_OP_PENALIZE, chance(&self->random, 50) ? for_us / 4 : 0);
        if (chance(&self->random, 50)) /* who else has heard of it */
            call(&fleet->workers[draw(&self->random, fleet->worker_count)], ledger,
                 TAKT_OP_PENALIZE, for_us / 3);
        break;
    case UNBLOCK:
        call(worker, ledger, TAKT_OP_UNBLOCK, 0);
        break;
    case RESET:
        call(worker, ledger, TAKT_OP_RESET, 0);
        break;
    case LOSE_STATE:
        takt_fleet_catch_up(fleet, ledger); /* which loses it, too */
        checker_caught_up(&self->checkers[ledger]);
        takt_fleet_lose_state(fleet, ledger);
        checker_state_lost(&self->checkers[ledger]);
        break;
    case NEW_POLICY:
        if (self->policies_out < self->policy_count)
            self->policies_out++;
        worker->limit = &self->policies[self->policies_out - 1];
        crash(self, worker);
        break;
    case TRY:
        if (self->checkers[ledger].concurrency == 0) /* else it would need a permit */
            call(worker, ledger, TAKT_OP_TRY, 1 + draw(&self->random, self->cost_max));
        break;
    case NETWORK:
        draw_network(self);
        break;
    case CLOCK_FORWARD:
        set_clock_forward(self, node);
        break;
    case MOVE:
        if (!fleet->ledgers[ledger].lags)
            move(self, ledger);
        break;
    case PROMOTE:
        lag(self, ledger);
        break;
    case FAULTS:
        break;
    }
}

static void strike(takt_fleet *fleet, void *data)
{
    scenario *self = data;
    fault what;

    if (fleet->now_us >= self->storm_until_us)
        return;
    do
        what = (fault)draw(&self->random, self->fleet.node_count > 1 ? FAULTS : FAULTS_OF_ONE);
    while (!(self->faults >> what & 1));
    happen(self, what);
    takt_fleet_at(fleet, fleet->now_us + 1 + draw(&self->random, 2 * self->fault_pause_us), strike,
                  self);
}

/* Work has cost more than its estimate: at most what the rules let through in three seconds. */
static void overspend(takt_fleet *fleet, void *data)
{
    scenario *self = data;
    takt_fleet_worker *worker = &fleet->workers[draw(&self->costs, fleet->worker_count)];
    const takt_numbers *numbers = &worker->limit->numbers;
    int64_t most = takt_amounts_least(takt_numbers_throughput(numbers, NULL, 3000000));

    if (fleet->now_us >= self->storm_until_us)
        return;
    if (numbers->rule_count > 0 && most > 0 && !worker->dead)
        takt_fleet_charge(worker, (int)draw(&self->costs, self->ledger_count),
                          1 + draw(&self->costs, most));
    takt_fleet_at(fleet, fleet->now_us + 1 + draw(&self->costs, 4000000), overspend, self);
}

void faults_draw(scenario *self)
{
    self->faults = 0;
    for (int i = 0; i < FAULTS_OF_ONE; i++)
        if (chance(&self->random,
                   i == RESET || i == LOSE_STATE || i == BLOCK || i == UNBLOCK ? 25 : 40))
            self->faults |= 1U << i;
    for (int i = FAULTS_OF_ONE; i < FAULTS && self->fleet.node_count > 1; i++)
        if (chance(&self->nodes, 40))
            self->faults |= 1U << i;
    if (chance(&self->random, 25))
        self->faults = 0; /* fair weather */
    self->fault_pause_us = 50000 + draw(&self->random, 2000000);
}

void faults_begin(scenario *self)
{
    /* no worker settles slots that the ledger has forgotten */
    self->settles =
        self->costs != 0 && !(self->faults & (1U << RESET | 1U << LOSE_STATE | 1U << NEW_POLICY));
    /* a debt under an algorithm that a newer policy replaces is dropped */
    if (self->costs != 0 && !(self->faults & 1U << NEW_POLICY))
        takt_fleet_at(&self->fleet, self->fleet.now_us + draw(&self->costs, 4000000), overspend,
                      self);
    if (self->faults >> NETWORK & 1)
        draw_network(self);
    if (self->faults != 0)
        takt_fleet_at(&self->fleet,
                      self->fleet.now_us + draw(&self->random, 2 * self->fault_pause_us), strike,
                      self);
}

/* Whether each policy that is valid, or will be once its workers have claimed, gives slots so far
 * ahead. */
static bool all_look_ahead(const scenario *self, int64_t lookahead_us)
{
    for (int i = 0; i < self->policies_out; i++)
        if (self->policies[i].numbers.lookahead_us < lookahead_us)
            return false;
    return true;
}

void faults_end(scenario *self)
{
    takt_fleet *fleet = &self->fleet;

    bool wakes_lost = self->checkers[0].concurrency > 0 && chance(&self->random, 30);
    bool far = all_look_ahead(self, 250000) && chance(&self->random, 20);

    timeline_note(fleet, "the storm is over");
    for (int i = 0; i < fleet->node_count; i++)
        fleet->nodes[i].down = false;
    fleet->lost_per_mille = fleet->doubled_per_mille = 0;
    fleet->wakes_lost_per_mille = wakes_lost ? 500 : 0;
    fleet->delay_min_us = far ? 20000 : 100;
    fleet->delay_max_us = far ? 80000 : 2000;
    for (int i = 0; i < self->ledger_count; i++) {
        takt_fleet_catch_up(fleet, i);
        checker_caught_up(&self->checkers[i]);
        self->checkers[i].wakes_lost = wakes_lost;
        self->checkers[i].far = far;
    }
    for (int i = 0; i < fleet->worker_count; i++) {
        takt_fleet_cut(&fleet->workers[i], false);
        if (fleet->workers[i].frozen_until_us > self->frozen_until_us)
            self->frozen_until_us = fleet->workers[i].frozen_until_us;
        restart(fleet, &fleet->workers[i]);
    }
}
