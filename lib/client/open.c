/*
 * open.c: opens a client: its policy, its store with the callbacks, its timer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "client/close.h"
#include "client/follow.h"
#include "client/location.h"
#include "client/pass.h"
#include "scheduler/claims.h"
#include "scheduler/loss.h"
#include "scheduler/registry.h"

static void timer_due(takt_timer *timer)
{
    takt_pass_run_due(TAKT_HOLDER(timer, takt_client, timer));
}

static void store_event(void *data, const takt_event *event)
{
    takt_client *client = data;

    if (client->options.on_event)
        client->options.on_event(client, event, client->options.data);
}

/* Another program has blocked, unblocked or reset a ledger, or applied a policy.  Work may wait for
 * a limit that our policy has no more. */
static void store_hint(void *data, const char *limit, const char *key)
{
    takt_client *client = data;
    takt_queue *queue = NULL;

    if (limit[0] == '\0')
        takt_follow_look(client);
    while ((queue = takt_registry_next(&client->scheduler, limit, key, queue)))
        takt_claims_hint(&client->scheduler, queue);
    while ((queue = takt_nest_next(&client->scheduler, limit, key, queue)))
        takt_claims_hint_inner(&client->scheduler, queue);
    takt_client_ask(client);
}

/* A permit has become free, and this client is first in line, for one of its tenants. */
static void store_wake(void *data, const char *limit, const char *key)
{
    takt_client *client = data;
    takt_queue *queue = NULL;

    while ((queue = takt_registry_next(&client->scheduler, limit, key, queue))) {
        takt_claims_wake(&client->scheduler, queue);
        takt_client_ask(client);
    }
    while ((queue = takt_nest_next(&client->scheduler, limit, key, queue))) {
        takt_claims_wake_inner(&client->scheduler, queue);
        takt_client_ask(client);
    }
}

/* The agent has something to say to a queue. */
static void store_news(void *data, const char *name, size_t size)
{
    takt_client *client = data;
    takt_queue *queue = takt_registry_named(&client->scheduler, name, size);

    if (!queue)
        return;
    takt_claims_nudge(&client->scheduler, queue);
    takt_client_ask(client);
}

/* The connection was lost or made.  Waiters see at once that the store is lost, and claim at once
 * when it is back. */
static void store_connection(void *data, int server, int code)
{
    takt_client *client = data;

    if (code != 0 && client->stats.waiting > 0)
        takt_client_note(client, server, code);
    if (code != 0)
        return;
    takt_loss_retry(&client->scheduler, takt_servers_get(&client->scheduler.servers, server));
    takt_client_ask(client);
}

/* The ledgers of a server are elsewhere: they are claimed from there at once. */
static void store_gone(void *data, int server)
{
    takt_client *client = data;

    takt_loss_end(&client->scheduler, takt_servers_get(&client->scheduler.servers, server));
    takt_client_note(client, server, 0);
    takt_client_ask(client);
}

static int open_store(takt_client *client, const takt_policy *policy, takt_error *error)
{
    takt_store_options options = takt_location_options(&client->options, policy);
    const char *url = takt_location_url(&client->options, policy);
    int code;

    options.on_event = store_event;
    options.on_hint = store_hint;
    options.on_wake = store_wake;
    options.on_news = store_news;
    options.on_connection = store_connection;
    options.on_gone = store_gone;
    options.data = client;
    code = takt_store_open(&client->store, client->loop, url, &options, error);
    client->scheduler.relayed = code == 0 && client->store->relays;
    return code;
}

/* Frees the client on failure, at once or when its store has closed. */
static int open_parts(takt_client *client, const takt_policy *policy, takt_error *error)
{
    uint64_t random[2] = {uv_hrtime(), (uint64_t)(uintptr_t)client};
    int code;

    (void)uv_random(NULL, NULL, random, sizeof random, 0,
                    NULL); /* if this fails, the clock and an address must do */
    code = takt_registry_init(&client->scheduler, random[0], random[1], client);
    if (code < 0) {
        takt_fail(error, code, "no memory");
        takt_follow_close(client);
        free(client->told);
        free(client);
        return code;
    }
    takt_shadows_init(&client->shadows, &client->scheduler);
    code = takt_pass_open(client);
    if (code < 0)
        takt_fail(error, code, "no memory");
    else
        code = open_store(client, policy, error);
    if (code < 0) {
        takt_close_free(client);
        return code;
    }
    code = takt_timer_open(&client->timer, client->loop, timer_due);
    if (code < 0) {
        takt_fail(error, code, "no timer: %s", takt_strerror(code));
        client->options.on_event = NULL;
        takt_store_close(client->store, takt_close_free, client);
        return code;
    }
    uv_idle_init(client->loop, &client->pass);
    uv_check_init(client->loop, &client->pass_soon);
    takt_follow_begin(client);
    return 0;
}

/* A wrong secret is an error only if a limit of the policy uses it. */
static int find_secret(takt_client *client, takt_error *error)
{
    takt_error trouble = {0};
    int found = takt_key_secret_find(&client->key_secret, client->options.key_secret, &trouble);
    int code = takt_client_check_hashes(client, client->policy, error);

    return code < 0 && found < 0 ? takt_fail(error, found, "%s", trouble.text) : code;
}

/* Takes the policy, and allocates what depends on its size. */
static int take_policy(takt_client *client, const takt_policy *policy, takt_error *error)
{
    int code = 0;

    client->policy = policy;
    if (takt_policy_follows(policy))
        code = takt_follow_open(client, policy, error);
    if (code == 0)
        code = find_secret(client, error);
    if (code < 0)
        return code;
    client->told = calloc(client->policy->limit_count + 1, sizeof *client->told);
    return client->told ? 0 : takt_fail(error, TAKT_E_NOMEM, "no memory");
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
    opened->run_passes = takt_pass_run_due;
    takt_fork_watch();
    opened->forks = takt_fork_count;
    takt_list_init(&opened->held_tries);
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
    opened->options.store = opened->options.name_space = opened->options.key_secret =
        NULL; /* the caller's memory, no longer needed */
    *client = opened;
    return 0;
}
