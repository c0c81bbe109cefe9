/*
 * follow.c: see follow.h.  Decides when to look for a newer policy, and which events report it.
 *
 * A client looks every keepalive while the loop runs, also when nothing waits: a new limit must be
 * there for the next acquire.  The timer does not keep the loop alive.  A failed look is only
 * followed by the next look: other calls report that the store is lost.
 */
#include "client/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/random.h"
#include "client/location.h"
#include "client/stored_policy.h"
#include "scheduler/renew.h"
#include "store/policy_record.h"

#define LOOK_MS (TAKT_KEEPALIVE_US / 1000)

/* ---- policies that are no longer needed ------------------------------------------------------ */

static bool is_of(const void *policy, const takt_limit *limit)
{
    return takt_policy_find(policy, limit->name) == (limit->base ? limit->base : limit);
}

/* Frees policies that no queue uses.  Calls under way also refer to limits, so nothing is freed
 * while there are any. */
static void drop_unused(takt_client *client)
{
    if (client->claims_in_flight > 0 || client->calls.in_flight > 0)
        return;
    for (takt_policy **at = &client->follow.loaded; *at;) {
        takt_policy *policy = *at;
        if (policy == client->policy || takt_renew_is_used(&client->scheduler, is_of, policy)) {
            at = &policy->older;
            continue;
        }
        *at = policy->older;
        takt_policy_free(policy);
    }
}

void takt_follow_close(takt_client *client)
{
    takt_follow *follow = &client->follow;

    while (follow->loaded) {
        takt_policy *policy = follow->loaded;
        follow->loaded = policy->older;
        takt_policy_free(policy);
    }
    free(follow->exchange.kept);
    follow->exchange.kept = NULL;
}

static void own(takt_follow *follow, takt_policy *policy)
{
    policy->older = follow->loaded;
    follow->loaded = policy;
}

/* ---- changes of the policy ------------------------------------------------------------------- */

static void refuse(takt_client *client, const takt_stored_policy *stored, const char *why)
{
    char text[TAKT_ERROR_TEXT_SIZE + TAKT_WHO_SIZE + 100];

    snprintf(text, sizeof text, "version %" PRId64 " of the stored policy%s%s cannot be used: %s",
             stored->version, stored->change_count > 0 ? ", by " : "",
             stored->change_count > 0 ? stored->changes[0].who : "", why);
    takt_client_tell(client, TAKT_EVENT_POLICY_REFUSED, TAKT_E_POLICY, text, NULL);
}

static void take_over(takt_client *client, takt_stored_policy *stored)
{
    char text[TAKT_WHO_SIZE + TAKT_WHAT_SIZE + 100];
    /* a policy that can be read has at least one change */
    const takt_change *change = &stored->changes[0];
    takt_policy *policy;
    takt_error error;

    if (takt_client_check_hashes(client, stored->policy, &error) < 0) {
        refuse(client, stored, error.text);
        return;
    }
    if (takt_client_renew(client, stored->policy) < 0) {
        client->follow.exchange.seen_version = 0; /* no memory: the next look tries again */
        return;
    }
    policy = takt_stored_policy_take(stored);
    own(&client->follow, policy);
    snprintf(text, sizeof text, "version %" PRId64 " of the stored policy holds, by %s: %s",
             stored->version, change->who, change->what);
    takt_client_tell(client, TAKT_EVENT_POLICY, 0, text, NULL);
}

/* The policy is gone: the store was emptied, or the policy was removed. */
static void miss(takt_client *client)
{
    takt_client_tell(client, TAKT_EVENT_POLICY_REFUSED, TAKT_E_POLICY,
                     "the store has lost its policy; the last one stays in force; put one there "
                     "with `takt apply FILE`",
                     NULL);
}

static void answered(takt_store_call *call)
{
    takt_client *client = call->data;
    takt_policy_exchange *exchange = &client->follow.exchange;
    bool gone = exchange->version == 0 && exchange->seen_version != 0;
    takt_stored_policy *stored;

    client->follow.looking = false;
    takt_client_count(client, call->status, client->follow.sent_us);
    if (call->status != 0 || !client->follow.on) {
        free(exchange->kept);
        exchange->kept = NULL;
        return;
    }
    if (gone || exchange->kept) {
        exchange->seen_version = exchange->version;
        exchange->seen_at_us = exchange->at_us;
    }
    if (gone) {
        miss(client);
    } else if (exchange->kept) {
        if (takt_stored_policy_parse(&stored, exchange) < 0) {
            exchange->seen_version = 0;
            return;
        }
        if (stored->policy)
            take_over(client, stored);
        else
            refuse(client, stored, stored->trouble.text);
        takt_stored_policy_free(stored);
    }
}

void takt_follow_look(takt_client *client)
{
    takt_follow *follow = &client->follow;

    if (!follow->on || follow->looking)
        return;
    follow->looking = true;
    takt_policy_call(&follow->call, TAKT_OP_POLICY, &follow->exchange);
    follow->call.done = answered;
    follow->call.data = client;
    client->stats.store_calls++;
    follow->sent_us = takt_timer_now();
    takt_store_submit(client->store, &follow->call);
}

/* ---- from opening to closing ----------------------------------------------------------------- */

int takt_follow_open(takt_client *client, const takt_policy *location, takt_error *error)
{
    takt_follow *follow = &client->follow;
    takt_stored_policy *stored;
    int code = takt_stored_policy_read(&stored, location, &client->options, error);

    if (code < 0)
        return code;
    if (stored->version == 0)
        code = takt_fail(error, TAKT_E_POLICY,
                         "policy: the store has none for the namespace \"%s\"; put one there with "
                         "`takt apply FILE`",
                         takt_location_options(&client->options, location).name_space);
    else if (!stored->policy)
        code = takt_fail(error, TAKT_E_POLICY, "%s", stored->trouble.text);
    if (code == 0) {
        follow->on = true;
        follow->exchange.seen_version = stored->version;
        follow->exchange.seen_at_us = stored->at_us;
        own(follow, takt_stored_policy_take(stored));
        client->policy = follow->loaded;
    }
    takt_stored_policy_free(stored);
    return code;
}

static void on_timer(uv_timer_t *timer)
{
    takt_client *client = TAKT_HOLDER(timer, takt_client, follow.timer);

    drop_unused(client);
    takt_follow_look(client);
}

void takt_follow_begin(takt_client *client)
{
    takt_follow *follow = &client->follow;

    uv_timer_init(client->loop, &follow->timer);
    if (!follow->on)
        return;
    uv_timer_start(&follow->timer, on_timer,
                   (uint64_t)takt_random_below(&client->scheduler.random, LOOK_MS) + 1, LOOK_MS);
    uv_unref((uv_handle_t *)&follow->timer);
}

void takt_follow_stop(takt_client *client)
{
    client->follow.on = false;
    uv_timer_stop(&client->follow.timer);
}
