/*
 * oracle.c: decides about each of a list of arrivals, as one worker without delay to its store.
 *
 * The scheduler's queue has the order of the waiters, and the ledger their slots.  A waiter is
 * tried at the instant that the ledger names for it, so nothing is awarded in advance and each slot
 * is exact.  This file decides when to try, which waiters to refuse because no slot within their
 * time is possible, and in which order to report the decisions.
 */
#include <takt/simulate.h>

#include <stdlib.h>

#include "base/fail.h"
#include "scheduler/queue.h"
#include "scheduler/queue_bound.h"
#include "simulate/forecast.h"
#include "simulate/levels.h"

/* One arrival whose decision is not reported yet. */
typedef struct pending {
    struct pending *next; /* in the order of the arrivals */
    takt_link refused;
    takt_permit permit; /* in the queue while it waits */
    bool decided;
    takt_decision decision;
} pending;

struct takt_oracle {
    takt_limit limit; /* with those that it is within */
    takt_ledger ledger;
    takt_memory_pages pages; /* of its logs */
    takt_queue queue;
    takt_forecast forecast;
    bool may_refuse; /* somebody has a deadline, or the line a bound: the forecast is needed */
    bool try_only;
    bool out_of_memory;
    int64_t bound; /* that many may wait; 0: any number */
    int64_t start_us;
    int64_t now_us;
    pending *first;    /* without a reported decision, in the order of arrival */
    pending *last;     /* meaningless if `first` is NULL */
    takt_link refused; /* pending, refused now, still without the ledger's standing */
    takt_decision_cb on_decision;
    void *data;
};

static pending *pending_of(const takt_link *line)
{
    return TAKT_HOLDER(TAKT_HOLDER(line, takt_permit, line), pending, permit);
}

static takt_amounts amounts_of(const takt_permit *permit)
{
    return takt_amounts_of(permit->cost, permit->more);
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* Reports the decisions that no longer depend on earlier arrivals. */
static void tell(takt_oracle *oracle)
{
    while (oracle->first && oracle->first->decided) {
        pending *told = oracle->first;
        oracle->first = told->next;
        oracle->on_decision(&told->decision, oracle->data);
        free(told);
    }
}

static bool is_out_of_memory(const takt_oracle *oracle)
{
    return oracle->out_of_memory || oracle->forecast.out_of_memory;
}

/* A call to the ledger is over. */
static void end_ledger_call(takt_oracle *oracle)
{
    if (oracle->pages.pages.trouble != TAKT_PAGES_FINE)
        oracle->out_of_memory = true;
    takt_memory_pages_end(&oracle->pages, true);
}

/* Takes tokens from the ledger now, or returns when they could be taken. */
static bool take(takt_oracle *oracle, const takt_permit *permit, int64_t *retry_at_us)
{
    bool taken =
        takt_ledger_try(&oracle->ledger, oracle->now_us, permit->cost, permit->more, retry_at_us);

    end_ledger_call(oracle);
    return taken;
}

/* Completes a decision with the ledger's standing. */
static void decide(takt_oracle *oracle, pending *arrived)
{
    takt_standing standing;

    takt_ledger_peek(&oracle->ledger, oracle->now_us, &standing);
    end_ledger_call(oracle);
    arrived->decision.remaining = standing.remaining;
    arrived->decision.reset_after_us = standing.reset_after_us;
    arrived->decided = true;
}

static void grant(takt_oracle *oracle, pending *arrived)
{
    arrived->decision.granted = 1;
    arrived->decision.slot_us = oracle->now_us - oracle->start_us;
    arrived->decision.retry_after_us = 0;
    decide(oracle, arrived);
}

/* It leaves without a charge. The state of the ledger is filled in after all events of this
 * instant. */
static void refuse(takt_oracle *oracle, pending *arrived, int64_t retry_at_us)
{
    if (arrived->permit.state == TAKT_PERMIT_WAITING) {
        takt_queue_remove(&oracle->queue, &arrived->permit);
        arrived->permit.state = TAKT_PERMIT_IDLE;
    }
    arrived->decision.retry_after_us =
        retry_at_us == TAKT_NEVER ? -1 : retry_at_us - oracle->now_us;
    takt_list_append(&oracle->refused, &arrived->refused);
}

static void decide_refused(takt_oracle *oracle)
{
    while (!takt_list_empty(&oracle->refused)) {
        pending *arrived = TAKT_HOLDER(oracle->refused.next, pending, refused);
        takt_list_remove(&arrived->refused);
        decide(oracle, arrived);
    }
}

/* ---- forecasts ------------------------------------------------------------------------------- */

/* Adds the next waiter to the forecast, or refuses it if its slot comes too late. */
static void foresee(takt_oracle *oracle, pending *arrived)
{
    const takt_permit *permit = &arrived->permit;
    int64_t slot_us = takt_forecast_slot(&oracle->forecast, oracle->now_us, amounts_of(permit));

    if (slot_us > permit->deadline_at_us)
        refuse(oracle, arrived, slot_us);
    else
        takt_forecast_take(&oracle->forecast, slot_us, amounts_of(permit), permit->priority);
}

static void foresee_all(takt_oracle *oracle)
{
    takt_forecast_begin(&oracle->forecast, &oracle->ledger, &oracle->pages);
    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        takt_link *head = &oracle->queue.waiters.lists[i], *next;
        for (takt_link *at = head->next; at != head; at = next) {
            next = at->next;
            foresee(oracle, pending_of(at));
        }
    }
}

/* Adds a new waiter: it is alone, the last in line, or before others. */
static void foresee_new(takt_oracle *oracle, pending *arrived)
{
    const takt_permit *permit = &arrived->permit;

    if (oracle->queue.waiters.total == 1) { /* it needs no forecast */
        int64_t slot_us = takt_numbers_earliest(&oracle->limit.numbers, &oracle->ledger.state,
                                                oracle->now_us, amounts_of(permit));
        oracle->forecast.valid = false;
        if (slot_us > permit->deadline_at_us)
            refuse(oracle, arrived, slot_us);
    } else if (oracle->forecast.valid && permit->priority >= oracle->forecast.last_priority) {
        foresee(oracle, arrived);
    } else {
        foresee_all(oracle);
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static pending *first_in_line(const takt_oracle *oracle)
{
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        if (oracle->queue.waiters.count[i] > 0)
            return pending_of(oracle->queue.waiters.lists[i].next);
    return NULL;
}

/* Gives all slots up to and including until_us, each at its own time. */
static void give_slots(takt_oracle *oracle, int64_t until_us)
{
    pending *first;

    while (!is_out_of_memory(oracle) && (first = first_in_line(oracle))) {
        int64_t retry_at_us;
        if (take(oracle, &first->permit, &retry_at_us)) {
            takt_queue_remove(&oracle->queue, &first->permit);
            first->permit.state = TAKT_PERMIT_IDLE;
            grant(oracle, first);
            continue;
        }
        if (retry_at_us > until_us)
            return;
        oracle->now_us = retry_at_us;
    }
}

/* Refuses the waiters above the bound.  If that is the last in line alone, the forecast undoes one
 * step. */
static void refuse_excess(takt_oracle *oracle)
{
    takt_link *before = oracle->refused.previous;
    bool is_last_alone = oracle->queue.waiters.total == oracle->bound + 1;

    (void)takt_queue_mark_stated(&oracle->queue);
    if (oracle->bound == 0 || oracle->queue.waiters.total <= oracle->bound) {
        takt_queue_count(&oracle->queue);
        return;
    }
    while (oracle->queue.waiters.total > oracle->bound) {
        takt_permit *excess =
            takt_queue_excess(&oracle->queue, takt_queue_when_full(&oracle->queue));
        is_last_alone = is_last_alone && excess == takt_queue_last(&oracle->queue);
        refuse(oracle, TAKT_HOLDER(excess, pending, permit), TAKT_NEVER);
    }
    takt_queue_count(&oracle->queue);
    if (!is_last_alone || !takt_forecast_undo(&oracle->forecast))
        foresee_all(oracle);
    for (takt_link *at = before->next; at != &oracle->refused; at = at->next) {
        pending *late = TAKT_HOLDER(at, pending, refused);
        int64_t slot_us =
            takt_forecast_slot(&oracle->forecast, oracle->now_us, amounts_of(&late->permit));
        late->decision.retry_after_us = slot_us - oracle->now_us;
    }
}

/* Finishes an instant: gives the slots that are due, refuses, then reports decisions. */
static void finish_moment(takt_oracle *oracle)
{
    give_slots(oracle, oracle->now_us);
    refuse_excess(oracle);
    decide_refused(oracle);
    tell(oracle);
}

static void advance(takt_oracle *oracle, int64_t to_us)
{
    if (to_us <= oracle->now_us)
        return;
    finish_moment(oracle);
    give_slots(oracle,
               to_us -
                   1); /* a waiter with a slot at to_us competes with arrivals of that instant */
    tell(oracle);
    oracle->now_us = to_us;
}

/* ---- arrivals -------------------------------------------------------------------------------- */

static void begin_to_wait(takt_oracle *oracle, pending *arrived)
{
    const takt_arrival *arrival = &arrived->decision.arrival;
    takt_permit *permit = &arrived->permit;

    if (!takt_numbers_can_give(&oracle->limit.numbers, amounts_of(permit))) {
        refuse(oracle, arrived, TAKT_NEVER);
        return;
    }
    permit->priority = (int8_t)arrival->priority;
    permit->state = TAKT_PERMIT_WAITING;
    permit->deadline_at_us = TAKT_NEVER;
    if (arrival->max_wait_us >= 0)
        permit->deadline_at_us = oracle->now_us + arrival->max_wait_us;
    takt_queue_add(&oracle->queue, permit);
    oracle->may_refuse = oracle->may_refuse || oracle->bound > 0 || arrival->max_wait_us >= 0;
    if (oracle->may_refuse)
        foresee_new(oracle, arrived);
}

static void try_now(takt_oracle *oracle, pending *arrived)
{
    int64_t retry_at_us;

    if (take(oracle, &arrived->permit, &retry_at_us))
        grant(oracle, arrived);
    else
        refuse(oracle, arrived, retry_at_us);
}

static bool is_possible(const takt_oracle *oracle, const takt_arrival *arrival)
{
    return arrival->at_us >= 0 && arrival->at_us <= TAKT_SPAN_MAX_US &&
           oracle->start_us + arrival->at_us >= oracle->now_us && arrival->priority >= 0 &&
           arrival->priority <= TAKT_PRIORITY_MAX && arrival->max_wait_us >= -1 &&
           arrival->max_wait_us <= TAKT_SPAN_MAX_US;
}

/* Sets what an arrival takes. */
static int read_amounts(const takt_limit *limit, const takt_arrival *arrival, takt_permit *permit,
                        takt_error *error)
{
    if (arrival->cost < 0 || arrival->cost > TAKT_COST_MAX)
        return takt_fail(error, TAKT_E_INVALID, "a cost of %d; ask for 0 to %d", (int)arrival->cost,
                         TAKT_COST_MAX);
    if (arrival->cost == 0)
        return 0;
    return takt_levels_amounts(limit, arrival->cost, arrival->amounts, &permit->cost, &permit->more,
                               error);
}

int takt_oracle_arrive(takt_oracle *oracle, const takt_arrival *arrival)
{
    takt_permit permit = {0};
    pending *arrived;

    if (!is_possible(oracle, arrival) || read_amounts(&oracle->limit, arrival, &permit, NULL) != 0)
        return TAKT_E_INVALID;
    arrived = calloc(1, sizeof *arrived);
    if (!arrived)
        return TAKT_E_NOMEM;
    arrived->permit = permit;
    arrived->decision = (takt_decision){.arrival = *arrival, .slot_us = -1};
    advance(oracle, oracle->start_us + arrival->at_us);
    if (oracle->first)
        oracle->last->next = arrived;
    else
        oracle->first = arrived;
    oracle->last = arrived;
    if (arrival->cost == 0) {
        finish_moment(oracle); /* it sees what those before it took */
        grant(oracle, arrived);
    } else if (oracle->try_only) {
        try_now(oracle, arrived);
        decide_refused(oracle);
    } else {
        begin_to_wait(oracle, arrived);
    }
    tell(oracle);
    return is_out_of_memory(oracle) ? TAKT_E_NOMEM : 0;
}

int takt_oracle_end(takt_oracle *oracle)
{
    finish_moment(oracle);
    give_slots(oracle, TAKT_NEVER - 1);
    tell(oracle);
    return is_out_of_memory(oracle) ? TAKT_E_NOMEM : 0;
}

/* Joins the limit with those that it is within, if arrivals can be decided. */
static int join(takt_limit *joined, const takt_limit *limit, takt_error *error)
{
    if (takt_levels_join(joined, limit, error) != 0)
        return TAKT_E_INVALID;
    if (joined->numbers.concurrency > 0)
        return takt_fail(error, TAKT_E_INVALID,
                         "the limit has concurrency, and an arrival does not say when its job "
                         "ends; simulate a fleet (--workers, --jobs and --job-time)");
    return 0;
}

int takt_oracle_check(const takt_limit *limit, const takt_arrival *arrival, takt_error *error)
{
    takt_limit joined;
    takt_permit permit = {0};
    int code;

    if (!limit)
        return takt_fail(error, TAKT_E_INVALID, "a limit is needed");
    code = join(&joined, limit, error);
    return code == 0 && arrival ? read_amounts(&joined, arrival, &permit, error) : code;
}

int takt_oracle_open(takt_oracle **oracle, const takt_limit *limit, int64_t start_us, int try_only,
                     takt_decision_cb on_decision, void *data)
{
    takt_oracle *made;

    if (!limit || !on_decision || start_us < 0 || start_us > TAKT_SPAN_MAX_US * 2)
        return TAKT_E_INVALID;
    made = calloc(1, sizeof *made);
    if (!made)
        return TAKT_E_NOMEM;
    if (join(&made->limit, limit, NULL) != 0) {
        free(made);
        return TAKT_E_INVALID;
    }
    limit = &made->limit;
    made->bound = limit->numbers.max_waiting;
    made->try_only = try_only != 0;
    made->start_us = made->now_us = start_us;
    made->on_decision = on_decision;
    made->data = data;
    takt_list_init(&made->refused);
    takt_queue_init(&made->queue, limit, "");
    takt_forecast_init(&made->forecast, &limit->numbers);
    takt_memory_pages_init(&made->pages);
    made->ledger.pages = &made->pages.pages;
    takt_ledger_init(&made->ledger, &limit->numbers, start_us);
    *oracle = made;
    return 0;
}

void takt_oracle_close(takt_oracle *oracle)
{
    if (!oracle)
        return;
    while (oracle->first) {
        pending *untold = oracle->first;
        oracle->first = untold->next;
        free(untold);
    }
    takt_queue_close(&oracle->queue);
    takt_forecast_close(&oracle->forecast);
    takt_memory_pages_close(&oracle->pages);
    free(oracle);
}
