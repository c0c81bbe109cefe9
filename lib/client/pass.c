/*
 * pass.c: a client's pass (client.h).  It sends the claims that the scheduler wants, takes in
 * answers, and calls back the permits whose slot is due.  scheduler/driver.c has the order of its
 * steps.
 */
#include "client/pass.h"

#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "client/close.h"
#include "client/events.h"
#include "client/settle.h"
#include "client/try.h"
#include "scheduler/claims.h"
#include "scheduler/driver.h"
#include "scheduler/permits.h"
#include "scheduler/waiter.h"
#include "shadow/shadow.h"

#define PASSES_MAX 64   /* in one turn of the loop */
#define CLAIMS_MAX 1024 /* under way at a time: each takes 10 KB */

/* ---- claims ---------------------------------------------------------------------------------- */

static void keep_spare(takt_client *client, takt_claiming *claiming)
{
    claiming->next = client->spare_claimings;
    client->spare_claimings = claiming;
}

/* The first limit of an answered claim of which that is still to be told: a ledger has other rules
 * of its revision.  Returns its number; -1: there is none. */
static int find_difference(takt_claiming *claiming)
{
    const takt_store_call *call = &claiming->call;

    for (int ledger_no = 0; ledger_no <= call->inner_count; ledger_no++) {
        const takt_store_inner *inner = ledger_no > 0 ? &call->inner[ledger_no - 1] : NULL;
        const takt_numbers *ours = inner ? inner->numbers : call->numbers;
        if (claiming->award.outdated >> ledger_no & 1 &&
            claiming->award.newer[ledger_no].revision == ours->revision &&
            takt_client_tells_first(claiming->client, inner ? inner->limit : call->limit,
                                    TAKT_TOLD_DIFFERENCE))
            return ledger_no;
    }
    return -1;
}

static void answered(takt_store_call *call)
{
    takt_claiming *claiming = (takt_claiming *)call;
    takt_client *client = claiming->client;
    takt_queue *queue = claiming->queue;
    takt_numbers ours, held;
    char differing[TAKT_NAME_SIZE_MAX + 1] = "";
    int ledger_no;

    client->claims_in_flight--;
    takt_scheduler_set_server(&client->scheduler, queue, call->server);
    takt_client_count(client, call->status, claiming->sent_us);
    if (call->status == 0) {
        ledger_no = find_difference(claiming);
        if (ledger_no >= 0) {
            strcpy(differing,
                   ledger_no > 0 ? call->inner[ledger_no - 1].limit->name : call->limit->name);
            ours = ledger_no > 0 ? *call->inner[ledger_no - 1].numbers : *call->numbers;
            held = claiming->award.newer[ledger_no];
        }
        takt_scheduler_award(&client->scheduler, queue, &claiming->award, claiming->sent_us,
                             takt_timer_now());
    } else {
        takt_scheduler_failed(&client->scheduler, queue, call->status, takt_timer_now());
    }
    keep_spare(client, claiming);
    takt_client_ask(client);
    takt_client_note(client, call->server, call->status);
    if (differing[0])
        takt_events_difference(client, differing, &ours, &held);
}

static takt_claiming *new_claiming(takt_client *client)
{
    takt_claiming *claiming = client->spare_claimings;

    if (claiming) {
        client->spare_claimings = claiming->next;
        return claiming;
    }
    claiming = calloc(1, sizeof *claiming);
    if (claiming) {
        claiming->client = client;
        claiming->call.op = TAKT_OP_CLAIM;
        claiming->call.claim = &claiming->claim;
        claiming->call.award = &claiming->award;
        claiming->call.done = answered;
    }
    return claiming;
}

int takt_pass_open(takt_client *client)
{
    takt_claiming *claiming = new_claiming(client);

    if (!claiming)
        return TAKT_E_NOMEM;
    keep_spare(client, claiming);
    return 0;
}

/* Sends the claims of the queues that the scheduler has found to claim now (takt_scheduler_run).
 * Claims beyond CLAIMS_MAX, and those without memory, are sent when others are answered: each
 * answer asks for a pass. */
static void send_claims(takt_client *client, int64_t now_us)
{
    while (client->claims_in_flight < CLAIMS_MAX) {
        takt_claiming *claiming = new_claiming(client);
        if (!claiming) /* no memory: one under way has the spare one */
            return;
        claiming->queue = takt_claims_next(&client->scheduler, now_us, &claiming->claim);
        if (!claiming->queue) {
            keep_spare(client, claiming);
            return;
        }
        takt_client_aim(&claiming->call, claiming->inner, claiming->queue);
        claiming->sent_us = now_us;
        client->claims_in_flight++;
        client->stats.store_calls++;
        takt_store_submit(client->store, &claiming->call);
    }
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* Earlier callbacks may have kept the loop until the permit's lease was over: the callback comes
 * with that status, although the slot is due. */
static void refuse_late(takt_client *client, takt_permit *permit)
{
    if (permit->status != 0 || permit->hold == TAKT_HOLD_NONE ||
        takt_permits_are_held(permit, takt_timer_now()))
        return;
    permit->status = TAKT_E_LEASE;
    permit->slot_at_us = 0; /* nothing to settle */
    permit->uncharged = false;
    takt_waiter_release(&client->scheduler, permit);
}

static void fell_back(void *client, const takt_queue *queue)
{
    takt_events_fallback(client, queue);
}

static void permit_lost(void *client, takt_permit *permit)
{
    takt_events_permit_lost(client, permit);
}

static void hand_back(void *client, takt_queue *queue, const takt_run *unused)
{
    takt_settle_unused(client, queue, unused);
}

static void send_calls(void *client, int64_t now_us)
{
    takt_try_send_held(client);
    send_claims(client, now_us);
}

static void call_back(void *owner, takt_permit *permit)
{
    takt_client *client = owner;

    if (takt_shadow_call_back(&client->shadows, permit))
        return;
    refuse_late(client, permit);
    takt_shadow_start(&client->shadows, permit);
    client->stats.waiting--;
    client->stats.grants += permit->status == 0;
    permit->callback(permit, permit->status);
}

static void ask(void *client)
{
    takt_client_ask(client);
}

static const takt_driver driver = {hand_back, send_calls, fell_back, permit_lost, call_back, ask};

/* Returns how many callbacks were due. */
static int64_t run_pass(takt_client *client, int64_t now_us)
{
    const takt_shadow_waiter *shadow_waiter;
    int64_t due;

    uv_idle_stop(&client->pass);
    uv_check_stop(&client->pass_soon);
    takt_shadow_tick(&client->shadows, now_us);
    due = takt_driver_pass(&client->scheduler, now_us, &driver);
    while ((shadow_waiter = takt_shadow_next_settle(&client->shadows)))
        takt_settle_shadow(client, shadow_waiter);
    return due;
}

/* When nothing waits, shadow waiters do not keep the loop alive.  Nor do permits to hand back to a
 * lost store: they become free when the lease ends. */
static bool lets_loop_end(const takt_client *client)
{
    const takt_scheduler *scheduler = &client->scheduler;
    bool holds = !takt_list_empty(&scheduler->granted) || !takt_list_empty(&scheduler->losers);

    return client->stats.waiting == 0 &&
           (takt_shadow_is_all(&client->shadows) || (client->lost > 0 && !holds));
}

/* Requests from callbacks get their pass in the same turn of the loop, because a turn costs more
 * than a pass.  The number of passes is bounded, because others share the loop. */
void takt_pass_run_due(takt_client *client)
{
    int passes = 0;

    if (client->closing_store) /* the timer was due in the same turn */
        return;
    /* the parent starts its waiters */
    if (takt_client_is_forked(client) && !client->scheduler.all_left)
        takt_shadow_leave_all(&client->shadows, TAKT_E_FORKED);
    while (run_pass(client, takt_timer_now()) > 0 && ++passes < PASSES_MAX &&
           uv_is_active((uv_handle_t *)&client->pass))
        ;
    takt_timer_arm(&client->timer, takt_min(takt_scheduler_pass_at(&client->scheduler),
                                            takt_shadow_pass_at(&client->shadows)));
    if (lets_loop_end(client))
        takt_timer_let_loop_end(&client->timer);
    if (client->closing && !client->closing_store && client->claims_in_flight == 0 &&
        client->calls.in_flight == 0 && !uv_is_active((uv_handle_t *)&client->pass))
        takt_close_parts(client);
}
