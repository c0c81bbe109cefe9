/*
 * try.c: takt_try_acquire: takes what a request needs now from all its limits, or takes nothing.
 *
 * One call asks all limits that enforce, and the store decides about them at once.  If they grant,
 * or if there are none, another call asks the limits in shadow, which refuse nothing.  While the
 * store is lost the limits' on_store_failure decides.
 */
#include "client/try.h"

#include "base/fail.h"
#include "client/call.h"
#include "scheduler/claims.h"
#include "scheduler/loss.h"
#include "scheduler/permits.h"
#include "scheduler/waiter.h"
#include "shadow/shadow.h"

static takt_queue *queue_of(const takt_calling *calling)
{
    return calling->trying.path.queues[calling->trying.at];
}

static bool is_in_shadow(const takt_calling *calling)
{
    return calling->trying.at > 0 || !calling->trying.path.enforcing;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Grants the permit, or lets it go.  If the answer was late its lease may already be over. */
static void end_permit(takt_calling *calling)
{
    takt_scheduler *scheduler = &calling->client->scheduler;
    takt_permit *permit = calling->trying.permit;
    takt_store_call *call = &calling->call;

    if (call->status == 0 && takt_client_is_forked(calling->client))
        call->status = TAKT_E_FORKED;
    if (call->status == 0 && calling->client->closing)
        call->status = TAKT_E_CANCELED;
    if (call->status == 0 && !takt_permits_are_held(permit, takt_timer_now()))
        call->status = TAKT_E_LEASE;
    takt_shadow_try_end(&calling->client->shadows, permit, call->status == 0);
    if (call->status == 0) {
        if (calling->trying.given)
            permit->slot_at_us = calling->trying.granted.now_us;
        else
            permit->uncharged = true;
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
    takt_trying *trying = &calling->trying;
    const takt_standing *standing;

    end_permit(calling);
    for (int i = 0; i < trying->path.count; i++)
        trying->path.queues[i]->tries--;
    standing =
        calling->call.status == 0 && trying->given ? &trying->granted : &calling->call.standing;
    takt_call_finish(calling, trying->blind && !trying->given ? NULL : standing);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* A try at limits with permits states the held permits, as a claim does. Only one such call of a
 * queue is under way at a time. */
static bool is_held_up(takt_calling *calling)
{
    takt_trying *trying = &calling->trying;
    takt_queue *queue = queue_of(calling);

    calling->call.claim = NULL;
    if (!takt_queue_has_permits(queue))
        return false;
    calling->call.claim = &trying->claim;
    calling->call.award = &trying->award;
    return !takt_claims_begin_try(&calling->client->scheduler, queue, &trying->claim);
}

/* Asks the ledgers of a queue. */
static void submit(takt_calling *calling)
{
    takt_trying *trying = &calling->trying;
    takt_store_call *call = &calling->call;

    takt_client_aim(call, trying->inner, queue_of(calling));
    call->cost = trying->path.costs[trying->at];
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        call->more[i] = trying->path.more[trying->at].of[i];
    if (is_held_up(calling)) {
        takt_list_append(&calling->client->held_tries, &trying->held);
        return;
    }
    if (!call->claim && call->inner_count == 0)
        call->queue = NULL;
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
        if (calling->trying.path.count > 0)
            submit(calling);
        else
            finish(calling);
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

/* If the store fails, the limits' on_store_failure decides. */
static void go_on_alone(takt_calling *calling)
{
    takt_scheduler *scheduler = &calling->client->scheduler;
    takt_trying *trying = &calling->trying;
    takt_store_call *call = &calling->call;
    takt_queue *queue = queue_of(calling);

    takt_scheduler_set_server(scheduler, queue, call->server);
    call->ledger_no = 0;
    call->status =
        takt_loss_try_alone(scheduler, queue, call->status, trying->path.costs[trying->at],
                            trying->path.more[trying->at], takt_timer_now(), &call->standing);
    if (!is_in_shadow(calling))
        trying->permit->uncharged = call->status == 0;
}

/* A ledger has permits that our numbers do not know.  A try that states nothing gets no permit, so
 * a claim must learn the newer numbers. */
static void learn_of_permits(takt_calling *calling)
{
    const takt_store_call *call = &calling->call;

    if (call->status == TAKT_E_NO_SLOT && !call->claim && call->standing.concurrency > 0)
        takt_claims_outdated(&calling->client->scheduler, queue_of(calling));
}

/* Gives the result of a try to its permit, or for limits in shadow to its shadow waiter. */
static void take(takt_calling *calling)
{
    takt_client *client = calling->client;
    takt_trying *trying = &calling->trying;
    const takt_store_call *call = &calling->call;
    bool told = call->status == 0 || call->status == TAKT_E_NO_SLOT;
    takt_permit *permit = trying->permit;
    takt_queue *queue = queue_of(calling);

    if (is_in_shadow(calling)) {
        takt_run slot = takt_run_at(call->standing.now_us, 1, trying->path.costs[trying->at],
                                    trying->path.more[trying->at]);
        permit = call->status == 0
                     ? takt_shadow_try(&client->shadows, queue, permit, &slot, takt_timer_now())
                     : NULL;
    }
    if (call->claim)
        takt_claims_tried(&client->scheduler, queue, told ? &trying->award : NULL, calling->sent_us,
                          permit);
}

/* Limits in shadow let every try pass, with any answer and without one. */
static void pass_shadow(takt_calling *calling)
{
    takt_store_call *call = &calling->call;
    bool told = call->status == 0 || call->status == TAKT_E_NO_SLOT;

    if (told || takt_is_of_store(call->status))
        takt_shadow_tried(&calling->client->shadows, queue_of(calling), call->status);
    calling->trying.blind = !told;
    call->status = 0;
}

/* Limits that enforce may have granted the try. */
static void note_granted(takt_calling *calling)
{
    takt_trying *trying = &calling->trying;

    trying->given = calling->call.status == 0;
    if (trying->given)
        trying->granted = calling->call.standing;
}

static void answered(takt_store_call *call)
{
    takt_calling *calling = (takt_calling *)call;

    takt_client_count(calling->client, call->status, calling->sent_us);
    takt_call_name_units(calling);
    take(calling);
    learn_of_permits(calling);
    takt_call_note(calling);
    if (takt_is_of_store(call->status))
        go_on_alone(calling);
    if (is_in_shadow(calling))
        pass_shadow(calling);
    else
        note_granted(calling);
    if (call->status == 0 && ++calling->trying.at < calling->trying.path.count)
        submit(calling);
    else
        finish(calling);
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* If the keys of all limits are unlimited, no ledger is asked. */
static void skip_unlimited(takt_path *path)
{
    const takt_queue *first = path->queues[0];

    if (first->nest || first->limit->access != TAKT_ACCESS_UNLIMITED)
        return;
    path->count = 0;
    path->enforcing = false;
}

static void prepare(takt_client *client, takt_permit *permit)
{
    permit->client = client;
    permit->fence = permit->slot_at_us = permit->retry_after_us = 0;
    permit->shadow = permit->uncharged = permit->levels = 0;
    permit->shadow_queue = NULL;
    permit->shadow_ref.shadow_waiter = NULL;
    takt_list_init(&permit->line);
}

void takt_try_begin(takt_calling *calling, takt_permit *permit)
{
    takt_path *path = &calling->trying.path;

    prepare(calling->client, permit);
    permit->cost = path->costs[0];
    permit->more = path->more[0];
    permit->state = TAKT_PERMIT_TRYING;
    skip_unlimited(path);
    permit->levels = takt_path_enforcing(path);
    for (int i = 0; i < path->count; i++)
        path->queues[i]->tries++;
    calling->trying.permit = permit;
    takt_list_init(&calling->trying.held);
    calling->call.op = TAKT_OP_TRY;
    calling->call.done = answered;
    if (path->count > 0) {
        submit(calling);
        return;
    }
    calling->trying.blind = true; /* no ledger answers: the next pass ends the try */
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
