/*
 * permits.c: see permits.h.
 */
#include "scheduler/permits.h"

#include "core/award.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"

/* Two clocks drift apart by less than this part of a lease. */
#define DRIFT 1000

static int64_t in_use(const takt_queue *queue)
{
    return queue->holding.running + queue->in_hand.count;
}

/* Whether a waiter here may take over a released permit.  (If a rule has to be asked, or others
 * wait, the award brings no numbers for that.) */
static bool may_hand_on(const takt_queue *queue, int64_t now_us)
{
    return queue->holding.told <= queue->numbers->concurrency && queue->claims.hint == UNHINTED &&
           now_us < queue->awarded.at_us + queue->numbers->lookahead_us &&
           now_us < queue->holding.leased_until_us && queue->server->clock.known &&
           takt_clock_store(&queue->server->clock, now_us) >= queue->awarded.blocked_until_us;
}

void takt_permits_hand_on(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    takt_holding *holding = &queue->holding;

    if (holding->told <= in_use(queue) || queue->waiters.total == 0 || !may_hand_on(queue, now_us))
        return;
    while (holding->told > in_use(queue) && queue->waiters.total > 0 && holding->reuses > 0) {
        takt_permit *permit = takt_queue_first(queue);
        holding->reuses--;
        permit->slot_at_us = takt_clock_store(&queue->server->clock, now_us);
        takt_waiter_take(queue, permit, holding->fence++);
        takt_waiter_fire(scheduler, permit, 0);
    }
}

/* ---- lost ------------------------------------------------------------------------------------ */

/* Whether the permit holds one of the queue's permits; if so, it no longer does. */
static bool loses(takt_permit *permit, const takt_queue *queue)
{
    if (permit->hold != TAKT_HOLD_HELD || permit->queue != queue)
        return false;
    permit->hold = TAKT_HOLD_LOST;
    return true;
}

/* For permits whose callbacks report the loss later, or that have no callback. */
static void lose_quietly(const takt_link *list, const takt_queue *queue)
{
    for (takt_link *at = list->next; at != list; at = at->next)
        (void)loses(takt_queue_permit(at), queue);
}

/* All permits of a queue are lost: running jobs get an event, other work does not begin. */
static void lose(takt_scheduler *scheduler, takt_queue *queue)
{
    takt_slots_drop_before(&queue->in_hand, TAKT_NEVER);
    for (takt_link *at = scheduler->granted.next, *next; at != &scheduler->granted; at = next) {
        next = at->next;
        if (loses(takt_queue_permit(at), queue)) {
            takt_list_remove(at);
            takt_list_append(&scheduler->losers, at);
        }
    }
    for (takt_link *at = scheduler->fired.next; at != &scheduler->fired; at = at->next) {
        takt_permit *permit = takt_queue_permit(at);
        if (permit->status == 0 && loses(permit, queue)) {
            permit->status = TAKT_E_LEASE;
            permit->slot_at_us = 0; /* nothing to settle */
            takt_waiter_drop(scheduler, permit);
        }
    }
    lose_quietly(&scheduler->quiet, queue);
    queue->holding.running = 0;
    queue->holding.unsure = true;
    takt_registry_touch(scheduler, queue);
}

int64_t takt_permits_lost_at(const takt_queue *queue)
{
    return in_use(queue) > 0 && queue->holding.told > 0 ? queue->holding.leased_until_us
                                                        : TAKT_NEVER;
}

void takt_permits_tick(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    if (now_us >= takt_permits_lost_at(queue)) {
        lose(scheduler, queue);
        queue->holding.told = 0;
    }
}

takt_permit *takt_permits_next_loser(takt_scheduler *scheduler)
{
    takt_link *first = scheduler->losers.next;

    if (takt_list_empty(&scheduler->losers))
        return NULL;
    takt_list_remove(first);
    takt_list_append(&scheduler->granted, first); /* it is still to be released */
    return takt_queue_permit(first);
}

static void let_all_go(const takt_link *list)
{
    for (takt_link *at = list->next; at != list; at = at->next)
        takt_queue_permit(at)->hold = TAKT_HOLD_LOST;
}

void takt_permits_part(takt_scheduler *scheduler)
{
    let_all_go(&scheduler->granted);
    let_all_go(&scheduler->losers);
    let_all_go(&scheduler->quiet);
}

/* ---- claims ---------------------------------------------------------------------------------- */

int64_t takt_permits_mark_told(takt_queue *queue)
{
    if (takt_queue_has_permits(queue) || queue->holding.told > 0)
        queue->holding.told = in_use(queue);
    return queue->holding.told;
}

void takt_permits_awarded(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                          int64_t sent_us)
{
    takt_holding *holding = &queue->holding;
    int64_t lease_us = takt_queue_lease(queue), given;

    holding->unsure = false;
    if (!takt_queue_has_permits(queue)) {
        holding->told = 0;
        return;
    }
    given = takt_award_given(award);
    if (award->holding < holding->told + given)
        lose(scheduler, queue);
    holding->told = award->holding;
    holding->leased_until_us = sent_us + lease_us - lease_us / DRIFT - award->lease_spent_us;
    holding->fence = award->fence + given;
    holding->reuses = award->reuses;
}

void takt_permits_failed(const takt_scheduler *scheduler, takt_queue *queue)
{
    /* when closing, the call is not repeated: the lease ends by itself */
    queue->holding.unsure = !scheduler->all_left && takt_queue_has_permits(queue);
    if (scheduler->all_left)
        queue->holding.told = 0;
}

int64_t takt_permits_woken_at(const takt_queue *queue, int64_t now_us)
{
    int64_t pause_us = queue->numbers->lookahead_us / TAKT_LOOKAHEAD_FRACTION_FIRST;

    return queue->claims.in_vain ? takt_max(now_us, queue->claims.sent_at_us + pause_us) : now_us;
}

int64_t takt_permits_claim_at(const takt_queue *queue, int64_t now_us)
{
    int64_t used = in_use(queue), told = queue->holding.told;
    int64_t renew_us = queue->claims.sent_at_us + takt_queue_lease(queue) / 3;

    if (queue->holding.unsure || told > used)
        return now_us;
    /* A holder that is woken claims to learn the state of its permits.  Just after a claim the
     * wake-up was mostly for a waiter that has its permit by now. */
    if (queue->claims.nudged && told > 0)
        return takt_max(
            now_us, takt_min(queue->claims.sent_at_us + queue->numbers->lookahead_us, renew_us));
    if (queue->claims.woken && told > 0)
        return takt_min(takt_permits_woken_at(queue, now_us), takt_max(now_us, renew_us));
    if (told == 0 && (used == 0 || !takt_queue_has_permits(queue)))
        return TAKT_NEVER;
    return renew_us;
}

bool takt_permits_are_held(const takt_permit *permit, int64_t now_us)
{
    const takt_queue *queue = permit->queue;

    if (permit->hold != TAKT_HOLD_HELD)
        return permit->hold == TAKT_HOLD_NONE;
    return !takt_queue_has_permits(queue) || now_us < queue->holding.leased_until_us;
}
