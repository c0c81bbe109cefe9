/*
 * client.c: opening, the pass, closing.  What is asked of a client is in acquire.c and errand.c.
 */
#include "client/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "scheduler/driver.h"
#include "scheduler/permits.h"
#include "scheduler/shadow.h"
#include "scheduler/waiter.h"

#define PASSES_MAX 64   /* in one turn of the loop */
#define CLAIMS_MAX 1024 /* under way at a time: each takes 7 KB, whatever it says */

const char *takt_version(void)
{
    return TAKT_VERSION;
}

static void pass_due(uv_idle_t *handle);
static void pass_soon(uv_check_t *handle);

void takt_get_stats(const takt_client *client, takt_stats *stats)
{
    *stats = client->stats;
}

void takt_client_count(takt_client *client, int status, int64_t sent_us)
{
    if (status != 0 && status != TAKT_E_NO_SLOT)
        return;
    client->stats.store_answers++;
    client->stats.store_us += takt_timer_now() - sent_us;
}

void takt_client_ask(takt_client *client)
{
    if (client->parting) /* nothing can be said any more, and the handles may be closing */
        return;
    uv_idle_start(&client->pass, pass_due); /* does nothing where it is started already */
    uv_check_start(&client->pass_soon, pass_soon);
}

void takt_client_tell(takt_client *client, takt_event_type type, int code, const char *text,
                      const char *limit)
{
    takt_event event = {type, code, text, limit, NULL};

    if (client->options.on_event)
        client->options.on_event(client, &event, client->options.data);
}

/* ---- lost and back --------------------------------------------------------------------------- */

void takt_client_note(takt_client *client, int status)
{
    if (status == 0 && client->lost) {
        client->lost = false;
        memset(client->fallen, 0, (client->policy->limit_count + 1) * sizeof *client->fallen);
        takt_client_tell(client, TAKT_EVENT_STORE_BACK, 0, "the store answers again", NULL);
    } else if (takt_is_of_store(status) && !client->lost) {
        const char *trouble = client->store->trouble;
        client->lost = true;
        takt_client_tell(client, TAKT_EVENT_STORE_LOST, status,
                         trouble ? trouble : takt_strerror(status), NULL);
    }
}

static void tell_fallback(takt_client *client, const takt_limit *limit)
{
    static const char *const what[] = {
        [TAKT_ON_STORE_FAILURE_CLOSED] = "nothing starts",
        [TAKT_ON_STORE_FAILURE_OPEN] = "everything starts at once",
        [TAKT_ON_STORE_FAILURE_SHARE] = "this worker paces alone",
    };
    char text[TAKT_NAME_SIZE_MAX + 80];

    snprintf(text, sizeof text, "limit \"%s\": %s until the store is back (on_store_failure: %s)",
             limit->name, what[limit->on_store_failure],
             takt_on_store_failure_name(limit->on_store_failure));
    takt_client_tell(client, TAKT_EVENT_FALLBACK, 0, text, limit->name);
}

/* A limit has many keys, and one event for all of them. */
static void fell_back(void *owner, const takt_queue *queue)
{
    takt_client *client = owner;
    const char *name = queue->limit->name;
    bool gone = !takt_policy_find(client->policy, name); /* since the policy is another one */
    size_t index = gone ? client->policy->limit_count : takt_policy_index(client->policy, name);
    bool told = client->fallen[index];

    client->fallen[index] = true; /* first: who is told may reload */
    if (!told && queue->limit->mode == TAKT_MODE_ENFORCE)
        tell_fallback(client, queue->limit);
}

static void lost(void *owner, takt_permit *permit)
{
    takt_client *client = owner;
    takt_event event = {TAKT_EVENT_PERMIT_LOST, TAKT_E_LEASE, takt_strerror(TAKT_E_LEASE), NULL,
                        permit};

    if (client->options.on_event)
        client->options.on_event(client, &event, client->options.data);
}

takt_queue *takt_client_queue(takt_client *client, const takt_limit *limit, const char *key)
{
    const takt_limit *present =
        client->renewed ? takt_policy_find(client->policy, limit->name) : NULL;

    return takt_registry_queue(&client->scheduler, present ? present : limit, key);
}

/* ---- claims ---------------------------------------------------------------------------------- */

static void keep_spare(takt_client *client, takt_claiming *claiming)
{
    claiming->next = client->spare_claimings;
    client->spare_claimings = claiming;
}

static void answered(takt_store_call *call)
{
    takt_claiming *claiming = (takt_claiming *)call;
    takt_client *client = claiming->client;
    takt_queue *queue = claiming->queue;

    client->claims_in_flight--;
    takt_client_count(client, call->status, claiming->sent_us);
    if (call->status == 0) {
        takt_scheduler_award(&client->scheduler, queue, &claiming->award, claiming->sent_us,
                             takt_timer_now());
    } else {
        takt_scheduler_failed(&client->scheduler, queue, call->status, takt_timer_now());
    }
    keep_spare(client, claiming);
    takt_client_ask(client);
    takt_client_note(client, call->status);
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

/* Those beyond CLAIMS_MAX go when others are answered, which asks for a pass. */
static void send_claims(takt_client *client, int64_t now_us)
{
    while (client->claims_in_flight < CLAIMS_MAX) {
        takt_claiming *claiming = new_claiming(client);
        if (!claiming) { /* no memory: another pass tries again */
            takt_client_ask(client);
            return;
        }
        claiming->queue = takt_scheduler_next_claim(&client->scheduler, now_us, &claiming->claim);
        if (!claiming->queue) {
            keep_spare(client, claiming);
            return;
        }
        claiming->call.limit = claiming->queue->limit;
        claiming->call.numbers = claiming->queue->numbers;
        claiming->call.key = claiming->queue->key;
        claiming->sent_us = now_us;
        client->claims_in_flight++;
        client->stats.store_calls++;
        takt_store_submit(client->store, &claiming->call);
    }
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* What was checked when a permit was asked for may not hold any more. */
static int still_possible(const takt_permit *permit)
{
    const takt_limit *outer = permit->outer[permit->outer_count - 1]->limit;

    return outer->mode == TAKT_MODE_ENFORCE &&
                   permit->cost > takt_numbers_capacity(&outer->numbers, NULL)
               ? TAKT_E_COST
               : 0;
}

/* Its callback is to come with a status, though its slot is due. */
static void refuse(takt_client *client, takt_permit *permit, int status)
{
    permit->status = (int16_t)status;
    permit->slot_at_us = 0; /* nothing to settle */
    permit->uncharged = false;
    takt_shadow_vanish(&client->scheduler, permit);
    takt_waiter_release(&client->scheduler, permit);
}

/* A slot of the inner limit is due: the permit goes on to the limit around it, or is told that it
 * cannot any more: the inner slot alone lets nothing start. */
static bool goes_on(takt_client *client, takt_permit *permit)
{
    int status;

    if (permit->status != 0 || permit->outer_count == 0)
        return false;
    status = client->renewed ? still_possible(permit) : 0;
    if (status != 0) {
        refuse(client, permit, status);
        return false;
    }
    takt_client_enter(client, takt_waiter_next_queue(&client->scheduler, permit), permit);
    return true;
}

/* The callbacks before this one may have kept the loop for longer than its lease. */
static void refuse_late(takt_client *client, takt_permit *permit)
{
    if (permit->status != 0 || permit->hold_count == 0 ||
        takt_permits_are_held(permit, takt_timer_now()))
        return;
    refuse(client, permit, TAKT_E_LEASE);
}

static void part(takt_client *client);

static void hand_back(void *client, takt_queue *queue, const takt_run *unused)
{
    takt_client_hand_back(client, queue, unused);
}

static void send_calls(void *client, int64_t now_us)
{
    takt_client_send_held(client);
    send_claims(client, now_us);
}

static void call_back(void *owner, takt_permit *permit)
{
    takt_client *client = owner;

    refuse_late(client, permit);
    if (goes_on(client, permit))
        return;
    client->stats.waiting--;
    client->stats.grants += permit->status == 0;
    permit->callback(permit, permit->status);
}

static void settle_ghost(void *client, const takt_shadow_waiter *shadow_waiter)
{
    takt_client_settle_ghost(client, shadow_waiter);
}

static void ask(void *client)
{
    takt_client_ask(client);
}

static const takt_driver driver = {hand_back, send_calls,   fell_back, lost,
                                   call_back, settle_ghost, ask};

/* Returns how many callbacks were due. */
static int64_t run_pass(takt_client *client, int64_t now_us)
{
    uv_idle_stop(&client->pass);
    uv_check_stop(&client->pass_soon);
    return takt_driver_pass(&client->scheduler, now_us, &driver);
}

/* With nobody waiting, neither shadow waiters keep the loop alive, nor what a lost store cannot be
 * told: it finds out by itself when the lease is over. */
static bool lets_loop_end(const takt_client *client)
{
    const takt_scheduler *scheduler = &client->scheduler;
    bool holds = !takt_list_empty(&scheduler->granted) || !takt_list_empty(&scheduler->losers);

    return client->stats.waiting == 0 &&
           (takt_shadow_is_all(scheduler) || (client->lost && !holds));
}

/* What callbacks have asked for is looked at in the same turn of the loop, which costs more than a
 * pass; not without end, for others share the loop. */
static void run_passes(takt_client *client)
{
    int passes = 0;

    if (client->parting) /* the timer was due in the same turn */
        return;
    if (takt_client_is_forked(client) && !client->scheduler.parting) /* the parent starts them */
        takt_scheduler_leave_all(&client->scheduler, TAKT_E_FORKED);
    while (run_pass(client, takt_timer_now()) > 0 && ++passes < PASSES_MAX &&
           uv_is_active((uv_handle_t *)&client->pass))
        ;
    takt_timer_arm(&client->timer, takt_scheduler_wake_at(&client->scheduler));
    if (lets_loop_end(client))
        takt_timer_let_loop_end(&client->timer);
    if (client->closing && !client->parting && client->claims_in_flight == 0 &&
        client->errands_in_flight == 0 && !uv_is_active((uv_handle_t *)&client->pass))
        part(client);
}

static void pass_due(uv_idle_t *handle)
{
    run_passes(TAKT_HOLDER(handle, takt_client, pass));
}

/* What an answer brought about needs no other turn of the loop. */
static void pass_soon(uv_check_t *handle)
{
    run_passes(TAKT_HOLDER(handle, takt_client, pass_soon));
}

static void timer_due(takt_timer *timer)
{
    run_passes(TAKT_HOLDER(timer, takt_client, timer));
}

/* ---- opening --------------------------------------------------------------------------------- */

static void store_event(void *data, const takt_event *event)
{
    takt_client *client = data;

    if (client->options.on_event)
        client->options.on_event(client, event, client->options.data);
}

/* Somebody else has blocked, unblocked or reset a ledger, or applied a policy. */
static void store_hint(void *data, const char *name, const char *key)
{
    takt_client *client = data;
    const takt_limit *limit = takt_policy_find(client->policy, name);
    takt_queue *queue = limit ? takt_registry_find(&client->scheduler, limit, key) : NULL;

    if (name[0] == '\0')
        takt_follow_look(client);
    if (!queue)
        return;
    takt_scheduler_hint(&client->scheduler, queue);
    takt_client_ask(client);
}

/* A permit came free, and we are the first in line. */
static void store_wake(void *data, const char *name, const char *key)
{
    takt_client *client = data;
    const takt_limit *limit = takt_policy_find(client->policy, name);
    takt_queue *queue = limit ? takt_registry_find(&client->scheduler, limit, key) : NULL;

    if (!queue)
        return;
    takt_scheduler_nudge(&client->scheduler, queue);
    takt_client_ask(client);
}

/* Those who wait are told at once that their store is lost, and claim at once when it is there. */
static void store_connection(void *data, int code)
{
    takt_client *client = data;

    if (code != 0 && client->stats.waiting > 0)
        takt_client_note(client, code);
    if (code != 0)
        return;
    takt_loss_retry(&client->scheduler);
    takt_client_ask(client);
}

static int open_store(takt_client *client, const takt_policy *policy, takt_error *error)
{
    takt_store_options options = takt_client_store_options(&client->options, policy);

    options.on_event = store_event;
    options.on_hint = store_hint;
    options.on_wake = store_wake;
    options.on_connection = store_connection;
    options.data = client;
    return takt_store_open(&client->store, client->loop,
                           takt_client_store_url(&client->options, policy), &options, error);
}

static void free_client(void *data)
{
    takt_client *client = data;

    takt_registry_close(&client->scheduler);
    takt_follow_close(client);
    free(client->fallen);
    free(client);
}

/* On failure the client is freed, at once or when its store has closed. */
static int open_parts(takt_client *client, const takt_policy *policy, takt_error *error)
{
    uint64_t random[2] = {uv_hrtime(), (uint64_t)(uintptr_t)client};
    int code;

    (void)uv_random(NULL, NULL, random, sizeof random, 0,
                    NULL); /* without it, the clock and an address do */
    code = takt_registry_init(&client->scheduler, random[0], random[1], client);
    if (code < 0) {
        takt_fail(error, code, "no memory");
        takt_follow_close(client);
        free(client->fallen);
        free(client);
        return code;
    }
    code = open_store(client, policy, error);
    if (code < 0) {
        free_client(client);
        return code;
    }
    code = takt_timer_open(&client->timer, client->loop, timer_due);
    if (code < 0) {
        takt_fail(error, code, "no timer: %s", takt_strerror(code));
        client->options.on_event = NULL;
        takt_store_close(client->store, free_client, client);
        return code;
    }
    uv_idle_init(client->loop, &client->pass);
    uv_check_init(client->loop, &client->pass_soon);
    takt_follow_begin(client);
    return 0;
}

/* The policy, and what is as large as it. */
static int take_policy(takt_client *client, const takt_policy *policy, takt_error *error)
{
    int code = 0;

    client->policy = policy;
    if (takt_policy_follows(policy))
        code = takt_follow_open(client, policy, error);
    if (code < 0)
        return code;
    client->fallen = calloc(client->policy->limit_count + 1, sizeof *client->fallen);
    return client->fallen ? 0 : takt_fail(error, TAKT_E_NOMEM, "no memory");
}

int takt_open(takt_client **client, struct uv_loop_s *loop, const takt_policy *policy,
              const takt_options *options, takt_error *error)
{
    takt_client *opened;
    int code;

    if (!client || !loop || !policy)
        return takt_fail(error, TAKT_E_INVALID, "takt_open: client, loop and policy are required");
    code = takt_policy_check(policy, error);
    if (code < 0)
        return code;
    opened = calloc(1, sizeof *opened);
    if (!opened)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    opened->loop = loop;
    takt_fork_watch();
    opened->forks = takt_fork_count;
    takt_list_init(&opened->held_errands);
    if (options)
        opened->options = *options;
    code = take_policy(opened, policy, error);
    if (code < 0) {
        takt_follow_close(opened);
        free(opened);
        return code;
    }
    code = open_parts(opened, policy, error);
    if (code < 0)
        return code;
    opened->options.store = opened->options.name_space =
        NULL; /* the caller's memory, not needed any more */
    *client = opened;
    return 0;
}

/* ---- closing: waiters leave, ledgers are told, the store goes, then the handles -------------- */

static void handle_closed(takt_client *client)
{
    takt_close_cb closed = client->closed;
    void *data = client->closed_data;

    if (--client->handles > 0)
        return;
    while (client->spare_claimings) {
        takt_claiming *claiming = client->spare_claimings;
        client->spare_claimings = claiming->next;
        free(claiming);
    }
    while (client->spare_errands) {
        takt_errand *errand = client->spare_errands;
        client->spare_errands = errand->next;
        free(errand);
    }
    free_client(client);
    if (closed)
        closed(data);
}

static void pass_closed(uv_handle_t *handle)
{
    handle_closed(TAKT_HOLDER(handle, takt_client, pass));
}

static void follow_closed(uv_handle_t *handle)
{
    handle_closed(TAKT_HOLDER(handle, takt_client, follow.timer));
}

static void pass_soon_closed(uv_handle_t *handle)
{
    handle_closed(TAKT_HOLDER(handle, takt_client, pass_soon));
}

static void timer_closed(takt_timer *timer)
{
    handle_closed(TAKT_HOLDER(timer, takt_client, timer));
}

static void store_closed(void *data)
{
    takt_client *client = data;

    client->handles = 4;
    uv_close((uv_handle_t *)&client->pass, pass_closed);
    uv_close((uv_handle_t *)&client->follow.timer, follow_closed);
    uv_close((uv_handle_t *)&client->pass_soon, pass_soon_closed);
    takt_timer_close(&client->timer, timer_closed);
}

static void part(takt_client *client)
{
    client->parting = true;
    takt_timer_arm(&client->timer, INT64_MAX);
    takt_store_close(client->store, store_closed, client);
}

void takt_close(takt_client *client, takt_close_cb callback, void *data)
{
    if (!client || client->closing)
        return;
    client->closing = true;
    client->closed = callback;
    client->closed_data = data;
    takt_follow_stop(client);
    takt_scheduler_leave_all(&client->scheduler, TAKT_E_CANCELED);
    takt_client_ask(client);
}
