/*
 * claims.c: see claims.h.
 */
#include "scheduler/claims.h"

#include "base/integers.h"
#include "core/tenant_name.h"
#include "scheduler/loss.h"
#include "scheduler/nest.h"
#include "scheduler/order.h"
#include "scheduler/permits.h"
#include "scheduler/registry.h"
#include "scheduler/turns.h"
#include "scheduler/waiter.h"

#define TURNS_ENOUGH 8 /* in a lookahead: first_slot_after */

/* ---- reasons to claim ------------------------------------------------------------------------ */

void takt_claims_nudge(takt_scheduler *scheduler, takt_queue *queue)
{
    queue->claims.nudged = true;
    takt_registry_touch(scheduler, queue);
}

void takt_claims_wake(takt_scheduler *scheduler, takt_queue *queue)
{
    if (!queue->turn)
        queue->claims.nudged = true;
    else if (queue->awarded.in_line != 0)
        queue->claims.woken = true;
    takt_registry_touch(scheduler, queue);
}

void takt_claims_wake_inner(takt_scheduler *scheduler, takt_queue *queue)
{
    if (takt_queue_is_covered(queue))
        return;
    takt_order_unpark(scheduler, queue);
    queue->claims.woken = true;
    takt_registry_touch(scheduler, queue);
}

void takt_claims_outdated(takt_scheduler *scheduler, takt_queue *queue)
{
    queue->claims.outdated = true;
    takt_registry_touch(scheduler, queue);
}

void takt_claims_hint(takt_scheduler *scheduler, takt_queue *queue)
{
    queue->claims.hint = HINTED;
    takt_loss_heard(queue);
    if (queue->awarded.blocked_until_us != 0) /* otherwise only its inner limits hold it up */
        takt_order_unpark(scheduler, queue);
    takt_registry_touch(scheduler, queue);
}

void takt_claims_hint_inner(takt_scheduler *scheduler, takt_queue *queue)
{
    takt_order_unpark(scheduler, queue);
    takt_claims_hint(scheduler, queue);
}

/* ---- when ------------------------------------------------------------------------------------ */

/* The most urgent priority of the waiters; there is at least one. */
static int most_urgent(const takt_queue *queue)
{
    int priority = 0;

    while (queue->waiters.count[priority] == 0)
        priority++;
    return priority;
}

/* Whether we stand in line with that priority or a more urgent one. */
static bool stands_for(const takt_queue *queue, int priority)
{
    return (queue->awarded.in_line & ((2U << priority) - 1)) != 0;
}

/*
 * When a queue that was served claims for its new waiters.  It does not claim for each of them: it
 * waits until half a lookahead of the slots in hand is left, or half of the slots if they reach
 * less far.  In any case the answer must come before the slots run out.
 */
static int64_t refill_at(const takt_queue *queue)
{
    int64_t last_us = takt_clock_local(&queue->server->clock, takt_slots_last(&queue->in_hand));
    int64_t half_us = takt_min(queue->numbers->lookahead_us, last_us - queue->awarded.at_us) / 2;

    return last_us - takt_max(half_us, 2 * queue->awarded.round_trip_us);
}

/* When a queue whose waiters were served claims for those that have come since.  Among tenants a
 * few come soon into line, so that the turns of others do not pass meanwhile. */
static int64_t newly_at(const takt_queue *queue)
{
    int64_t soon_us =
        queue->claims.sent_at_us + queue->numbers->lookahead_us / TAKT_LOOKAHEAD_FRACTION;

    return queue->turn && queue->awarded.least_urgent >= 0 ? takt_min(refill_at(queue), soon_us)
                                                           : refill_at(queue);
}

/*
 * When a queue claims for waiters that stand in line.  The ledger plans for the waiters that it
 * knows.  If they are fewer than the slots in hand, it has room for them soon, and a claim at that
 * time brings slots for few others.  So the queue waits for more waiters, as it does when all were
 * served.  The slots of its waiters follow those in hand, and the ledger keeps them.
 */
static int64_t next_turn_at(const takt_queue *queue)
{
    int64_t at_us = queue->awarded.again_at_us;

    if (queue->awarded.left_few && queue->in_hand.count > 0)
        at_us = takt_max(at_us, refill_at(queue));
    return takt_min(at_us, queue->claims.sent_at_us + TAKT_KEEPALIVE_US);
}

/* Whether its queues are subjects alone, which have equal turns. */
static bool has_equal_turns(const takt_queue *queue)
{
    return queue->nest && queue->limit->fair == TAKT_FAIR_WORKER &&
           queue->nest->inside != TAKT_INSIDE_WITHIN;
}

/*
 * How long after the time of its claim the first slot of a queue's short turn is due, at least: its
 * last slot is due a whole lookahead after that time.  0: that is not known.  If the claim is in
 * vain, other workers have to use the slots in the rest of that time.  So the rules must give
 * enough turns that some of these workers claim, and no level between must hold them up.
 */
static int64_t first_slot_after(const takt_queue *queue)
{
    const takt_numbers *numbers = queue->numbers;
    int64_t lookahead_us = numbers->lookahead_us, turn = queue->awarded.turn;
    int64_t slots = takt_numbers_throughput(numbers, NULL, lookahead_us).of[TAKT_UNIT_TOKENS];

    if (turn == 0 || turn * TURNS_ENOUGH > slots || !has_equal_turns(queue) ||
        queue->nest->count > 1)
        return 0;
    lookahead_us = takt_min(lookahead_us, queue->nest->inner[0].numbers->lookahead_us);
    return lookahead_us - (turn - 1) * numbers->lookahead_us / slots;
}

/*
 * How long after its time a queue of nested work may claim, so that others of this worker come into
 * turn and their claims go together.  The first slot of its turn is due half a lookahead after that
 * time, or later, and that of a short turn nearly a whole one.  A part of that is left for the
 * trip, and more if both of the last ones took longer: many claims at once take long at a server,
 * and each of them alone does not.  If it was told to claim soon, its slot may be nearer.
 */
static int64_t spare_time(const takt_queue *queue)
{
    int64_t told_us = queue->awarded.again_at_us - queue->awarded.at_us;
    int64_t half_us = queue->numbers->lookahead_us / 2;
    int64_t whole_us, due_us, most_us;

    if (!queue->nest || queue->awarded.prompt || queue->turn->of->standing_count == 1)
        return 0;
    whole_us = first_slot_after(queue);
    due_us = takt_max(half_us, whole_us);
    most_us = takt_max(half_us / 2, whole_us - whole_us / 5);
    return takt_max(takt_min(takt_min(most_us, due_us - queue->awarded.shorter_trip_us), told_us),
                    0);
}

/* When a queue claims for waiters that stand in line: from its time on, with other queues of its
 * turns if their call has space, or alone after a while. */
static int64_t gathered_at(const takt_queue *queue, int64_t now_us)
{
    int64_t at_us = next_turn_at(queue);

    if (queue->awarded.again_at_us == TAKT_NEVER ||
        (queue->turn && queue->turn->of->claimed_at_us == now_us && at_us <= now_us &&
         queue->turn->of->claims % TAKT_BATCH_MAX != 0))
        return at_us;
    return at_us + spare_time(queue);
}

static const takt_more one_of_each = {{1, 1, 1}};

/* Whether the waiter that the ledger plans for has gone, and those behind it need less. */
static bool has_lost_head(const takt_queue *queue)
{
    const takt_more *planned = &queue->claims.planned_more;
    const takt_permit *first;

    if (queue->awarded.in_line == 0 ||
        (queue->claims.planned <= 1 && takt_more_within(*planned, one_of_each)))
        return false;
    first = takt_queue_uncovered(queue);
    if (queue->claims.planned > 1 && (!first || first->cost < queue->claims.planned))
        return true;
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        if (planned->of[i] > 1 && (!first || first->more.of[i] < planned->of[i]))
            return true;
    return false;
}

int64_t takt_claims_newcomers_at(const takt_queue *queue, int64_t now_us)
{
    int64_t pause_us = takt_queue_stated(queue)->lookahead_us / TAKT_LOOKAHEAD_FRACTION_FIRST;
    int64_t uncounted = queue->waiters.total - queue->waiters.counted;

    if (queue->awarded.unlisted || uncounted <= queue->in_hand.count)
        return TAKT_NEVER;
    if (!takt_queue_may_overflow(queue, uncounted)) {
        if (queue->awarded.parked_until_us == 0 || !takt_queue_has_bound(queue))
            return TAKT_NEVER;
        pause_us = TAKT_KEEPALIVE_US;
    }
    return takt_max(now_us, queue->claims.sent_at_us + pause_us);
}

void takt_claims_planned(takt_queue *queue)
{
    const takt_permit *first =
        queue->claims.dear && queue->awarded.in_line != 0 ? takt_queue_uncovered(queue) : NULL;

    queue->claims.planned = first ? first->cost : 0;
    queue->claims.planned_more = first ? first->more : TAKT_NO_MORE;
}

/* Whether a ledger has waiters of the queue that it does not have any longer: those of a parked one
 * are in the lines of its inner limits (core/inner_line.h). */
static bool is_listed(const takt_queue *queue)
{
    return queue->awarded.in_line != 0 || (queue->awarded.placed && takt_queue_is_covered(queue));
}

/* Whether no waiter may claim or needs a slot. */
static bool claims_for_none(const takt_queue *queue)
{
    return takt_turns_hold_up(queue) || takt_queue_is_covered(queue);
}

static bool is_store_lost(const takt_queue *queue)
{
    return queue->loss.trouble != 0 || queue->server->loss.trouble != 0;
}

/* Whether other workers' waiters go first. */
static bool is_behind(const takt_queue *queue)
{
    return queue->in_hand.count > 0 && most_urgent(queue) >= queue->awarded.least_urgent;
}

/* Whether too many tenants wait, so that the ledger told it to come back later. */
static bool is_sent_away(const takt_queue *queue)
{
    return !queue->turn && queue->awarded.again_at_us != TAKT_NEVER;
}

/* Whether the ledger plans for a waiter that is as urgent, or one has a slot. */
static bool is_expected(const takt_queue *queue)
{
    return queue->in_hand.count > 0 || stands_for(queue, most_urgent(queue));
}

/* When the queue claims for its waiters.  At once if one of them goes before others in the fleet.
 */
static int64_t waiters_at(const takt_queue *queue, int64_t now_us)
{
    bool in_line = queue->awarded.in_line != 0;

    if (queue->claims.nudged || has_lost_head(queue))
        return now_us;
    if (queue->claims.woken)
        return takt_permits_woken_at(queue, now_us);
    if (in_line && is_expected(queue))
        return gathered_at(queue, now_us);
    if (!in_line && is_behind(queue))
        return newly_at(queue);
    if (!in_line && is_sent_away(queue))
        return takt_max(now_us, queue->awarded.again_at_us);
    return now_us;
}

int64_t takt_claims_at(const takt_queue *queue, int64_t now_us)
{
    bool for_none;
    int64_t at_us, permits_us;

    if (queue->claims.in_flight)
        return TAKT_NEVER;
    if (queue->claims.hint == HINTED)
        return now_us;
    if (queue->claims.outdated)
        return takt_max(now_us, queue->loss.not_before_us);
    permits_us = takt_permits_claim_at(queue, now_us);
    for_none = claims_for_none(queue);
    /* For none of its waiters it claims only to leave a line that still has some of them. */
    if (for_none && (!is_listed(queue) || is_store_lost(queue)))
        return takt_max(permits_us, queue->loss.not_before_us);
    at_us = for_none ? now_us : waiters_at(queue, now_us);
    if (at_us > now_us)
        at_us = takt_min(at_us, takt_claims_newcomers_at(queue, now_us));
    return takt_max(takt_min(at_us, permits_us), queue->loss.not_before_us);
}

/* ---- what ------------------------------------------------------------------------------------ */

/* After a hint the next slot in hand is offered to more urgent work.  It is late enough to reach
 * another worker first, and so near that no other worker's slot is much nearer: within two emission
 * intervals. */
static takt_offer make_offer(const takt_queue *queue, int64_t store_us)
{
    const takt_numbers *numbers = queue->numbers;
    int64_t from_us = store_us + numbers->lookahead_us / TAKT_LOOKAHEAD_FRACTION_FIRST +
                      2 * queue->awarded.round_trip_us;
    takt_offer offer = {.cost = 0};
    int64_t slots;

    if (queue->claims.hint != HINTED || queue->waiters.total == 0 || queue->in_hand.count == 0 ||
        takt_queue_has_permits(queue) || takt_numbers_count_more(numbers) ||
        most_urgent(queue) == 0)
        return offer;
    slots = takt_amounts_least(takt_numbers_throughput(numbers, NULL, numbers->lookahead_us));
    offer.slot_us = takt_slots_from(&queue->in_hand, from_us, &offer.cost);
    offer.priority = most_urgent(queue);
    if (slots == 0 || offer.slot_us > from_us + 2 * numbers->lookahead_us / slots)
        offer.cost = 0;
    return offer;
}

/* The ledger learns the deadlines up to this instant.  Without the server's clock it learns none: a
 * slot that comes too late is handed back. */
static int64_t told_until(const takt_queue *queue, int64_t now_us)
{
    return queue->server->clock.known ? now_us + queue->numbers->lookahead_us : -TAKT_NEVER;
}

/* Who claims, and what is held. */
static void state(takt_scheduler *scheduler, takt_queue *queue, takt_claim *claim)
{
    claim->tenant = takt_turns_tenant(queue);
    claim->tenant_weight = queue->turn ? queue->turn->weight : 1;
    claim->waited_from = takt_order_waited_from(queue);
    claim->process = scheduler->worker;
    claim->worker = takt_tenant_worker(scheduler->worker, claim->tenant);
    claim->inner_tenant = NULL;
    claim->inner_weight = 0;
    claim->within_turns = queue->nest && queue->nest->inside == TAKT_INSIDE_WITHIN;
    if (queue->nest) {
        claim->worker = takt_nest_worker(queue, scheduler->worker);
        claim->inner_tenant = takt_nest_tenant(queue, 0, &claim->inner_weight);
    }
    claim->seq = ++scheduler->seq;
    claim->holding = takt_permits_mark_told(queue);
    claim->workers = takt_loss_workers(queue);
    claim->in_line = claim->uncontended = false;
    claim->waiting = claim->newcomers = claim->weight = claim->want_count = 0;
}

/* Whether the queue gives its place in line to another one of its worker once it was served.
 * Behind an agent it has its place here alone, and the agent has to know all waiters. */
static bool leaves_after_turn(const takt_scheduler *scheduler, const takt_queue *queue)
{
    return !scheduler->relayed && has_equal_turns(queue) && !takt_queue_has_bound(queue) &&
           !takt_queue_has_permits(queue) && takt_order_is_waited_for(queue);
}

/* The claim states as many waiters as a turn may have, so that the place is gone when these are
 * served, and needs no claim to leave.  All queues in line are of different subjects, so a turn has
 * a part of what a lookahead has, or what the rules give at once. */
static void want_turn(const takt_queue *queue, takt_claim *claim)
{
    const takt_numbers *numbers = queue->numbers;
    int64_t tokens = takt_max(
        takt_numbers_capacity(numbers, TAKT_UNIT_TOKENS, NULL),
        takt_numbers_throughput(numbers, NULL, numbers->lookahead_us).of[TAKT_UNIT_TOKENS]);
    int64_t left = takt_ceil_div(tokens, queue->turn->of->standing_count);

    claim->waiting = takt_min(claim->waiting, left);
    for (int i = 0; i < claim->want_count; i++) {
        claim->wants[i].count = takt_min(claim->wants[i].count, left);
        left -= claim->wants[i].count;
        if (left == 0)
            claim->want_count = i + 1;
    }
}

takt_queue *takt_claims_next(takt_scheduler *scheduler, int64_t now_us, takt_claim *claim)
{
    takt_queue *queue;
    int64_t store_us;

    if (takt_list_empty(&scheduler->claiming))
        return NULL;
    queue = TAKT_HOLDER(scheduler->claiming.next, takt_queue, registry.link);
    store_us = takt_clock_store(&queue->server->clock, now_us);
    takt_registry_put(scheduler, queue, NOWHERE);
    state(scheduler, queue, claim);
    claim->weight = takt_nest_has_tenants(queue) ? 1 : queue->weight;
    claim->distant =
        queue->awarded.round_trip_us > queue->numbers->lookahead_us / TAKT_LOOKAHEAD_FRACTION;
    claim->offer = queue->claims.offer = make_offer(queue, store_us);
    if (!takt_turns_hold_up(queue)) {
        claim->newcomers = takt_queue_mark_stated(queue);
        takt_queue_wants(queue, told_until(queue, now_us), now_us - store_us, claim);
        if (leaves_after_turn(scheduler, queue))
            want_turn(queue, claim);
    }
    claim->in_line = queue->awarded.in_line != 0;
    claim->uncontended = queue->awarded.uncontended &&
                         queue->awarded.next_slot_at_us <= store_us + queue->numbers->lookahead_us;
    queue->claims.foremost = claim->want_count > 0 ? claim->wants[0].priority : 0;
    queue->claims.dear = false;
    for (int i = 0; i < claim->want_count; i++)
        queue->claims.dear |=
            claim->wants[i].cost > 1 || !takt_more_within(claim->wants[i].more, one_of_each);
    queue->claims.least = queue->claims.dear
                              ? takt_claim_least(claim, queue->numbers, takt_queue_units(queue))
                              : takt_amounts_of_cost(1);
    queue->claims.in_flight = true;
    queue->server->in_flight++;
    queue->claims.in_vain = queue->claims.woken;
    queue->claims.nudged = queue->claims.woken = false;
    queue->claims.tried = queue->claims.outdated = false;
    if (queue->claims.hint == HINTED)
        queue->claims.hint = HINT_CLAIMED;
    queue->claims.sent_at_us = now_us;
    return queue;
}

void takt_claims_hand_on(takt_scheduler *scheduler, takt_queue *queue)
{
    takt_offer *offer = &queue->claims.offer;

    if (offer->cost > 0 && takt_slots_take_out(&queue->in_hand, offer->slot_us, offer->cost) < 0)
        scheduler->out_of_memory = true; /* the slots lapse */
    offer->cost = 0;
}

void takt_claims_end(takt_scheduler *scheduler, takt_queue *queue)
{
    queue->server->in_flight--;
    queue->claims.in_flight = false;
    if (queue->claims.hint == HINT_CLAIMED)
        queue->claims.hint = UNHINTED;
    takt_registry_touch(scheduler, queue);
}

/* ---- tries ----------------------------------------------------------------------------------- */

bool takt_claims_begin_try(takt_scheduler *scheduler, takt_queue *queue, takt_claim *claim)
{
    if (queue->claims.in_flight || (queue->registry.list == CLAIMING && queue->claims.tried))
        return false;
    takt_registry_put(scheduler, queue, TOUCHED); /* a claim that is due comes after the try */
    queue->claims.tried = true;
    state(scheduler, queue, claim);
    claim->distant = false;
    claim->offer = queue->claims.offer = (takt_offer){.cost = 0};
    queue->claims.in_flight = true;
    queue->server->in_flight++;
    return true;
}

void takt_claims_tried(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                       int64_t sent_us, takt_permit *permit)
{
    takt_claims_end(scheduler, queue);
    if (!award || award->stale) {
        takt_permits_failed(scheduler, queue);
        return;
    }
    takt_permits_awarded(scheduler, queue, award, sent_us);
    if (!permit || award->run_count == 0 || !takt_queue_has_permits(queue))
        return;
    takt_waiter_take(queue, permit, award->fence);
    takt_list_append(&scheduler->quiet, &permit->line);
}
