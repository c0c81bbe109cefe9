/*
 * scheduler.c: see scheduler.h.  Decides which waiter gets a slot, and takes in an award.  claims.c
 * decides when a queue claims, refuse.c whom it refuses, waiter.c moves one permit, registry.c
 * keeps the queues, and loss.c decides what holds while the store is lost.
 */
#include "scheduler/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "core/award.h"
#include "core/line.h"
#include "scheduler/claims.h"
#include "scheduler/loss.h"
#include "scheduler/order.h"
#include "scheduler/permits.h"
#include "scheduler/refuse.h"
#include "scheduler/registry.h"
#include "scheduler/unused.h"
#include "scheduler/waiter.h"

#define IDLE_MAX 1024 /* idle queues that are kept for their next use */

static takt_queue *queue_of(const takt_link *link)
{
    return TAKT_HOLDER(link, takt_queue, registry.link);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Uses the numbers of another worker's policy for a level, which is newer than ours, or has the
 * same revision and was there first. */
static void learn(takt_scheduler *scheduler, const takt_numbers **used, takt_numbers **newer,
                  const takt_numbers *told)
{
    if (!*newer)
        *newer = malloc(sizeof **newer);
    if (!*newer) {
        scheduler->out_of_memory = true;
        return; /* the next award brings them again */
    }
    **newer = *told;
    *used = *newer;
}

/* Hands back the slots that this process reaches later than the rule's guard, because work would
 * then break the rule.  Their waiters get other slots by the next claim.  A slot that was due when
 * its award came counts as due from then on.  Otherwise no slot would be used where answers take
 * long. */
static void miss(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    int64_t guard_us = queue->in_hand.count > 0 ? takt_queue_guard(queue) : TAKT_NEVER;
    int64_t heard_us, due_us;
    takt_run run;

    if (guard_us == TAKT_NEVER)
        return;
    heard_us = takt_clock_store(&queue->server->clock, queue->awarded.at_us);
    due_us = takt_clock_store(&queue->server->clock, now_us);
    while ((takt_slots_next(&queue->in_hand) > heard_us || heard_us < due_us - guard_us) &&
           takt_slots_pop_before(&queue->in_hand, due_us - guard_us, &run)) {
        takt_unused_add(scheduler, queue, &run);
        queue->claims.nudged = true;
    }
}

void takt_scheduler_set_server(takt_scheduler *scheduler, takt_queue *queue, int number)
{
    takt_server *server = takt_servers_get(&scheduler->servers, number);

    if (server == queue->server)
        return;
    queue->server->in_flight -= queue->claims.in_flight;
    queue->server = server;
    queue->server->in_flight += queue->claims.in_flight;
    takt_loss_set_alone(queue, false); /* a share was begun by the clock of the other server */
}

/* After a while a parked queue looks again, because a hint may be lost; soon after others were
 * refused than the ledger has counted: those that came while the claim was under way. */
static int64_t park_for(const takt_award *award)
{
    return award->refused > 0 ? TAKT_KEEPALIVE_US : TAKT_PARKED_MAX_US;
}

static void note_trip(takt_queue *queue, int64_t sent_us, int64_t received_us)
{
    queue->awarded.at_us = received_us;
    queue->awarded.shorter_trip_us = takt_min(queue->awarded.round_trip_us, received_us - sent_us);
    queue->awarded.round_trip_us = received_us - sent_us;
}

/* The numbers in force for a level are newer ones of other workers, or again those of our policy:
 * `stated`.  Returns whether they are others than before. */
static bool use_level(takt_scheduler *scheduler, const takt_award *award, int ledger_no,
                      const takt_numbers **used, takt_numbers **newer, const takt_numbers *stated)
{
    bool outdated = award->outdated >> ledger_no & 1;

    if (!outdated && stated == *used)
        return false;
    if (outdated)
        learn(scheduler, used, newer, &award->newer[ledger_no]);
    else
        *used = stated;
    return true;
}

static void use_numbers(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award)
{
    bool changed =
        use_level(scheduler, award, 0, &queue->numbers, &queue->newer, takt_queue_stated(queue));

    for (int i = 0; queue->nest && i < queue->nest->count; i++) {
        takt_inner *inner = &queue->nest->inner[i];
        changed |= use_level(scheduler, award, i + 1, &inner->numbers, &inner->newer,
                             takt_inner_stated(inner));
    }
    if (changed)
        takt_waiter_review(scheduler, queue);
}

/* The slots of the award are in hand from now on. */
static void take_slots(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award)
{
    if (takt_slots_add(&queue->in_hand, award->runs, award->run_count, award->fence) < 0)
        scheduler->out_of_memory = true; /* the slots lapse */
    takt_slots_drop_before(&queue->in_hand, award->blocked_until_us);
    takt_order_told(queue, award->tag);
    if (award->run_count > 0) {
        takt_order_served(scheduler, queue);
        queue->claims.in_vain = false;
        queue->awarded.turn = takt_award_given(award);
    }
    if (takt_queue_is_covered(queue) || takt_queue_has_permits(queue))
        queue->awarded.turn = 0;
}

/* What the award says of the line, and of the next slot and claim. */
static void note_line(takt_queue *queue, const takt_award *award)
{
    queue->awarded.blocked_until_us = award->blocked_until_us;
    queue->awarded.waiting = award->waiting;
    queue->awarded.prompt = award->prompt;
    queue->awarded.crowded = award->crowded;
    queue->awarded.unlisted = award->unlisted;
    takt_turns_count(queue, award->in_line != 0);
    queue->awarded.in_line = award->in_line;
    queue->awarded.least_urgent = award->least_urgent;
    queue->awarded.again_at_us =
        award->claim_again_at_us == TAKT_NEVER
            ? TAKT_NEVER
            : takt_clock_local(&queue->server->clock, award->claim_again_at_us);
    queue->awarded.next_slot_at_us = award->next_slot_at_us;
}

/* The queue is parked if the award says so, unless it was woken since its claim: it may then have
 * lost waiters that the claim has stated. */
static void park(takt_queue *queue, const takt_award *award, int64_t received_us)
{
    queue->awarded.parked_until_us = 0;
    queue->awarded.placed = award->parked;
    if (award->parked && !(queue->claims.woken && takt_queue_has_bound(queue)))
        takt_order_park(queue, queue->claims.foremost,
                        takt_min(queue->awarded.again_at_us, received_us + park_for(award)));
}

/* The order of the steps matters.  Slots in hand are late by the award before this one.  Permits
 * are counted before the slots of this one are added.  Waiters leave when all else is known. */
void takt_scheduler_award(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                          int64_t sent_us, int64_t received_us)
{
    takt_clock *clock = &queue->server->clock;

    if (!clock->known) /* the ledger has moved: slots in hand are due by this clock now */
        takt_clock_note(clock, sent_us, received_us, award->now_us);
    miss(scheduler, queue, received_us);
    takt_claims_end(scheduler, queue);
    takt_loss_answered(scheduler, queue, award, received_us);
    note_trip(queue, sent_us, received_us);
    takt_clock_note(clock, sent_us, received_us, award->now_us);
    queue->awarded.uncontended = award->uncontended;
    if (award->taken || award->stale)
        takt_claims_hand_on(scheduler, queue);
    /* the answer to an older claim: what was given is unknown, so state it again */
    if (award->stale) {
        takt_permits_failed(scheduler, queue);
        return;
    }
    use_numbers(scheduler, queue, award);
    takt_permits_awarded(scheduler, queue, award, sent_us);
    take_slots(scheduler, queue, award);
    note_line(queue, award);
    park(queue, award, received_us);
    takt_claims_planned(queue);
    takt_refuse_excess(scheduler, queue, award, received_us);
    if (!award->unlisted)
        takt_queue_count(queue);
    takt_refuse_hopeless(scheduler, queue, received_us);
    queue->awarded.left_few = award->least_urgent < 0 && !takt_queue_has_permits(queue) &&
                              !queue->claims.dear &&
                              queue->waiters.total < 2 * queue->in_hand.count;
}

void takt_scheduler_failed(takt_scheduler *scheduler, takt_queue *queue, int status, int64_t now_us)
{
    takt_claims_end(scheduler, queue);
    takt_claims_hand_on(scheduler, queue); /* it may have been taken */
    takt_permits_failed(scheduler, queue);
    takt_loss_failed(scheduler, queue, status, now_us);
}

void takt_scheduler_blocked(takt_scheduler *scheduler, takt_queue *queue, int64_t blocked_until_us)
{
    takt_slots_drop_before(&queue->in_hand, blocked_until_us);
    if (queue->awarded.blocked_until_us != 0) /* otherwise only its inner limits hold it up */
        takt_order_unpark(scheduler, queue);
    queue->awarded.blocked_until_us = blocked_until_us;
    queue->awarded.again_at_us = 0;
    takt_registry_touch(scheduler, queue);
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* Gives due slots to waiters.  A slot that suits no waiter is of no use here. */
static void fire_due(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    int64_t due_us = takt_clock_store(&queue->server->clock, now_us);
    int64_t slot_us;

    if (queue->claims.hint != UNHINTED)
        return;
    miss(scheduler, queue, now_us);
    while (queue->waiters.total > 0 && (slot_us = takt_slots_next(&queue->in_hand)) <= due_us) {
        takt_permit *permit = takt_queue_match(queue, takt_slots_first_run(&queue->in_hand));
        int64_t fence = takt_slots_next_fence(&queue->in_hand);
        takt_run slot;
        if (!permit)
            slot = takt_slots_next_run(&queue->in_hand);
        takt_slots_pop(&queue->in_hand);
        if (!permit) {
            takt_unused_add(scheduler, queue, &slot);
            continue;
        }
        permit->slot_at_us = slot_us;
        if (takt_queue_has_permits(queue))
            takt_waiter_take(queue, permit, fence);
        takt_waiter_fire(scheduler, permit, 0);
    }
}

/* Drops slots that lie further ahead than an award can reach: the store's clock was set back after
 * them.  They would cover waiters, which then claim nothing, until the clock reaches them.  A
 * ledger that was set back as far gives them again. */
static void drop_foreign(takt_queue *queue, int64_t now_us)
{
    int64_t reach_us = queue->numbers->lookahead_us + TAKT_LOOKAHEAD_MAX_US / 2;
    int64_t furthest_us = takt_clock_store(&queue->server->clock, now_us) + reach_us;

    if (queue->in_hand.count > 0 && takt_slots_next(&queue->in_hand) > furthest_us)
        takt_slots_drop_before(&queue->in_hand, TAKT_NEVER);
}

static int64_t first_deadline(const takt_queue *queue)
{
    const takt_permit *permit = takt_queue_first_deadline(queue);

    return permit ? permit->deadline_at_us : TAKT_NEVER;
}

/* Whether nothing refers to the queue. */
static bool is_idle(const takt_queue *queue, int64_t pass_us)
{
    return pass_us == TAKT_NEVER && queue->waiters.total == 0 && !queue->claims.in_flight &&
           queue->coming == 0 && queue->holding.running == 0 && queue->weight == 0;
}

/* Waiters start, or fail because their time is over.  Returns whether some were served without the
 * store; *alone_us is when the next one will be. */
static bool serve(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us, int64_t *alone_us)
{
    takt_permits_tick(scheduler, queue, now_us);
    /* even after a suspension no waiter is served after its deadline */
    while (first_deadline(queue) < now_us)
        takt_refuse(scheduler, queue, takt_queue_first_deadline(queue), TAKT_E_DEADLINE, now_us);
    fire_due(scheduler, queue, now_us);
    drop_foreign(queue, now_us);
    while (first_deadline(queue) <= now_us)
        takt_refuse(scheduler, queue, takt_queue_first_deadline(queue), TAKT_E_DEADLINE, now_us);
    takt_permits_hand_on(scheduler, queue, now_us);
    takt_order_review(scheduler, queue);
    return takt_loss_serve(scheduler, queue, now_us, alone_us);
}

/* When a pass has to look at the queue, whatever its claims need. */
static int64_t look_at(const takt_queue *queue, int64_t now_us, int64_t alone_us)
{
    int64_t at_us =
        takt_min(takt_min(first_deadline(queue), alone_us), takt_permits_lost_at(queue));

    if (queue->in_hand.count > 0 && queue->claims.hint == UNHINTED)
        at_us = takt_min(at_us,
                         takt_clock_local(&queue->server->clock, takt_slots_next(&queue->in_hand)));
    if (queue->awarded.parked_until_us != 0 && queue->waiters.total > 0)
        at_us = takt_min(at_us, takt_min(queue->awarded.parked_until_us,
                                         takt_claims_newcomers_at(queue, now_us)));
    return at_us;
}

/* A pass's look at one queue: serves its waiters, and decides whether it claims now, and when the
 * next pass has to look at it. */
static void update(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    int64_t claim_us, pass_us, alone_us;
    bool served;

    if (queue->awarded.parked_until_us <= now_us)
        queue->awarded.parked_until_us = 0;
    if (queue->in_hand.count == 0 && queue->claims.hint == HINTED &&
        (queue->waiters.total == 0 || takt_turns_hold_up(queue)))
        queue->claims.hint = UNHINTED; /* no waiter and no slot is concerned */
    served = serve(scheduler, queue, now_us, &alone_us);
    takt_refuse_unstated(scheduler, queue,
                         now_us); /* its place in line and the loss are known by now */
    takt_unused_gather(scheduler, queue);
    /* a claim for its permits or newcomers states its waiters, too: it is no longer parked */
    if (takt_permits_claim_at(queue, now_us) <= now_us ||
        takt_claims_newcomers_at(queue, now_us) <= now_us)
        queue->awarded.parked_until_us = 0;
    takt_order_review(scheduler, queue);
    claim_us = served && takt_loss_asks(queue, now_us) ? now_us : takt_claims_at(queue, now_us);
    pass_us = look_at(queue, now_us, alone_us);
    if (claim_us <= now_us) {
        takt_registry_put(scheduler, queue, CLAIMING);
        takt_order_claims(scheduler, queue, now_us);
    } else {
        pass_us = takt_min(pass_us, claim_us);
        takt_registry_put(scheduler, queue, is_idle(queue, pass_us) ? IDLE : NOWHERE);
    }
    takt_registry_pass_at(scheduler, queue, pass_us);
}

static int64_t pass_at_of(const takt_node *timer)
{
    return TAKT_HOLDER(timer, takt_queue, registry.timer)->registry.pass_at_us;
}

/* The next queue that a pass has to look at; NULL: none. */
static takt_queue *next_for_pass(const takt_scheduler *scheduler, int64_t now_us)
{
    const takt_node *timer = scheduler->timers.first;

    if (!takt_list_empty(&scheduler->touched))
        return queue_of(scheduler->touched.next);
    return timer && pass_at_of(timer) <= now_us ? TAKT_HOLDER(timer, takt_queue, registry.timer)
                                                : NULL;
}

void takt_scheduler_run(takt_scheduler *scheduler, int64_t now_us)
{
    takt_queue *queue;

    /* Only queues idle since before this pass: no permit with a pending callback refers to them. */
    while (scheduler->idle_count > IDLE_MAX) {
        queue = queue_of(scheduler->idle.next);
        if (queue->tries > 0)
            takt_registry_touch(scheduler, queue); /* it stays, behind the others */
        else
            takt_registry_forget(scheduler, queue);
    }
    while ((queue = next_for_pass(scheduler, now_us)))
        update(scheduler, queue, now_us);
}

int64_t takt_scheduler_count_fired(const takt_scheduler *scheduler)
{
    int64_t count = 0;

    for (const takt_link *at = scheduler->fired.next; at != &scheduler->fired; at = at->next)
        count++;
    return count;
}

takt_permit *takt_scheduler_next_fired(takt_scheduler *scheduler)
{
    takt_permit *permit = takt_queue_permit(scheduler->fired.next);

    if (takt_list_empty(&scheduler->fired))
        return NULL;
    takt_list_remove(&permit->line);
    permit->state = TAKT_PERMIT_IDLE;
    if (permit->status == 0)
        takt_waiter_grant(scheduler, permit);
    return permit;
}

/* Also withdraws permits whose callbacks are due: what they were given is given back. */
static void withdraw_all(takt_scheduler *scheduler, int status)
{
    for (takt_link *at = scheduler->fired.next; at != &scheduler->fired; at = at->next) {
        takt_permit *permit = takt_queue_permit(at);
        if (permit->status == 0)
            takt_waiter_leave(scheduler, permit, status); /* stays in the list */
    }
}

void takt_scheduler_leave_all(takt_scheduler *scheduler, int status)
{
    scheduler->all_left = true;
    withdraw_all(scheduler, status);
    takt_permits_part(scheduler);
    for (size_t i = 0; i < scheduler->queues.used; i++)
        for (takt_entry *entry = scheduler->queues.buckets[i]; entry; entry = entry->next) {
            takt_queue *queue = TAKT_HOLDER(entry, takt_queue, registry.entry);
            takt_permit *permit;
            queue->holding.running = 0;
            takt_registry_touch(scheduler, queue);
            while ((permit = takt_queue_last(queue)))
                takt_waiter_leave(scheduler, permit, status);
        }
}

int64_t takt_scheduler_pass_at(const takt_scheduler *scheduler)
{
    const takt_node *first = scheduler->timers.first;

    return first ? pass_at_of(first) : TAKT_NEVER;
}
