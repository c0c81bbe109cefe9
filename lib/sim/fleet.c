/*
 * fleet.c: see fleet.h.
 */
#include "sim/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "scheduler/shadow.h"
#include "sim/ledger_at_rest.h"

/* Anything that will happen at some time. */
typedef struct takt_sim_event {
    takt_node node;
    int64_t at_us;
    uint64_t order;
    void (*happen)(takt_fleet *fleet, struct takt_sim_event *event);
    /* whichever it needs */
    void (*call)(takt_fleet *fleet, void *data);
    void *data;
    takt_fleet_worker *worker;
    int64_t incarnation;
    struct takt_sim_exchange *exchange;
} takt_sim_event;

/* A call, mostly a claim, and its answer; freed when the last message and the time-out have passed.
 */
typedef struct takt_sim_exchange {
    takt_sim_call call;
    takt_limit limit; /* as it was when the call was sent */
    takt_claim claim;
    takt_award award;
    takt_queue *queue;
    int64_t connection;
    int64_t incarnation;
    int64_t sent_us; /* by the worker's clock */
    int users;
    bool answered; /* by the store, heard or not */
    bool settled;  /* answered or given up */
} takt_sim_exchange;

static bool happens_sooner(const takt_node *a, const takt_node *b)
{
    const takt_sim_event *x = TAKT_HOLDER(a, takt_sim_event, node),
                         *y = TAKT_HOLDER(b, takt_sim_event, node);

    return x->at_us != y->at_us ? x->at_us < y->at_us : x->order < y->order;
}

static takt_sim_event *plan(takt_fleet *fleet, int64_t at_us,
                            void (*happen)(takt_fleet *fleet, takt_sim_event *event))
{
    takt_sim_event *planned = calloc(1, sizeof *planned);

    if (!planned)
        abort(); /* a simulation that leaves out an event would lie */
    planned->at_us = at_us > fleet->now_us ? at_us : fleet->now_us;
    planned->order = fleet->order++;
    planned->happen = happen;
    takt_heap_add(&fleet->events, &planned->node);
    return planned;
}

static takt_sim_event *plan_for(takt_fleet_worker *worker, int64_t at_us,
                                void (*happen)(takt_fleet *fleet, takt_sim_event *event))
{
    takt_sim_event *planned = plan(worker->fleet, at_us, happen);

    planned->worker = worker;
    planned->incarnation = worker->incarnation;
    return planned;
}

static bool is_for_dead(const takt_sim_event *event)
{
    return event->worker->dead || event->incarnation != event->worker->incarnation;
}

/* What a worker's clock shows at a virtual time. */
static int64_t local_at(const takt_fleet_worker *worker, int64_t at_us)
{
    return at_us + worker->clock_us +
           (at_us - worker->fleet->began_us) * worker->drift_ppm / 1000000;
}

static int64_t local_now(const takt_fleet_worker *worker)
{
    return local_at(worker, worker->fleet->now_us);
}

/* The first moment of virtual time at which its clock shows that. */
static int64_t virtual_at(const takt_fleet_worker *worker, int64_t local_us)
{
    int64_t at_us = local_us - worker->clock_us;

    if (worker->drift_ppm == 0)
        return at_us;
    at_us -= (at_us - worker->fleet->began_us) * worker->drift_ppm / (1000000 + worker->drift_ppm);
    while (local_at(worker, at_us) < local_us)
        at_us++;
    while (local_at(worker, at_us - 1) >= local_us)
        at_us--;
    return at_us;
}

/* ---- the network ----------------------------------------------------------------------------- */

static void drop(takt_sim_exchange *exchange)
{
    if (--exchange->users == 0)
        free(exchange);
}

/* How often a message arrives: not at all, once or twice. */
static int draw_copies(const takt_fleet_worker *worker)
{
    takt_fleet *fleet = worker->fleet;

    if (worker->cut || takt_random_below(&fleet->random, 1000) < fleet->lost_per_mille)
        return 0;
    return takt_random_below(&fleet->random, 1000) < fleet->doubled_per_mille ? 2 : 1;
}

static int64_t draw_arrival(takt_fleet *fleet)
{
    int64_t spread = fleet->delay_most_us - fleet->delay_least_us + 1;

    return fleet->now_us + fleet->delay_least_us + takt_random_below(&fleet->random, spread);
}

static void send(takt_fleet_worker *worker, takt_sim_exchange *exchange,
                 void (*arrive)(takt_fleet *fleet, takt_sim_event *event))
{
    int copies = draw_copies(worker);

    if (copies > 1 && exchange->call.op == TAKT_SIM_SETTLE)
        copies = 1; /* it tells a change: no network doubles what a connection sends once */
    for (int i = 0; i < copies; i++) {
        takt_sim_event *planned = plan_for(worker, draw_arrival(worker->fleet), arrive);
        planned->exchange = exchange;
        planned->incarnation =
            exchange->incarnation; /* not for one who has taken its place since */
        exchange->users++;
    }
}

static void ask_pass(takt_fleet_worker *worker);

/* Whether anybody still waits for this: the answer counts once, and not after the worker gave up or
 * was cut off. */
static bool is_awaited(const takt_sim_event *event)
{
    const takt_sim_exchange *exchange = event->exchange;

    return !is_for_dead(event) && !exchange->settled &&
           exchange->connection == event->worker->connection;
}

static void settle(takt_fleet_worker *worker, takt_sim_exchange *exchange)
{
    exchange->settled = true;
    if (worker->exchange == exchange)
        worker->exchange = NULL;
    ask_pass(worker);
}

static void answer_arrives(takt_fleet *fleet, takt_sim_event *event)
{
    takt_sim_exchange *exchange = event->exchange;
    takt_fleet_worker *worker = event->worker;

    if (is_awaited(event)) {
        if (exchange->call.op == TAKT_SIM_CLAIM) {
            if (fleet->on_heard)
                fleet->on_heard(fleet, worker, &exchange->award, exchange->sent_us);
            takt_scheduler_award(&worker->scheduler, exchange->queue, &exchange->award,
                                 exchange->sent_us, local_now(worker));
        } else if (exchange->call.op >= TAKT_SIM_BLOCK) {
            if (fleet->on_told)
                fleet->on_told(fleet, worker, &exchange->call.standing);
            takt_scheduler_wake(&worker->scheduler,
                                takt_scheduler_queue(&worker->scheduler, worker->limit, ""),
                                exchange->call.standing.blocked_until_us);
        }
        settle(worker, exchange);
    }
    drop(exchange);
}

/* Permits are free: whoever is named should claim. */
static void wake_arrives(takt_fleet *fleet, takt_sim_event *event)
{
    takt_fleet_worker *worker = event->worker;
    takt_queue *queue;

    (void)fleet;
    if (is_for_dead(event) || worker->cut)
        return;
    queue = takt_scheduler_find(&worker->scheduler, worker->limit, "");
    if (!queue)
        return;
    takt_scheduler_nudge(&worker->scheduler, queue);
    ask_pass(worker);
}

static void send_wakes(takt_fleet *fleet, const takt_award *award)
{
    for (int i = 0; i < award->wake_count; i++)
        for (int w = 0; w < fleet->worker_count; w++) {
            takt_fleet_worker *worker = &fleet->workers[w];
            int copies;
            if (worker->name != award->wakes[i] ||
                takt_random_below(&fleet->random, 1000) < fleet->wakes_lost_per_mille)
                continue;
            for (copies = draw_copies(worker); copies > 0; copies--, fleet->wakes++)
                plan_for(worker, draw_arrival(fleet), wake_arrives);
        }
}

static void call_arrives(takt_fleet *fleet, takt_sim_event *event)
{
    takt_sim_exchange *exchange = event->exchange;
    takt_award award;
    takt_sim_call call = exchange->call;

    if (!fleet->store_down) {
        call.award = &award;
        award.run_count = 0;
        takt_sim_store_run(fleet, &call);
        if (fleet->on_call)
            fleet->on_call(fleet, &call);
        if (call.op == TAKT_SIM_CLAIM) {
            fleet->claims++;
            if (fleet->on_award)
                fleet->on_award(fleet, call.worker, &exchange->claim, &award);
            send_wakes(fleet, &award);
        }
        if (!exchange->answered) { /* what a repeated call is told goes unheard: a connection
                                      answers once */
            exchange->answered = true;
            exchange->award = award;
            exchange->call.standing = call.standing;
            send(event->worker, exchange, answer_arrives);
        }
    }
    drop(exchange);
}

static void claim_times_out(takt_fleet *fleet, takt_sim_event *event)
{
    takt_sim_exchange *exchange = event->exchange;

    if (!is_for_dead(event) && !exchange->settled) {
        if (exchange->queue && fleet->on_failed)
            fleet->on_failed(fleet, event->worker);
        if (exchange->queue)
            takt_scheduler_failed(&event->worker->scheduler, exchange->queue, TAKT_E_STORE_TIMEOUT,
                                  local_now(event->worker));
        settle(event->worker, exchange);
    }
    drop(exchange);
}

/* ---- a worker's passes ----------------------------------------------------------------------- */

static void begin(takt_fleet_worker *worker, takt_sim_exchange *exchange, const takt_limit *limit)
{
    exchange->limit = *limit;
    exchange->call.limit = &exchange->limit;
    exchange->call.worker = worker->name;
    exchange->connection = worker->connection;
    exchange->incarnation = worker->incarnation;
    exchange->users = 1;
    plan_for(worker, worker->fleet->now_us + worker->fleet->timeout_us, claim_times_out)->exchange =
        exchange;
    send(worker, exchange, call_arrives);
}

static takt_sim_exchange *new_exchange(takt_sim_op op)
{
    takt_sim_exchange *exchange = calloc(1, sizeof *exchange);

    if (!exchange)
        abort();
    exchange->call.op = op;
    exchange->call.claim = &exchange->claim;
    return exchange;
}

static void send_claims(takt_fleet_worker *worker)
{
    while (!takt_list_empty(&worker->scheduler.claiming)) {
        takt_sim_exchange *exchange = new_exchange(TAKT_SIM_CLAIM);
        exchange->sent_us = local_now(worker);
        exchange->queue =
            takt_scheduler_next_claim(&worker->scheduler, exchange->sent_us, &exchange->claim);
        worker->exchange = exchange;
        begin(worker, exchange, exchange->queue->limit);
    }
}

static void hand_back(takt_fleet_worker *worker)
{
    takt_fleet *fleet = worker->fleet;
    takt_queue *queue;
    takt_run unused;

    while ((queue = takt_scheduler_next_unused(&worker->scheduler, &unused))) {
        takt_sim_exchange *exchange = new_exchange(TAKT_SIM_SETTLE);
        exchange->call.unused = unused;
        if (fleet->on_unused)
            fleet->on_unused(fleet, worker, &unused);
        begin(worker, exchange, queue->limit);
    }
}

static void wakes(takt_fleet *fleet, takt_sim_event *event);

static void pass(takt_fleet *fleet, takt_sim_event *event)
{
    takt_fleet_worker *worker = event->worker;
    takt_permit *permit;
    int64_t wake_us;

    if (is_for_dead(event))
        return;
    worker->pass_asked = false;
    takt_scheduler_run(&worker->scheduler, local_now(worker));
    hand_back(worker);
    send_claims(worker);
    while ((permit = takt_scheduler_next_loser(&worker->scheduler)))
        if (fleet->on_lost)
            fleet->on_lost(fleet, worker, permit);
    while ((permit = takt_scheduler_next_fired(&worker->scheduler)))
        permit->callback(permit, permit->status);
    if (!takt_list_empty(&worker->scheduler.touched))
        ask_pass(worker);
    wake_us = takt_scheduler_wake_at(&worker->scheduler);
    if (wake_us != TAKT_NEVER && wake_us != worker->wake_us)
        plan_for(worker, virtual_at(worker, wake_us), wakes);
    worker->wake_us = wake_us;
}

static void wakes(takt_fleet *fleet, takt_sim_event *event)
{
    (void)fleet;
    if (is_for_dead(event) || event->worker->wake_us == TAKT_NEVER ||
        local_now(event->worker) < event->worker->wake_us)
        return; /* set to a later time since */
    event->worker->wake_us = TAKT_NEVER;
    ask_pass(event->worker);
}

static void ask_pass(takt_fleet_worker *worker)
{
    if (worker->pass_asked)
        return;
    worker->pass_asked = true;
    plan_for(worker, worker->fleet->now_us, pass);
}

/* ---- from outside ---------------------------------------------------------------------------- */

void takt_fleet_acquire(takt_fleet_worker *worker, takt_permit *permit, int64_t max_wait_us)
{
    takt_queue *queue = takt_scheduler_queue(&worker->scheduler, worker->limit, "");

    permit->deadline_at_us = max_wait_us > 0 ? local_now(worker) + max_wait_us : TAKT_NEVER;
    if (queue->limit->mode == TAKT_MODE_SHADOW)
        takt_shadow_acquire(&worker->scheduler, queue, permit, local_now(worker));
    else
        takt_scheduler_acquire(&worker->scheduler, queue, permit);
    ask_pass(worker);
}

void takt_fleet_cancel(takt_fleet_worker *worker, takt_permit *permit)
{
    if (permit->state != TAKT_PERMIT_WAITING)
        return;
    takt_scheduler_leave(&worker->scheduler, permit, TAKT_E_CANCELED);
    ask_pass(worker);
}

void takt_fleet_release(takt_fleet_worker *worker, takt_permit *permit)
{
    if (permit->state != TAKT_PERMIT_GRANTED)
        return;
    takt_shadow_release(&worker->scheduler, permit, local_now(worker));
    takt_scheduler_release(&worker->scheduler, permit);
    ask_pass(worker);
}

void takt_fleet_crash(takt_fleet_worker *worker)
{
    if (worker->dead)
        return;
    worker->dead = true;
    worker->incarnation++;
    worker->exchange = NULL;
    worker->frozen_until_us = 0;
    takt_scheduler_close(&worker->scheduler);
}

void takt_fleet_restart(takt_fleet_worker *worker)
{
    takt_fleet *fleet = worker->fleet;

    worker->name = takt_random(&fleet->random);
    if (takt_scheduler_init(&worker->scheduler, worker->name, takt_random(&fleet->random), worker) <
        0)
        abort();
    worker->dead = worker->pass_asked = false;
    worker->wake_us = TAKT_NEVER;
}

void takt_fleet_freeze(takt_fleet_worker *worker, int64_t until_us)
{
    if (until_us > worker->frozen_until_us)
        worker->frozen_until_us = until_us;
}

void takt_fleet_cut(takt_fleet_worker *worker, bool cut)
{
    takt_sim_exchange *exchange = worker->exchange;

    worker->cut = cut;
    if (!cut)
        return;
    worker->connection++;
    if (exchange && !worker->dead) {
        exchange->users++;
        plan_for(worker, worker->fleet->now_us, claim_times_out)->exchange = exchange;
    }
}

void takt_fleet_call(takt_fleet_worker *worker, takt_sim_op op, int64_t value)
{
    takt_sim_exchange *exchange = new_exchange(op);

    exchange->call.cost = exchange->call.for_us = value;
    begin(worker, exchange, worker->limit);
}

int64_t takt_fleet_clock(const takt_fleet_worker *worker)
{
    return local_now(worker);
}

static void calls(takt_fleet *fleet, takt_sim_event *event)
{
    event->call(fleet, event->data);
}

void takt_fleet_at(takt_fleet *fleet, int64_t at_us, void (*happen)(takt_fleet *fleet, void *data),
                   void *data)
{
    takt_sim_event *planned = plan(fleet, at_us, calls);

    planned->call = happen;
    planned->data = data;
}

int takt_fleet_open(takt_fleet *fleet, const takt_limit *limit, int workers, int64_t now_us,
                    uint64_t seed)
{
    int capacity = (4 * workers + 16) * TAKT_PRIORITIES; /* the dead stand in line for a while */

    *fleet = (takt_fleet){.now_us = now_us,
                          .began_us = now_us,
                          .random = seed,
                          .limit = limit,
                          .worker_count = workers,
                          .delay_least_us = 100,
                          .delay_most_us = 2000,
                          .timeout_us = 1000000};
    takt_heap_init(&fleet->events, happens_sooner);
    fleet->workers = calloc((size_t)workers, sizeof *fleet->workers);
    fleet->ledger.line = calloc((size_t)capacity, sizeof *fleet->ledger.line);
    if (!fleet->workers || !fleet->ledger.line) {
        free(fleet->workers);
        free(fleet->ledger.line);
        return TAKT_E_NOMEM;
    }
    fleet->ledger.line_capacity = capacity;
    takt_memory_pages_init(&fleet->pages);
    fleet->ledger.pages = &fleet->pages.pages;
    takt_ledger_init(&fleet->ledger, limit, now_us);
    for (int i = 0; i < workers; i++) {
        takt_fleet_worker *worker = &fleet->workers[i];
        worker->fleet = fleet;
        worker->index = i;
        worker->limit = limit;
        worker->clock_us = takt_random_below(&fleet->random, INT64_C(1000000000000));
        takt_fleet_restart(worker);
    }
    return 0;
}

void takt_fleet_close(takt_fleet *fleet)
{
    while (fleet->events.first) {
        takt_sim_event *event = TAKT_HOLDER(fleet->events.first, takt_sim_event, node);
        takt_heap_remove(&fleet->events, &event->node);
        if (event->exchange)
            drop(event->exchange);
        free(event);
    }
    for (int i = 0; i < fleet->worker_count; i++)
        takt_fleet_crash(&fleet->workers[i]);
    free(fleet->workers);
    takt_sim_store_close(fleet);
}

/* A worker that is stopped takes part in nothing; what it has sent is on its way all the same. */
static bool is_held_up(const takt_sim_event *event)
{
    return event->worker && !is_for_dead(event) && event->happen != call_arrives &&
           event->worker->frozen_until_us > event->worker->fleet->now_us;
}

void takt_fleet_run(takt_fleet *fleet, int64_t until_us)
{
    while (fleet->events.first) {
        takt_sim_event *event = TAKT_HOLDER(fleet->events.first, takt_sim_event, node);
        if (event->at_us > until_us)
            break;
        takt_heap_remove(&fleet->events, &event->node);
        fleet->now_us = event->at_us;
        if (is_held_up(event)) {
            event->at_us = event->worker->frozen_until_us;
            event->order = fleet->order++;
            takt_heap_add(&fleet->events, &event->node);
            continue;
        }
        event->happen(fleet, event);
        free(event);
    }
    if (fleet->now_us < until_us)
        fleet->now_us = until_us;
}
