/*
 * loss.c: see loss.h.
 */
#include "scheduler/loss.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/integers.h"
#include "base/random.h"
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
    while (!was_believed && (queue = next_queue(scheduler, server, &bucket, queue)))
        if (queue->waiters.total > 0)
            takt_registry_touch(scheduler, queue);
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
        queue->loss.alone = queue->loss.alone && queue->loss.trouble != 0;
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

void takt_loss_failed(takt_scheduler *scheduler, takt_queue *queue, int status, int64_t now_us)
{
    queue->loss.not_before_us = retry_at(&scheduler->random, queue->loss.failures++, now_us);
    if (!may_be_of_ledger(status)) {
        takt_loss_begin(scheduler, queue->server, status, now_us);
        return;
    }
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

void takt_loss_answered(takt_scheduler *scheduler, takt_queue *queue, const takt_award *award,
                        int64_t now_us)
{
    int64_t workers = award->workers + (award->in_line == 0);

    if (queue->loss.trouble != 0) {
        queue->loss.trouble = 0;
        queue->loss.alone = false;
    }
    queue->loss.failures = 0;
    queue->loss.not_before_us = 0;
    note_workers(&queue->loss.seen, workers, now_us);
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

/* Begins to pace when all slots that the store may have given to any worker are past.  False: the
 * number of workers is unknown, no rule has a pace, or there is no memory; then the waiters go on
 * waiting. */
static bool begin_share(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    int64_t workers =
        queue->loss.seen.workers > 0 ? queue->loss.seen.workers : scheduler->seen.workers;
    int64_t from_us;

    if (workers == 0 || queue->numbers->rule_count == 0)
        return false;
    if (!queue->loss.share)
        queue->loss.share = calloc(1, sizeof *queue->loss.share);
    if (!queue->loss.share) {
        scheduler->out_of_memory = true;
        return false;
    }
    from_us = store_now(queue, now_us) + queue->numbers->lookahead_us;
    takt_share_begin(queue->loss.share, queue->numbers, workers,
                     takt_max(from_us, queue->awarded.next_slot_at_us), &scheduler->random);
    return true;
}

/* Whether a queue is served without the store.  The first time in each loss it is noted as a
 * fallback. */
static bool goes_alone(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us)
{
    if (queue->loss.alone)
        return true;
    if (queue->limit->on_store_failure == TAKT_ON_STORE_FAILURE_SHARE &&
        !begin_share(scheduler, queue, now_us))
        return false;
    queue->loss.alone = true;
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

/* When the next waiter may start here.  A known block still holds. */
static int64_t next_slot(const takt_queue *queue, int64_t from_us)
{
    from_us = takt_max(from_us, queue->awarded.blocked_until_us);
    return queue->limit->on_store_failure == TAKT_ON_STORE_FAILURE_SHARE
               ? takt_share_next(queue->loss.share, from_us)
               : from_us;
}

static void grant(takt_scheduler *scheduler, takt_queue *queue, int64_t slot_us)
{
    takt_permit *permit = takt_queue_first(queue);

    if (queue->limit->on_store_failure == TAKT_ON_STORE_FAILURE_SHARE)
        takt_share_take(queue->loss.share, slot_us, permit->cost);
    permit->slot_at_us = slot_us;
    permit->uncharged = true;
    takt_waiter_fire(scheduler, permit, 0);
}

bool takt_loss_serve(takt_scheduler *scheduler, takt_queue *queue, int64_t now_us, int64_t *next_us)
{
    takt_on_store_failure mode = queue->limit->on_store_failure;
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
        slot_us = next_slot(queue, due_us);
        if (slot_us > due_us) {
            if (queue->server->clock.known) /* without the clock the end of a block is unknown */
                *next_us = takt_clock_local(&queue->server->clock, slot_us);
            break;
        }
        grant(scheduler, queue, slot_us);
    }
    return queue->waiters.total < before;
}

int takt_loss_try_alone(takt_scheduler *scheduler, takt_queue *queue, int status, int32_t cost,
                        int64_t now_us, takt_standing *standing)
{
    takt_on_store_failure mode = queue->limit->on_store_failure;
    int64_t due_us = store_now(queue, now_us), slot_us;

    if (!takt_is_of_store(status) || mode == TAKT_ON_STORE_FAILURE_WAIT ||
        !goes_alone(scheduler, queue, now_us) || mode == TAKT_ON_STORE_FAILURE_CLOSED)
        return status;
    slot_us = next_slot(queue, due_us);
    *standing =
        (takt_standing){.now_us = due_us,
                        .limit = takt_numbers_capacity(queue->numbers, TAKT_UNIT_TOKENS, NULL),
                        .retry_after_us = slot_us - due_us,
                        .blocked_until_us = queue->awarded.blocked_until_us};
    if (slot_us > due_us || !takt_queue_is_covered(queue))
        return TAKT_E_NO_SLOT;
    if (mode == TAKT_ON_STORE_FAILURE_SHARE)
        takt_share_take(queue->loss.share, slot_us, cost);
    return 0;
}
