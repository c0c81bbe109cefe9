/*
 * network.c: see network.h.
 */
#include "simulate/network.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "scheduler/claims.h"
#include "scheduler/registry.h"
#include "simulate/ledger_at_rest.h"

takt_sim_exchange *takt_sim_exchange_new(takt_fleet *fleet, takt_sim_op op)
{
    takt_sim_exchange *exchange = malloc(sizeof *exchange);

    if (!exchange) {
        fleet->out_of_memory = true;
        return NULL;
    }
    /* the long lists are read as far as they are filled */
    memset(exchange, 0, offsetof(takt_sim_exchange, numbers));
    memset(&exchange->claim, 0, offsetof(takt_claim, wants));
    memset(&exchange->award, 0, offsetof(takt_award, runs));
    exchange->call.op = op;
    exchange->call.claim = &exchange->claim;
    return exchange;
}

void takt_sim_exchange_drop(takt_sim_exchange *exchange)
{
    if (--exchange->users == 0)
        free(exchange);
}

/* Plans an event that uses the exchange. */
static takt_sim_event *plan(takt_fleet_worker *worker, takt_sim_exchange *exchange, int64_t at_us,
                            takt_sim_happen happen)
{
    takt_sim_event *planned = takt_sim_plan(worker, at_us, happen);

    if (!planned)
        return NULL;
    planned->exchange = exchange;
    exchange->users++;
    return planned;
}

/* How often a message arrives: never, once or twice. */
static int draw_copies(const takt_fleet_worker *worker)
{
    takt_fleet *fleet = worker->fleet;

    if (worker->cut || takt_random_below(&fleet->random, 1000) < fleet->lost_per_mille)
        return 0;
    return takt_random_below(&fleet->random, 1000) < fleet->doubled_per_mille ? 2 : 1;
}

static int64_t draw_arrival(takt_fleet *fleet)
{
    int64_t spread = fleet->delay_max_us - fleet->delay_min_us + 1;

    return fleet->now_us + fleet->delay_min_us + takt_random_below(&fleet->random, spread);
}

static void call_arrives(takt_fleet *fleet, takt_sim_event *event);

static void send(takt_fleet_worker *worker, takt_sim_exchange *exchange, takt_sim_happen arrive)
{
    int copies = draw_copies(worker);

    if (copies > 1 &&
        (exchange->call.op == TAKT_SIM_SETTLE || exchange->call.op == TAKT_SIM_CHARGE))
        copies = 1; /* it tells a change: no network doubles what a connection sends once */
    for (int i = 0; i < copies; i++) {
        takt_sim_event *planned = plan(worker, exchange, draw_arrival(worker->fleet), arrive);
        if (!planned)
            return;
        planned->incarnation =
            exchange->incarnation; /* not for one who has taken its place since */
        planned->at_store = arrive == call_arrives;
    }
}

/* Whether anybody still waits for this: the answer counts once, and not after the worker gave up or
 * was cut off. */
static bool is_awaited(const takt_sim_event *event)
{
    const takt_sim_exchange *exchange = event->exchange;

    return !takt_sim_is_for_dead(event) && !exchange->finished &&
           exchange->connection == event->worker->connection;
}

static void finish(takt_fleet_worker *worker, takt_sim_exchange *exchange)
{
    exchange->finished = true;
    if (worker->exchange == exchange)
        worker->exchange = NULL;
    takt_sim_ask_pass(worker);
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
                                 exchange->sent_us, takt_fleet_clock(worker));
        } else if (exchange->call.op >= TAKT_SIM_BLOCK) {
            if (fleet->on_told)
                fleet->on_told(fleet, worker, &exchange->call.standing);
            takt_scheduler_blocked(&worker->scheduler,
                                   takt_registry_queue(&worker->scheduler, worker->limit, ""),
                                   exchange->call.standing.blocked_until_us);
        }
        finish(worker, exchange);
    }
    takt_sim_exchange_drop(exchange);
}

static void tell_queue(takt_sim_event *event, void (*tell)(takt_scheduler *, takt_queue *))
{
    takt_fleet_worker *worker = event->worker;
    takt_queue *queue;

    if (takt_sim_is_for_dead(event) || worker->cut)
        return;
    queue = takt_registry_find(&worker->scheduler, worker->limit, "");
    if (!queue)
        return;
    tell(&worker->scheduler, queue);
    takt_sim_ask_pass(worker);
}

/* Permits are free: whoever is named should claim. */
static void wake_arrives(takt_fleet *fleet, takt_sim_event *event)
{
    (void)fleet;
    tell_queue(event, takt_claims_nudge);
}

static void news_arrives(takt_fleet *fleet, takt_sim_event *event)
{
    (void)fleet;
    tell_queue(event, takt_claims_hint);
}

/* Others than the claimer hear of news. */
static void send_news(takt_fleet *fleet, uint64_t claimer)
{
    for (int w = 0; w < fleet->worker_count; w++) {
        takt_fleet_worker *worker = &fleet->workers[w];
        if (worker->name == claimer ||
            takt_random_below(&fleet->random, 1000) < fleet->wakes_lost_per_mille)
            continue;
        for (int copies = draw_copies(worker); copies > 0; copies--)
            takt_sim_plan(worker, draw_arrival(fleet), news_arrives);
    }
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
                takt_sim_plan(worker, draw_arrival(fleet), wake_arrives);
        }
}

static void call_arrives(takt_fleet *fleet, takt_sim_event *event)
{
    takt_sim_exchange *exchange = event->exchange;
    takt_award award;
    takt_sim_call call = exchange->call;

    call.award = &award;
    award.run_count = 0;
    if (!fleet->store_down && !takt_sim_store_run(fleet, &call)) {
        fleet->out_of_memory = true;
    } else if (!fleet->store_down) {
        if (fleet->on_call)
            fleet->on_call(fleet, &call);
        if (call.op == TAKT_SIM_CLAIM) {
            fleet->claims++;
            if (fleet->on_award)
                fleet->on_award(fleet, call.worker, &exchange->claim, &award);
            send_wakes(fleet, &award);
            if (award.news)
                send_news(fleet, call.worker);
        }
        if (!exchange->answered) { /* what a repeated call is told goes unheard: a connection
                                      answers once */
            exchange->answered = true;
            exchange->award = award;
            exchange->call.standing = call.standing;
            send(event->worker, exchange, answer_arrives);
        }
    }
    takt_sim_exchange_drop(exchange);
}

static void times_out(takt_fleet *fleet, takt_sim_event *event)
{
    takt_sim_exchange *exchange = event->exchange;

    if (!takt_sim_is_for_dead(event) && !exchange->finished) {
        if (exchange->queue && fleet->on_failed)
            fleet->on_failed(fleet, event->worker);
        if (exchange->queue)
            takt_scheduler_failed(&event->worker->scheduler, exchange->queue, TAKT_E_STORE_TIMEOUT,
                                  takt_fleet_clock(event->worker));
        finish(event->worker, exchange);
    }
    takt_sim_exchange_drop(exchange);
}

void takt_sim_send(takt_fleet_worker *worker, takt_sim_exchange *exchange,
                   const takt_numbers *numbers)
{
    exchange->numbers = *numbers;
    exchange->call.numbers = &exchange->numbers;
    exchange->call.worker = worker->name;
    exchange->connection = worker->connection;
    exchange->incarnation = worker->incarnation;
    if (plan(worker, exchange, worker->fleet->now_us + worker->fleet->timeout_us, times_out)) {
        send(worker, exchange, call_arrives);
    } else {
        if (worker->exchange == exchange)
            worker->exchange = NULL;
        free(exchange);
    }
}

void takt_fleet_cut(takt_fleet_worker *worker, bool cut)
{
    takt_sim_exchange *exchange = worker->exchange;

    worker->cut = cut;
    if (!cut)
        return;
    worker->connection++;
    if (exchange && !worker->dead)
        plan(worker, exchange, worker->fleet->now_us, times_out);
}
