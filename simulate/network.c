/*
 * network.c: see network.h.
 */
#include "simulate/network.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "simulate/inner.h"
#include "simulate/nodes.h"

takt_sim_exchange *takt_sim_exchange_new(takt_fleet_worker *worker, int ledger, takt_op op)
{
    takt_sim_exchange *exchange = malloc(sizeof *exchange);

    if (!exchange) {
        worker->fleet->out_of_memory = true;
        return NULL;
    }
    /* only the filled part of the long lists is read */
    memset(exchange, 0, offsetof(takt_sim_exchange, numbers));
    memset(&exchange->claim, 0, offsetof(takt_claim, wants));
    memset(&exchange->award, 0, offsetof(takt_award, runs));
    exchange->worker = worker;
    exchange->ledger = ledger;
    exchange->call.op = op;
    exchange->call.limit = worker->limit;
    exchange->call.key = takt_fleet_key(ledger);
    if (op == TAKT_OP_CLAIM) {
        exchange->call.claim = &exchange->claim;
        exchange->call.award = &exchange->award;
    }
    return exchange;
}

void takt_sim_exchange_drop(takt_sim_exchange *exchange)
{
    if (--exchange->users == 0)
        free(exchange);
}

/* Plans an event that uses the exchange. */
static takt_sim_event *plan(takt_sim_exchange *exchange, int64_t at_us, takt_sim_happen happen)
{
    takt_sim_event *planned = takt_sim_plan(exchange->worker, at_us, happen);

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

static int64_t draw_arrival(const takt_fleet_worker *worker)
{
    takt_fleet *fleet = worker->fleet;
    int64_t spread = fleet->delay_max_us - fleet->delay_min_us + 1;

    return fleet->now_us + worker->far_us + fleet->delay_min_us +
           takt_random_below(&fleet->random, spread);
}

static void call_arrives(takt_fleet *fleet, takt_sim_event *event);

/* Nested claims of one pass are one call, and so are their answers: they arrive together. */
static int64_t draw_arrival_of(const takt_sim_exchange *exchange, takt_sim_happen arrive)
{
    takt_fleet_worker *worker = exchange->worker;
    takt_sim_trip *trip = &worker->trips[arrive == call_arrives];

    if (exchange->call.inner_count == 0 || exchange->call.op != TAKT_OP_CLAIM)
        return draw_arrival(worker);
    if (trip->sent_at_us != worker->fleet->now_us || trip->arrives_at_us == 0)
        *trip = (takt_sim_trip){worker->fleet->now_us, draw_arrival(worker)};
    return trip->arrives_at_us;
}

static void send(takt_sim_exchange *exchange, takt_sim_happen arrive)
{
    takt_fleet_worker *worker = exchange->worker;
    int copies = draw_copies(worker);

    if (copies > 1 && exchange->call.op == TAKT_OP_SETTLE)
        copies = 1; /* it is a change, not a situation: a connection sends it once */
    for (int i = 0; i < copies; i++) {
        int64_t arrival_us = i == 0 ? draw_arrival_of(exchange, arrive) : draw_arrival(worker);
        takt_sim_event *planned = plan(exchange, arrival_us, arrive);
        if (!planned)
            return;
        planned->incarnation = exchange->incarnation; /* not for a worker restarted since */
        planned->sent_to = exchange->node;
        planned->at_store = arrive == call_arrives;
    }
}

/* Whether the worker still waits for this answer: it counts once, and not after a time-out or on a
 * lost connection. */
static bool is_awaited(const takt_sim_event *event)
{
    const takt_sim_exchange *exchange = event->exchange;

    return !takt_sim_is_for_dead(event) && !exchange->finished &&
           exchange->connection == event->worker->connection;
}

static void finish(takt_sim_exchange *exchange)
{
    exchange->finished = true;
    exchange->call.server = takt_sim_server(exchange->worker->fleet, exchange->node);
    exchange->call.done(&exchange->call);
}

static void answer_arrives(takt_fleet *fleet, takt_sim_event *event)
{
    (void)fleet;
    if (is_awaited(event))
        finish(event->exchange);
    takt_sim_exchange_drop(event->exchange);
}

static void tell(takt_fleet_worker *worker, int ledger, takt_sim_happen happen)
{
    takt_sim_event *planned = takt_sim_plan(worker, draw_arrival(worker), happen);

    if (planned)
        planned->ledger = ledger;
}

static void tell_of_inner(takt_fleet_worker *worker, const takt_limit *limit, const char *key,
                          takt_sim_happen happen)
{
    takt_sim_event *planned = takt_sim_plan(worker, draw_arrival(worker), happen);

    if (!planned)
        return;
    planned->data = (void *)limit;
    strcpy(planned->key, key);
}

/* News reach all workers but the one that claims. */
static void send_news(takt_fleet *fleet, int ledger, uint64_t claimer)
{
    for (int w = 0; w < fleet->worker_count; w++) {
        takt_fleet_worker *worker = &fleet->workers[w];
        if (worker->name == claimer ||
            takt_random_below(&fleet->random, 1000) < fleet->wakes_lost_per_mille)
            continue;
        for (int copies = draw_copies(worker); copies > 0; copies--)
            tell(worker, ledger, fleet->happen.hint);
    }
}

/* A block of an inner ledger, or its end, is news to all workers. */
static void send_inner_news(takt_fleet *fleet, const takt_sim_exchange *exchange)
{
    for (int w = 0; w < fleet->worker_count; w++) {
        takt_fleet_worker *worker = &fleet->workers[w];
        if (worker->name != exchange->name)
            tell_of_inner(worker, exchange->call.limit, exchange->call.key,
                          fleet->happen.inner_hint);
    }
}

static void send_wakes(takt_fleet *fleet, const takt_sim_exchange *exchange,
                       const takt_award *award)
{
    for (int i = 0; i < award->wake_count; i++)
        for (int w = 0; w < fleet->worker_count; w++) {
            takt_fleet_worker *worker = &fleet->workers[w];
            int copies, ledger_no = award->wake_ledgers[i];
            if (worker->name != award->wakes[i] ||
                takt_random_below(&fleet->random, 1000) < fleet->wakes_lost_per_mille)
                continue;
            for (copies = draw_copies(worker); copies > 0; copies--, fleet->wakes++) {
                if (ledger_no == 0)
                    tell(worker, exchange->ledger, fleet->happen.wake);
                else
                    tell_of_inner(worker, exchange->call.inner[ledger_no - 1].limit,
                                  exchange->inner_keys[ledger_no - 1], fleet->happen.inner_wake);
            }
        }
}

static void tell_others(takt_fleet *fleet, const takt_sim_exchange *exchange,
                        const takt_award *award)
{
    fleet->claims++;
    if (fleet->on.award)
        fleet->on.award(fleet, exchange->name, &exchange->claim, award);
    send_wakes(fleet, exchange, award);
    if (award->news)
        send_news(fleet, exchange->ledger, exchange->name);
}

/* Nothing was run: the worker sends the call to the node that it is told of. */
static void redirection_arrives(takt_fleet *fleet, takt_sim_event *event)
{
    takt_sim_exchange *exchange = event->exchange;

    if (is_awaited(event) && !exchange->answered) {
        exchange->redirected = false;
        exchange->node = fleet->ledgers[exchange->ledger].node;
        exchange->worker->nodes[exchange->ledger] = exchange->node;
        send(exchange, call_arrives);
    }
    takt_sim_exchange_drop(exchange);
}

static void answer(takt_sim_exchange *exchange, const takt_store_call *call)
{
    exchange->answered = true;
    exchange->call.status = call->status;
    exchange->call.standing = call->standing;
    exchange->call.tag_change = call->tag_change;
    if (call->award)
        exchange->award = *call->award;
    send(exchange, answer_arrives);
}

/* Whether an award counts that the ledger's node has just made (?replicas=1). */
static bool is_acknowledged(const takt_fleet *fleet, int ledger)
{
    return !fleet->replicas || !fleet->ledgers[ledger].lags;
}

/* The store runs a call that arrives twice a second time; a connection answers once. */
static void run(takt_fleet *fleet, takt_sim_exchange *exchange)
{
    takt_store_call call = exchange->call;
    takt_award award;

    award.run_count = 0;
    call.award = call.claim ? &award : NULL;
    if (exchange->of_inner || call.inner_count > 0)
        takt_sim_inner_run(fleet, exchange->ledger,
                           takt_fleet_ledger_clock(fleet, exchange->ledger), &call);
    else
        takt_virtual_store_run(&fleet->ledgers[exchange->ledger].store,
                               takt_fleet_ledger_clock(fleet, exchange->ledger), &call);
    if (call.status == TAKT_E_NOMEM) {
        fleet->out_of_memory = true;
        return;
    }
    if (fleet->on.call)
        fleet->on.call(fleet, exchange->name, &call);
    if (call.op == TAKT_OP_CLAIM)
        tell_others(fleet, exchange, &award);
    if (exchange->of_inner && takt_store_is_news(&call))
        send_inner_news(fleet, exchange);
    if (!exchange->answered && (call.award == NULL || is_acknowledged(fleet, exchange->ledger)))
        answer(exchange, &call);
}

static void call_arrives(takt_fleet *fleet, takt_sim_event *event)
{
    takt_sim_exchange *exchange = event->exchange;
    bool is_there = fleet->ledgers[exchange->ledger].node == event->sent_to;

    if (fleet->nodes[event->sent_to].down) {
        takt_sim_exchange_drop(exchange);
        return;
    }
    if (is_there) {
        run(fleet, exchange);
    } else if (!exchange->redirected && !exchange->answered && exchange->node == event->sent_to) {
        exchange->redirected = true;
        send(exchange, redirection_arrives);
    }
    takt_sim_exchange_drop(exchange);
}

static void times_out(takt_fleet *fleet, takt_sim_event *event)
{
    takt_sim_exchange *exchange = event->exchange;

    (void)fleet;
    if (!takt_sim_is_for_dead(event) && !exchange->finished) {
        exchange->call.status = TAKT_E_STORE_TIMEOUT;
        finish(exchange);
    }
    takt_sim_exchange_drop(exchange);
}

void takt_sim_send(takt_sim_exchange *exchange, const takt_numbers *numbers)
{
    takt_fleet_worker *worker = exchange->worker;

    exchange->numbers = *numbers;
    exchange->call.numbers = &exchange->numbers;
    exchange->name = worker->name;
    exchange->connection = worker->connection;
    exchange->incarnation = worker->incarnation;
    exchange->node = worker->nodes[exchange->ledger];
    if (plan(exchange, worker->fleet->now_us + worker->fleet->timeout_us, times_out)) {
        if (exchange->call.op == TAKT_OP_CLAIM)
            worker->exchanges[exchange->ledger] = exchange;
        send(exchange, call_arrives);
    } else {
        free(exchange);
    }
}

void takt_fleet_cut(takt_fleet_worker *worker, bool cut)
{
    worker->cut = cut;
    if (!cut)
        return;
    worker->connection++;
    for (int i = 0; i < TAKT_FLEET_LEDGERS_MAX && !worker->dead; i++)
        if (worker->exchanges[i])
            plan(worker->exchanges[i], worker->fleet->now_us, times_out);
}
