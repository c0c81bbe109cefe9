/*
 * loss.c: see loss.h.
 */
#include "scheduler/loss.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/integers.h"
#include "base/random.h"
#include "scheduler/nest.h"
#include "scheduler/order.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"

#define RETRY_FIRST                                                                                \
    INT64_C(50000) /* after a failure: a random time below 50 ms, doubled with each failure */
#define RETRY_LONGEST INT64_C(2000000)
#define BELIEVED_US   INT64_C(5000000) /* longer than the pause between two attempts */
#define SEEN_FOR_US   INT64_C(60000000)

static int64_t retry_at(uint64_t *random, unsigned failures, int64_t now_us)
{
    int64_t longest = takt_min(RETRY_FIRST << takt_min(failures, 10), RETRY_LONGEST);

    return now_us + 1 + takt_random_below(random, longest);
}

static void set_ask_at(const takt_scheduler *scheduler, takt_server *server, unsigned failures,
                       int64_t now_us)
{
    uint64_t random = scheduler->worker + (uint64_t)now_us;

    server->loss.ask_at_us = retry_at(&random, failures, now_us);
}

/* The tenants of a limit and key have one pace together. */
static takt_pace *pace_of(takt_queue *queue)
{
    return queue->turn ? &queue->turn->of->pace : &queue->loss.pace;
}

static takt_share *share_of(const takt_queue *queue)
{
    return queue->turn ? queue->turn->of->pace.share : queue->loss.pace.share;
}

static int inner_count(const takt_queue *queue)
{
    return queue->nest ? queue->nest->count : 0;
}

static bool is_shared(const takt_limit *limit)
{
    return limit->on_store_failure == TAKT_ON_STORE_FAILURE_SHARE;
}

/* The shares that a queue's waiters go by, the outermost limit's last; returns their number. */
static int shares_of(const takt_queue *queue, takt_share *shares[TAKT_LEVELS_MAX])
{
    int count = 0;

    for (int i = 0; i < inner_count(queue); i++)
        if (is_shared(queue->nest->inner[i].limit))
            shares[count++] = queue->nest->inner[i].ledger->share;
    if (is_shared(queue->limit))
        shares[count++] = share_of(queue);
    return count;
}

takt_on_store_failure takt_loss_mode(const takt_queue *queue)
{
    static const takt_on_store_failure strictest_first[] = {
        TAKT_ON_STORE_FAILURE_CLOSED, TAKT_ON_STORE_FAILURE_WAIT, TAKT_ON_STORE_FAILURE_SHARE};

    for (size_t at = 0; queue->nest && at < sizeof strictest_first / sizeof strictest_first[0];
         at++) {
        if (queue->limit->on_store_failure == strictest_first[at])
            return strictest_first[at];
        for (int i = 0; i < queue->nest->count; i++)
            if (queue->nest->inner[i].limit->on_store_failure == strictest_first[at])
                return strictest_first[at];
    }
    return queue->limit->on_store_failure;
}

int64_t takt_loss_workers(const takt_queue *queue)
{
    return queue->turn ? queue->turn->of->pace.seen.workers : queue->loss.pace.seen.workers;
}

void takt_loss_set_alone(takt_queue *queue, bool alone)
{
    if (queue->turn)
        queue->turn->of->alone += alone - queue->loss.alone;
    for (int i = 0; i < inner_count(queue); i++)
        queue->nest->inner[i].ledger->alone += alone - queue->loss.alone;
    queue->loss.alone = alone;
}

/* ---- lost and back --------------------------------------------------------------------------- */

static bool may_be_of_ledger(int status)
{
    return status == TAKT_E_STORE_ACCESS || status == TAKT_E_STORE_FORMAT;
}

static takt_queue *queue_of(takt_entry *entry)
{
    return TAKT_HOLDER(entry, takt_queue, registry.entry);
}

/* The next queue of the server, in the order of the table. */
static takt_queue *next_queue(const takt_scheduler *scheduler, const takt_server *server,
                              size_t *bucket, takt_queue *queue)
{
    takt_entry *entry = queue ? queue->registry.entry.next : NULL;

    while (entry ? queue_of(entry)->server != server : *bucket < scheduler->queues.used)
        entry = entry ? entry->next : scheduler->queues.buckets[(*bucket)++];
    return entry ? queue_of(entry) : NULL;
}

void takt_loss_begin(takt_scheduler *scheduler, takt_server *server, int status, int64_t now_us)
{
    bool was_believed = server->loss.trouble != 0;
    takt_queue *queue = NULL;
    size_t bucket = 0;

    if (!takt_is_of_store(status) || may_be_of_ledger(status))
        return;
    server->loss.lost = true;
    server->loss.trouble = status;
    server->loss.believed_until_us = now_us + BELIEVED_US;
    set_ask_at(scheduler, server, server->loss.failures++, now_us);
    while (!was_believed && (queue = next_queue(scheduler, server, &bucket, queue))) {
        takt_order_unpark(scheduler, queue);
        if (queue->waiters.total > 0)
            takt_registry_touch(scheduler, queue);
    }
}

void takt_loss_end(takt_scheduler *scheduler, takt_server *server)
{
    takt_queue *queue = NULL;
    size_t bucket = 0;

    if (!server->loss.lost)
        return;
    server->loss.lost = false;
    server->loss.trouble = 0;
    server->loss.failures = 0;
    while ((queue = next_queue(scheduler, server, &bucket, queue))) {
        takt_loss_set_alone(queue, queue->loss.alone && queue->loss.trouble != 0);
        /* the first queue to claim has already waited a random time */
        queue->loss.not_before_us = 0;
        if (queue->waiters.total > 0 || queue->awarded.in_line != 0)
            takt_registry_touch(scheduler, queue);
    }
}

void takt_loss_retry(takt_scheduler *scheduler, takt_server *server)
{
    takt_queue *queue = NULL;
    size_t bucket = 0;

    server->loss.ask_at_us = 0;
    while ((queue = next_queue(scheduler, server, &bucket, queue)))
        if (queue->loss.not_before_us != 0 && !queue->claims.in_flight) {
            queue->loss.not_before_us = 0;
            takt_registry_touch(scheduler, queue);
        }
}

/* The ledger has moved to a server that has not answered yet.  No slot in hand can become due by
 * its clock, and it would cover a waiter until then. */
static void drop_undue(takt_queue *queue)
{
    if (!queue->server->clock.known)
        takt_slots_drop_before(&queue->in_hand, TAKT_NEVER);
}

void takt_loss_failed(takt_scheduler *scheduler, takt_queue *queue, int status, int64_t now_us)
{
    drop_undue(queue);
    queue->loss.not_before_us = retry_at(&scheduler->random, queue->loss.failures++, now_us);
    if (!may_be_of_ledger(status)) {
        takt_loss_begin(scheduler, queue->server, status, now_us);
        return;
    }
    takt_order_unpark(scheduler, queue);
    queue->loss.trouble = status;
    queue->loss.believed_until_us = now_us + BELIEVED_US;
    set_ask_at(scheduler, queue->server, queue->loss.failures, now_us);
}

void takt_loss_heard(takt_queue *queue)
{
    queue->loss.not_before_us = 0;
}

/* The highest number is kept for a while: workers that are served at once are seldom seen
 * together. */
static void note_workers(takt_seen *seen, int64_t workers, int64_t now_us)
{
    if (workers >= seen->workers || now_us - seen->at_us > SEEN_FOR_US)
        *seen = (takt_seen){workers, now_us};
}

/* The ledger counts a worker once for each of its tenants.  So many workers would each have as many
 * tenants there as this one, and its part of the rate is that of all of them.  An agent has counted
 * them so already. */
static int64_t count_workers(const takt_scheduler *scheduler, const takt_queue *queue,
                             int64_t claimers)
{
    bool counted = !queue->turn || scheduler->relayed;
    int64_t own = counted ? 1 : queue->turn->of->in_line + (queue->awarded.in_line == 0);

    return (claimers + own - 1) / own;
}

void takt_loss_answered(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                        int64_t now_us)
{
    int64_t workers = count_workers(scheduler, queue, award->workers + (award->in_line == 0));

    if (queue->loss.trouble != 0) {
        queue->loss.trouble = 0;
        takt_loss_set_alone(queue, false);
    }
    queue->loss.failures = 0;
    queue->loss.not_before_us = 0;
    note_workers(&pace_of(queue)->seen, workers, now_us);
    note_workers(&scheduler->seen, workers, now_us);
    takt_loss_end(scheduler, queue->server);
    /* an answer has named the server, so the store as a whole is not lost */
    takt_loss_end(scheduler, &scheduler->servers.first);
}

/* Drops a loss that is in doubt. */
static void doubt(takt_server *server, int64_t now_us)
{
    if (server->loss.trouble != 0 && server->in_flight == 0 &&
        now_us >= server->loss.believed_until_us)
        server->loss.trouble = 0;
}

bool takt_loss_asks(const takt_queue *queue, int64_t now_us)
{
    return queue->server->in_flight == 0 && !queue->claims.in_flight &&
           now_us >= queue->server->loss.ask_at_us;
}

/* ---- without the store ----------------------------------------------------------------------- */

/* The time by the store's clock; 0: not known. */
static int64_t store_now(const takt_queue *queue, int64_t now_us)
{
    const takt_clock *clock = &queue->server->clock;

    return clock->known ? takt_clock_store(clock, now_us) : 0;
}

/* Begins a pace: when all slots that the store may have given to any worker are past.  False: the
 * number of workers is unknown, no rule has a pace, or there is no memory. */
static bool begin_share(takt_scheduler *scheduler, const takt_queue *queue,
                        const takt_numbers *numbers, takt_share **share, int64_t now_us)
{
    int64_t seen = takt_loss_workers(queue), workers = seen > 0 ? seen : scheduler->seen.workers;
    int64_t from_us;

    if (workers == 0 || numbers->rule_count == 0)
        return false;
    if (!*share)
        *share = calloc(1, sizeof **share);
    if (!*share) {
        scheduler->out_of_memory = true;
        return false;
    }
    from_us = store_now(queue, now_us) + queue->numbers->lookahead_us;
    takt_share_begin(*share, numbers, workers, takt_max(from_us, queue->awarded.next_slot_at_us),
                     &scheduler->random);
    return true;
}

/* Begins the paces of a queue's limits, unless another queue has begun them already.  False: the
 * waiters go on waiting. */
static bool begin_shares(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    takt_pace *pace = pace_of(queue);
    bool begun = queue->turn && queue->turn->of->alone > 0 && pace->share;

    if (is_shared(queue->limit) && !begun &&
        !begin_share(scheduler, queue, queue->numbers, &pace->share, now_us))
        return false;
    for (int i = 0; i < inner_count(queue); i++) {
        const takt_limit *limit = queue->nest->inner[i].limit;
        takt_inner_ledger *ledger = queue->nest->inner[i].ledger;
        begun = ledger->alone > 0 && ledger->share;
        if (is_shared(limit) && !begun &&
            !begin_share(scheduler, queue, queue->nest->inner[i].numbers, &ledger->share, now_us))
            return false;
    }
    return true;
}

static bool has_shares(const takt_queue *queue)
{
    takt_share *shares[TAKT_LEVELS_MAX];
    int count = shares_of(queue, shares);

    for (int i = 0; i < count; i++)
        if (!shares[i])
            return false;
    return true;
}

/* Whether a queue is served without the store.  The first time in each loss it is noted as a
 * fallback. */
static bool goes_alone(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    bool shares = takt_loss_mode(queue) == TAKT_ON_STORE_FAILURE_SHARE;

    if (queue->loss.alone && (!shares || has_shares(queue)))
        return true;
    if (shares && !begin_shares(scheduler, queue, now_us))
        return false;
    takt_loss_set_alone(queue, true);
    takt_list_remove(&queue->loss.fallback);
    takt_list_append(&scheduler->fallbacks, &queue->loss.fallback);
    return true;
}

const takt_queue *takt_loss_next_fallback(takt_scheduler *scheduler)
{
    takt_queue *queue = TAKT_HOLDER(scheduler->fallbacks.next, takt_queue, loss.fallback);

    if (takt_list_empty(&scheduler->fallbacks))
        return NULL;
    takt_list_remove(&queue->loss.fallback);
    return queue;
}

/* The status that waiters of a queue would fail with; 0: the store is not known to be lost. */
static int trouble_of(takt_queue *queue, int64_t now_us)
{
    doubt(queue->server, now_us);
    if (queue->loss.trouble != 0 && !queue->claims.in_flight &&
        now_us >= queue->loss.believed_until_us)
        queue->loss.trouble = 0;
    return queue->loss.trouble != 0 ? queue->loss.trouble : queue->server->loss.trouble;
}

/* When the next waiter may start by a queue's inner limits, or by all of them.  A known block still
 * holds. */
static int64_t next_slot(const takt_queue *queue, bool inner, int64_t from_us)
{
    takt_share *shares[TAKT_LEVELS_MAX];
    int count = shares_of(queue, shares) - (inner && is_shared(queue->limit));

    from_us = takt_max(from_us, queue->awarded.blocked_until_us);
    for (int i = 0; i < count; i++)
        from_us = takt_share_next(shares[i], from_us);
    return from_us;
}

static void take_from(takt_share *share, takt_run slot)
{
    takt_share_take(share, slot.first.us, slot.cost, slot.more);
}

static void take(const takt_queue *queue, int64_t slot_us, int32_t cost, takt_more more)
{
    takt_run slot = takt_run_at(slot_us, 1, cost, more);

    for (int i = 0; i < inner_count(queue); i++) {
        const takt_inner *inner = &queue->nest->inner[i];
        if (is_shared(inner->limit))
            take_from(inner->ledger->share,
                      takt_chain_part(&inner->limit->numbers, inner->units, slot));
    }
    if (is_shared(queue->limit))
        take_from(share_of(queue), slot);
}

static void grant(takt_scheduler *scheduler, takt_queue *queue, int64_t slot_us)
{
    takt_permit *permit = takt_queue_first(queue);

    take(queue, slot_us, permit->cost, permit->more);
    permit->slot_at_us = slot_us;
    permit->uncharged = true;
    takt_waiter_fire(scheduler, permit, 0);
    if (queue->turn && is_shared(queue->limit))
        takt_order_started(scheduler, queue);
}

/* Whether the next slot of the outermost pace is for this queue. */
static bool has_turn(const takt_queue *queue)
{
    return !queue->turn || !is_shared(queue->limit) || takt_order_is_first(queue);
}

/* The first waiter cannot start now.  If its inner limits pace it, others have the next turns.
 * Without the clock the end of a block is unknown.  Returns when it may start, by the local clock.
 */
static int64_t put_off(takt_queue *queue, int64_t due_us, int64_t slot_us)
{
    const takt_clock *clock = &queue->server->clock;
    int64_t inner_us = next_slot(queue, true, due_us);

    if (!clock->known)
        return TAKT_NEVER;
    if (queue->nest && is_shared(queue->limit) && inner_us > due_us)
        takt_order_park(queue, takt_queue_first(queue)->priority,
                        takt_clock_local(clock, inner_us));
    return takt_clock_local(clock, slot_us);
}

bool takt_loss_serve(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us, int64_t *next_us)
{
    takt_on_store_failure mode = takt_loss_mode(queue);
    int status = trouble_of(queue, now_us);
    int64_t due_us = store_now(queue, now_us), slot_us, before = queue->waiters.total;
    takt_permit *permit;

    *next_us = TAKT_NEVER;
    if (status == 0 || mode == TAKT_ON_STORE_FAILURE_WAIT || takt_queue_is_covered(queue) ||
        !goes_alone(scheduler, queue, now_us))
        return false;
    while ((permit = takt_queue_uncovered(queue))) {
        if (mode == TAKT_ON_STORE_FAILURE_CLOSED) {
            takt_waiter_fire(scheduler, permit, status);
            continue;
        }
        if (!has_turn(queue))
            break;
        slot_us = next_slot(queue, false, due_us);
        if (slot_us > due_us) {
            *next_us = put_off(queue, due_us, slot_us);
            break;
        }
        grant(scheduler, queue, slot_us);
    }
    return queue->waiters.total < before;
}

int takt_loss_try_alone(takt_scheduler *scheduler, takt_queue *queue, int status, int32_t cost,
                        takt_more more, int64_t now_us, takt_standing *standing)
{
    takt_on_store_failure mode = takt_loss_mode(queue);
    int64_t due_us = store_now(queue, now_us), slot_us;

    drop_undue(queue);
    if (!takt_is_of_store(status) || mode == TAKT_ON_STORE_FAILURE_WAIT ||
        !goes_alone(scheduler, queue, now_us) || mode == TAKT_ON_STORE_FAILURE_CLOSED)
        return status;
    slot_us = next_slot(queue, false, due_us);
    *standing =
        (takt_standing){.now_us = due_us,
                        .limit = takt_numbers_capacity(queue->numbers, TAKT_UNIT_TOKENS, NULL),
                        .retry_after_us = slot_us - due_us,
                        .blocked_until_us = queue->awarded.blocked_until_us};
    if (slot_us > due_us || !takt_queue_is_covered(queue) ||
        (queue->turn && takt_order_any_waits(queue)))
        return TAKT_E_NO_SLOT;
    take(queue, slot_us, cost, more);
    return 0;
}
