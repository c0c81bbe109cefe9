/*
 * try.c: takt_try_acquire: a cost is taken now, from all levels of a request, or not at all.
 *
 * With `within` a try peeks at every level first.  It takes only where all of them seem to have
 * enough, else it tries the one that lacks tokens, which tells when it will have enough.  While the
 * store is lost each limit's on_store_failure decides.
 */
#include "client/try.h"

#include "base/fail.h"
#include "client/call.h"
#include "scheduler/claims.h"
#include "scheduler/loss.h"
#include "scheduler/permits.h"
#include "scheduler/registry.h"
#include "scheduler/waiter.h"
#include "shadow/shadow.h"

/* ---- the end --------------------------------------------------------------------------------- */

/* The innermost limit's number is the permit's, also where another one was tried first. */
static void choose_fence(const takt_calling *calling)
{
    takt_scheduler *scheduler = &calling->client->scheduler;
    takt_permit *permit = calling->trying.permit;

    for (int level = 0; level < calling->levels.count; level++) {
        const takt_queue *queue =
            takt_registry_find(scheduler, calling->levels.limits[level], calling->keys[level]);
        for (int i = 0; i < permit->hold_count; i++)
            if (permit->holds[i].queue == queue) {
                permit->fence = permit->holds[i].fence;
                return;
            }
    }
}

/* What a try has made of its permit, which an answer that was kept waiting may have outlived. */
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
    if (call->status == 0) {
        permit->slot_at_us = call->standing.now_us;
        if (calling->trying.first != 0)
            choose_fence(calling);
        takt_waiter_grant(scheduler, permit);
    } else {
        permit->uncharged = false;
        if (call->status == TAKT_E_NO_SLOT)
            permit->retry_after_us = call->standing.retry_after_us;
        takt_shadow_vanish(&calling->client->shadows, permit);
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
    takt_call_finish(calling, trying->blind ? NULL : standing);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* A try at a limit with permits states what is held of them, as claims do: one at a time. */
static bool is_held_up(takt_calling *calling)
{
    takt_scheduler *scheduler = &calling->client->scheduler;
    takt_trying *trying = &calling->trying;

    trying->queue = NULL;
    calling->call.claim = NULL;
    if (calling->call.op != TAKT_OP_TRY)
        return false;
    trying->claim = (takt_claim){.worker = scheduler->worker};
    trying->queue = takt_client_queue(calling->client, calling->call.limit, calling->call.key);
    if (trying->queue && trying->queue->numbers->concurrency == 0)
        trying->queue = NULL;
    if (!trying->queue)
        return false;
    calling->call.claim = &trying->claim;
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
        submit(calling, calling->level);
    }
}

/* Takes from the level tried first, then from the others, from the inside out. */
static int next_to_take(const takt_calling *calling)
{
    int first = calling->trying.first;
    int next = calling->level == first ? 0 : calling->level + 1;

    return next == first ? next + 1 : next;
}

/* Looks at every level first.  Where one has too little, a try there tells when it will have
 * enough; else, or should it have enough by now, all are taken from.  False: it ends here. */
static bool goes_on(takt_calling *calling)
{
    takt_trying *trying = &calling->trying;
    takt_store_call *call = &calling->call;
    bool suits;
    int next;

    if (call->status != 0)
        return false;
    suits = call->standing.remaining >= call->cost || call->limit->mode == TAKT_MODE_SHADOW;
    if (trying->looking && suits && calling->level + 1 < calling->levels.count) {
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

/* A try that the store fails goes by each limit's on_store_failure, from the inside out.  True: it
 * is under way anew, since it had only looked yet, and there is nothing to see. */
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
    queue =
        call->op == TAKT_OP_TRY ? takt_client_queue(calling->client, call->limit, call->key) : NULL;
    if (!queue)
        return false;
    call->status = takt_loss_try_alone(scheduler, queue, call->status, (int32_t)call->cost,
                                       takt_timer_now(), &call->standing);
    if (calling->level + 1 == calling->levels.count) /* the one that would give back */
        calling->trying.permit->uncharged = call->status == 0;
    return false;
}

static bool is_in_shadow(const takt_calling *calling)
{
    return calling->call.op == TAKT_OP_TRY && calling->call.limit->mode == TAKT_MODE_SHADOW;
}

/* The ledger has permits of which our numbers do not know: no try that states nothing gets one. */
static void learn_of_permits(takt_calling *calling)
{
    const takt_store_call *call = &calling->call;
    takt_queue *queue;

    if (call->op != TAKT_OP_TRY || call->status != TAKT_E_NO_SLOT || calling->trying.queue ||
        call->standing.concurrency == 0)
        return;
    queue = takt_client_queue(calling->client, call->limit, call->key);
    if (queue)
        takt_claims_outdated(&calling->client->scheduler, queue);
}

/* What a try was given is its permit's, or, of a limit in shadow, its shadow waiter's. */
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
        queue = call->status == 0 ? takt_registry_queue(scheduler, call->limit, call->key) : NULL;
        permit =
            queue ? takt_shadow_try(shadows, queue, permit, call->standing.now_us, takt_timer_now())
                  : NULL;
    }
    if (trying->queue)
        takt_claims_tried(scheduler, trying->queue, told ? &trying->award : NULL, calling->sent_us,
                          permit);
    if (permit && permit != trying->permit)
        takt_shadow_begin(shadows, permit);
}

/* A limit in shadow lets every try pass, whatever came of it. */
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

/* A try that all limits grant tells of the one that leaves least: the next to refuse. One in shadow
 * refuses nobody. */
static void compare_left(takt_calling *calling)
{
    const takt_standing *standing = &calling->call.standing;
    takt_trying *trying = &calling->trying;

    if (calling->call.op != TAKT_OP_TRY || calling->call.status != 0 || is_in_shadow(calling))
        return;
    if (!trying->given || standing->remaining < trying->tightest.remaining)
        trying->tightest = *standing;
    trying->given = true;
}

static void answered(takt_store_call *call)
{
    takt_calling *calling = (takt_calling *)call;

    takt_client_count(calling->client, call->status, calling->sent_us);
    take(calling);
    learn_of_permits(calling);
    takt_call_note(calling);
    if (takt_is_of_store(call->status) && go_on_alone(calling))
        return;
    compare_left(calling);
    pass_shadow(calling);
    if (!goes_on(calling))
        finish(calling);
}

int takt_try_acquire(takt_client *client, takt_call *call, takt_permit *permit,
                     const takt_request *request, takt_call_cb callback)
{
    takt_calling *calling;
    int code;

    if (!client || !request || !permit)
        return TAKT_E_INVALID;
    if (takt_client_is_forked(client))
        return TAKT_E_FORKED;
    if (permit->state != TAKT_PERMIT_IDLE)
        return TAKT_E_BUSY;
    permit->client = client;
    permit->cost = request->cost;
    permit->fence = permit->slot_at_us = permit->retry_after_us = 0;
    permit->shadow_count = permit->shadow = permit->uncharged = 0;
    takt_list_init(&permit->line);
    code = takt_call_begin(&calling, client, call, request, callback);
    if (code < 0)
        return code;
    permit->state = TAKT_PERMIT_TRYING;
    calling->trying.permit = permit;
    calling->trying.looking = calling->levels.count > 1;
    takt_list_init(&calling->trying.held);
    calling->call.op = calling->trying.looking ? TAKT_OP_PEEK : TAKT_OP_TRY;
    calling->call.reason = calling->reason;
    calling->call.done = answered;
    submit(calling, 0);
    return 0;
}
