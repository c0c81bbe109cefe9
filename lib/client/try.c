/*
 * try.c: takt_try_acquire: takes a cost now from all levels of a request, or takes nothing.
 *
 * With `within` a try peeks at every level first that enforces.  If all seem to have enough it
 * takes from each.  Otherwise it tries the level that lacks tokens, whose answer says when there
 * will be enough.  While the store is lost each limit's on_store_failure decides.  Levels in shadow
 * come last, and each is tried for itself: they refuse nothing.
 */
#include "client/try.h"

#include <string.h>

#include "base/fail.h"
#include "client/call.h"
#include "scheduler/claims.h"
#include "scheduler/loss.h"
#include "scheduler/permits.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"
#include "shadow/shadow.h"

/* ---- the end --------------------------------------------------------------------------------- */

/* The permit's fencing number is that of the innermost limit with permits, also if another level
 * was tried first. */
static void choose_fence(const takt_calling *calling)
{
    takt_scheduler *scheduler = &calling->client->scheduler;
    takt_permit *permit = calling->trying.permit;

    for (int level = 0; level < calling->levels.count; level++) {
        const takt_queue *queue =
            takt_registry_find_tenant(scheduler, calling->levels.limits[level],
                                      calling->keys[level], calling->tenants[level].name);
        for (int i = 0; i < permit->hold_count; i++)
            if (permit->holds[i].queue == queue) {
                permit->fence = permit->holds[i].fence;
                return;
            }
    }
}

/* The permit takes what the request takes of that level. */
static void take_amounts(takt_permit *permit, const takt_levels *levels, int level)
{
    permit->cost = (int32_t)levels->costs[level];
    permit->more = takt_request_more(levels, level);
}

/* Sets the permit's state after a try.  If the answer was late its lease may already be over. */
static void settle_permit(takt_calling *calling)
{
    takt_scheduler *scheduler = &calling->client->scheduler;
    takt_permit *permit = calling->trying.permit;
    takt_store_call *call = &calling->call;

    if (call->status == 0 && !takt_permits_are_held(permit, takt_timer_now()))
        call->status = TAKT_E_LEASE;
    if (call->status == 0 && takt_client_is_forked(calling->client))
        call->status = TAKT_E_FORKED;
    if (call->status == 0 && calling->client->closing)
        call->status = TAKT_E_CANCELED;
    takt_shadow_try_end(&calling->client->shadows, permit, call->status == 0);
    if (call->status == 0) {
        permit->slot_at_us = calling->trying.slot_us;
        permit->uncharged = permit->uncharged || calling->trying.enforcing == 0;
        if (calling->trying.enforcing > 0)
            take_amounts(permit, &calling->levels, calling->trying.enforcing - 1);
        if (calling->trying.first != 0)
            choose_fence(calling);
        takt_waiter_grant(scheduler, permit);
    } else {
        permit->uncharged = false;
        if (call->status == TAKT_E_NO_SLOT)
            permit->retry_after_us = call->standing.retry_after_us;
        takt_waiter_release(scheduler, permit);
    }
}

static void finish(takt_calling *calling)
{
    const takt_trying *trying = &calling->trying;
    const takt_standing *standing;

    settle_permit(calling);
    standing =
        calling->call.status == 0 && trying->given ? &trying->tightest : &calling->call.standing;
    takt_call_finish(calling, trying->blind && !trying->given ? NULL : standing);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* The queue of the tenant that the try is for, at its present level; NULL: no memory. */
static takt_queue *queue_of(takt_calling *calling)
{
    const takt_called_for *tenant = &calling->tenants[calling->level];

    return takt_client_queue(calling->client, calling->call.limit, calling->call.key,
                             tenant->given ? tenant->name : NULL, tenant->weight);
}

/* A try at a limit with permits states the held permits, as a claim does. Only one such call is
 * under way at a time. */
static bool is_held_up(takt_calling *calling)
{
    takt_scheduler *scheduler = &calling->client->scheduler;
    takt_trying *trying = &calling->trying;

    trying->queue = NULL;
    calling->call.claim = NULL;
    if (calling->call.op != TAKT_OP_TRY)
        return false;
    trying->claim = (takt_claim){.worker = scheduler->worker};
    trying->queue = queue_of(calling);
    if (trying->queue && trying->queue->numbers->concurrency == 0)
        trying->queue = NULL;
    if (!trying->queue)
        return false;
    calling->call.claim = &trying->claim;
    calling->call.queue = trying->queue->registry.entry.key;
    calling->call.queue_size = trying->queue->registry.entry.size;
    calling->call.award = &trying->award;
    return !takt_claims_begin_try(scheduler, trying->queue, &trying->claim);
}

static void submit(takt_calling *calling, int level)
{
    takt_call_aim(calling, level);
    if (is_held_up(calling))
        takt_list_append(&calling->client->held_tries, &calling->trying.held);
    else
        takt_call_send(calling);
}

void takt_try_send_held(takt_client *client)
{
    takt_link held;

    takt_list_init(&held);
    takt_list_move(&held, &client->held_tries);
    while (!takt_list_empty(&held)) {
        takt_calling *calling = TAKT_HOLDER(held.next, takt_calling, trying.held);
        takt_list_remove(&calling->trying.held);
        if (calling->levels.count > 0)
            submit(calling, calling->level);
        else
            finish(calling);
    }
}

/* The level to take from next: the level tried first comes first, then the others that enforce,
 * then those in shadow, the innermost first. */
static int next_to_take(const takt_calling *calling)
{
    int first = calling->trying.first;
    int next = calling->level == first ? 0 : calling->level + 1;

    return next == first ? next + 1 : next;
}

/* Whether the level has as much left of each unit as the request takes. */
static bool has_left(const takt_store_call *call)
{
    for (int i = 0; i < call->standing.rule_count * TAKT_MORE_MAX; i++) {
        const takt_rule_standing *rule = &call->standing.rules[i / TAKT_MORE_MAX];
        int unit = i % TAKT_MORE_MAX;
        if (rule->unit == takt_unit_name((takt_unit)(TAKT_UNIT_MORE + unit)) &&
            rule->remaining < takt_max(call->more[unit], 1))
            return false;
    }
    return call->standing.remaining >= call->cost;
}

/* Peeks at every level first that enforces. If one has too few tokens, the next step is a try
 * there, whose answer says when there will be enough. Otherwise, or if that try succeeds, the cost
 * is taken from all levels. False: the try ends here. */
static bool goes_on(takt_calling *calling)
{
    takt_trying *trying = &calling->trying;
    takt_store_call *call = &calling->call;
    bool suits;
    int next;

    if (call->status != 0)
        return false;
    suits = has_left(call);
    if (trying->looking && suits && calling->level + 1 < trying->enforcing) {
        next = calling->level + 1;
    } else if (trying->looking) {
        trying->looking = false;
        trying->first = suits ? 0 : calling->level;
        call->op = TAKT_OP_TRY;
        next = trying->first;
    } else {
        next = next_to_take(calling);
    }
    if (next < calling->levels.count)
        submit(calling, next);
    return next < calling->levels.count;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* If the store fails, each limit's on_store_failure decides, the innermost first.  True: the try
 * has only peeked so far, and now starts again. */
static bool go_on_alone(takt_calling *calling)
{
    takt_scheduler *scheduler = &calling->client->scheduler;
    takt_store_call *call = &calling->call;
    takt_queue *queue;

    if (calling->trying.looking && !calling->client->closing) {
        calling->trying.looking = false;
        calling->trying.first = 0;
        call->op = TAKT_OP_TRY;
        submit(calling, 0);
        return true;
    }
    queue = call->op == TAKT_OP_TRY ? queue_of(calling) : NULL;
    if (!queue)
        return false;
    takt_scheduler_set_server(scheduler, queue, call->server);
    call->status = takt_loss_try_alone(scheduler, queue, call->status, (int32_t)call->cost,
                                       takt_request_more(&calling->levels, calling->level),
                                       takt_timer_now(), &call->standing);
    if (calling->level + 1 == calling->trying.enforcing) /* this level would have to give back */
        calling->trying.permit->uncharged = call->status == 0;
    return false;
}

static bool is_in_shadow(const takt_calling *calling)
{
    return calling->call.op == TAKT_OP_TRY && calling->call.limit->mode == TAKT_MODE_SHADOW;
}

/* The ledger has permits that our numbers do not know.  A try that states nothing gets no permit,
 * so a claim must learn the newer numbers. */
static void learn_of_permits(takt_calling *calling)
{
    const takt_store_call *call = &calling->call;
    takt_queue *queue;

    if (call->op != TAKT_OP_TRY || call->status != TAKT_E_NO_SLOT || calling->trying.queue ||
        call->standing.concurrency == 0)
        return;
    queue = queue_of(calling);
    if (queue)
        takt_claims_outdated(&calling->client->scheduler, queue);
}

/* Gives the result of a try to its permit, or for a shadow limit to its shadow waiter. */
static void take(takt_calling *calling)
{
    takt_scheduler *scheduler = &calling->client->scheduler;
    takt_shadows *shadows = &calling->client->shadows;
    takt_trying *trying = &calling->trying;
    takt_store_call *call = &calling->call;
    bool told = call->status == 0 || call->status == TAKT_E_NO_SLOT;
    takt_permit *permit = trying->permit;
    takt_queue *queue;

    if (is_in_shadow(calling)) {
        take_amounts(permit, &calling->levels, calling->level);
        queue = call->status == 0 ? queue_of(calling) : NULL;
        permit =
            queue ? takt_shadow_try(shadows, queue, permit, call->standing.now_us, takt_timer_now())
                  : NULL;
    }
    if (trying->queue)
        takt_claims_tried(scheduler, trying->queue, told ? &trying->award : NULL, calling->sent_us,
                          permit);
}

/* A shadow limit lets every try pass, with any answer. */
static void pass_shadow(takt_calling *calling)
{
    takt_store_call *call = &calling->call;

    if (!is_in_shadow(calling) ||
        (call->status != 0 && call->status != TAKT_E_NO_SLOT && !takt_is_of_store(call->status)))
        return;
    takt_shadow_tried(&calling->client->shadows, call->limit->name, call->status);
    calling->trying.blind = takt_is_of_store(call->status);
    call->status = 0;
}

/* Notes what a level that enforces has granted.  If all grant the cost, the standing is that of the
 * limit with the fewest tokens left: it will refuse first. */
static void note_granted(takt_calling *calling)
{
    const takt_standing *standing = &calling->call.standing;
    takt_trying *trying = &calling->trying;

    if (calling->call.op != TAKT_OP_TRY || calling->call.status != 0 || is_in_shadow(calling))
        return;
    if (!trying->given || standing->remaining < trying->tightest.remaining)
        trying->tightest = *standing;
    trying->given = true;
    if (calling->level + 1 == trying->enforcing)
        trying->slot_us = standing->now_us;
}

static void answered(takt_store_call *call)
{
    takt_calling *calling = (takt_calling *)call;

    takt_client_count(calling->client, call->status, calling->sent_us);
    takt_call_name_units(calling);
    take(calling);
    learn_of_permits(calling);
    takt_call_note(calling);
    if (takt_is_of_store(call->status) && go_on_alone(calling))
        return;
    note_granted(calling);
    pass_shadow(calling);
    if (!goes_on(calling))
        finish(calling);
}

/* Leaves out the levels whose keys are unlimited. If none remain, the next pass ends the try: no
 * callback comes before the call has returned. */
static void skip_unlimited(takt_calling *calling)
{
    takt_levels *levels = &calling->levels;
    int kept = 0;

    for (int level = 0; level < levels->count; level++) {
        if (levels->limits[level]->access == TAKT_ACCESS_UNLIMITED)
            continue;
        if (kept < level) {
            levels->limits[kept] = levels->limits[level];
            levels->costs[kept] = levels->costs[level];
            memcpy(levels->more[kept], levels->more[level], sizeof levels->more[kept]);
            calling->tenants[kept] = calling->tenants[level];
            strcpy(calling->keys[kept], calling->keys[level]);
        }
        kept++;
    }
    levels->count = kept;
}

#define SWAP(type, a, b)                                                                           \
    do {                                                                                           \
        type kept = a;                                                                             \
        (a) = b;                                                                                   \
        (b) = kept;                                                                                \
    } while (0)

static void swap_levels(takt_calling *calling, int a, int b)
{
    takt_levels *levels = &calling->levels;
    char key[TAKT_KEY_SIZE_MAX + 1];

    SWAP(const takt_limit *, levels->limits[a], levels->limits[b]);
    SWAP(int64_t, levels->costs[a], levels->costs[b]);
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        SWAP(int64_t, levels->more[a][i], levels->more[b][i]);
    SWAP(takt_called_for, calling->tenants[a], calling->tenants[b]);
    strcpy(key, calling->keys[a]);
    strcpy(calling->keys[a], calling->keys[b]);
    strcpy(calling->keys[b], key);
}

/* Puts the levels in shadow behind the others. */
static void order_levels(takt_calling *calling)
{
    takt_levels *levels = &calling->levels;

    for (int level = 0; level < levels->count; level++) {
        if (levels->limits[level]->mode == TAKT_MODE_SHADOW)
            continue;
        for (int at = level; at > calling->trying.enforcing; at--)
            swap_levels(calling, at, at - 1);
        calling->trying.enforcing++;
    }
}

static void prepare(takt_client *client, takt_permit *permit)
{
    permit->client = client;
    permit->fence = permit->slot_at_us = permit->retry_after_us = 0;
    permit->shadow = permit->uncharged = permit->nested = 0;
    permit->shadow_queue = NULL;
    permit->shadow_ref.shadow_waiter = NULL;
    takt_list_init(&permit->line);
}

void takt_try_begin(takt_calling *calling, takt_permit *permit)
{
    prepare(calling->client, permit);
    take_amounts(permit, &calling->levels, 0);
    skip_unlimited(calling);
    order_levels(calling);
    permit->state = TAKT_PERMIT_TRYING;
    calling->trying.permit = permit;
    calling->trying.looking = calling->trying.enforcing > 1;
    takt_list_init(&calling->trying.held);
    calling->call.op = calling->trying.looking ? TAKT_OP_PEEK : TAKT_OP_TRY;
    calling->call.reason = calling->reason;
    calling->call.done = answered;
    if (calling->levels.count > 0) {
        submit(calling, 0);
        return;
    }
    calling->trying.blind = true; /* no ledger answers */
    permit->uncharged = true;
    takt_list_append(&calling->client->held_tries, &calling->trying.held);
    takt_client_ask(calling->client);
}

int takt_try_acquire(takt_client *client, takt_call *call, takt_permit *permit,
                     const takt_request *request, takt_call_cb callback)
{
    takt_calling *calling;
    int code;

    if (!client || !call || !request || !permit)
        return TAKT_E_INVALID;
    if (takt_client_is_forked(client))
        return TAKT_E_FORKED;
    if (permit->state != TAKT_PERMIT_IDLE)
        return TAKT_E_BUSY;
    prepare(client, permit);
    code = takt_call_begin(&calling, client, call, request, true, callback);
    if (code < 0)
        return code;
    takt_try_begin(calling, permit);
    return 0;
}
