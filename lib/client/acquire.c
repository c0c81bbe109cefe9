/*
 * acquire.c: a permit's life: asked for, given up, given back.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/time_text.h"
#include "client/client.h"
#include "scheduler/permits.h"
#include "scheduler/registry.h"
#include "scheduler/shadow.h"
#include "scheduler/waiter.h"

static int refuse_cost(const takt_limit *limit, const takt_request *request, int rule,
                       int64_t capacity, takt_error *error)
{
    char rate[64];

    takt_format_rate(limit->numbers.rules[rule].limit, limit->numbers.rules[rule].period_us, rate,
                     sizeof rate);
    return takt_fail(error, TAKT_E_COST,
                     "limit \"%s\": a cost of %d can never be given: rule %s gives at most %lld at "
                     "once; ask for less, "
                     "or raise the rule's burst",
                     limit->name, (int)request->cost, rate, (long long)capacity);
}

const char *takt_client_key(const takt_request *request, int level)
{
    const char *key = level == 0 ? request->key : request->within_keys[level - 1];

    return key ? key : "";
}

/* A key that no limit is for. */
static int refuse_key(const takt_request *request, int at, int around, takt_error *error)
{
    char many[24] = "is none";

    if (around > 0)
        snprintf(many, sizeof many, "%s only %d", around > 1 ? "are" : "is", around);
    return takt_fail(error, TAKT_E_INVALID,
                     "limit \"%s\": within_keys[%d] is for a limit around, and there %s; leave it "
                     "out",
                     request->limit, at, many);
}

/* The keys of all levels, of which there are so many. */
static int check_keys(const takt_request *request, int levels, takt_error *error)
{
    for (int level = 0; level < TAKT_LEVELS_MAX; level++) {
        if (level >= levels && request->within_keys[level - 1])
            return refuse_key(request, level - 1, levels - 1, error);
        if (strnlen(takt_client_key(request, level), TAKT_KEY_SIZE_MAX + 1) > TAKT_KEY_SIZE_MAX)
            return takt_fail(error, TAKT_E_INVALID,
                             "a key of more than %d bytes; use a shorter one, or its hash",
                             TAKT_KEY_SIZE_MAX);
    }
    return 0;
}

int takt_client_check(const takt_policy *policy, const takt_limit *hint,
                      const takt_request *request, const takt_limit **limit, takt_error *error)
{
    const takt_limit *found = hint;
    int rule = 0, levels = 0, code;

    if (!request->limit)
        return takt_fail(error, TAKT_E_INVALID, "the request names no limit");
    if (request->cost < 1 || request->cost > TAKT_COST_MAX)
        return takt_fail(error, TAKT_E_INVALID,
                         "a cost of %d; set the request up with TAKT_REQUEST, and ask for 1 to %d",
                         (int)request->cost, TAKT_COST_MAX);
    if (request->priority < TAKT_PRIORITY_POLICY || request->priority > TAKT_PRIORITY_MAX)
        return takt_fail(error, TAKT_E_INVALID, "a priority of %d; use 0 (most urgent) to %d",
                         (int)request->priority, TAKT_PRIORITY_MAX);
    if (request->max_wait_us < 0)
        return takt_fail(error, TAKT_E_INVALID,
                         "a negative max_wait_us; use 0 to wait as long as it takes");
    if (!found || strcmp(found->name, request->limit) != 0)
        found = takt_policy_find(policy, request->limit);
    if (!found)
        return takt_fail(error, TAKT_E_NO_LIMIT, "the policy has no limit \"%.80s\"",
                         request->limit);
    for (const takt_limit *at = found; at; at = at->within, levels++) {
        int64_t capacity = takt_numbers_capacity(&at->numbers, &rule);
        if (request->cost > capacity && at->mode == TAKT_MODE_ENFORCE)
            return refuse_cost(at, request, rule, capacity, error);
    }
    code = check_keys(request, levels, error);
    if (code == 0)
        *limit = found;
    return code;
}

int takt_check_request(const takt_policy *policy, const takt_request *request, takt_error *error)
{
    const takt_limit *limit;

    if (!policy || !request)
        return takt_fail(error, TAKT_E_INVALID, "policy and request are required");
    return takt_client_check(policy, NULL, request, &limit, error);
}

void takt_client_enter(takt_client *client, takt_queue *queue, takt_permit *permit)
{
    if (queue->limit->mode == TAKT_MODE_SHADOW)
        takt_shadow_acquire(&client->scheduler, queue, permit, takt_timer_now());
    else
        takt_waiter_acquire(&client->scheduler, queue, permit);
}

/* The queues of the limits around, the outermost first, so that the request's keys are read now. */
static int expect_outer(takt_client *client, takt_permit *permit, const takt_request *request,
                        const takt_limit *limit, int level)
{
    takt_queue *queue;
    int code;

    if (!limit || level == TAKT_LEVELS_MAX) /* a policy has no more; says it to the compiler, too */
        return 0;
    code = expect_outer(client, permit, request, limit->within, level + 1);
    if (code < 0)
        return code;
    queue = takt_registry_queue(&client->scheduler, limit, takt_client_key(request, level));
    if (!queue)
        return TAKT_E_NOMEM;
    takt_waiter_expect(&client->scheduler, queue, permit);
    return 0;
}

int takt_acquire(takt_client *client, takt_permit *permit, const takt_request *request,
                 takt_acquire_cb callback)
{
    const takt_limit *limit = NULL;
    takt_queue *queue;
    int code;

    if (!client || !permit || !request || !callback)
        return TAKT_E_INVALID;
    if (takt_client_is_forked(client))
        return TAKT_E_FORKED;
    if (permit->state != TAKT_PERMIT_IDLE)
        return TAKT_E_BUSY;
    if (client->closing)
        return TAKT_E_CANCELED;
    code = takt_client_check(client->policy, client->asked, request, &limit, NULL);
    if (!limit)
        return code;
    client->asked = limit; /* mostly the next one too */
    permit->hold_count = permit->outer_count = 0;
    code = expect_outer(client, permit, request, limit->within, 1);
    queue = code == 0 ? takt_registry_queue(&client->scheduler, limit, takt_client_key(request, 0))
                      : NULL;
    if (!queue) {
        takt_waiter_drop(&client->scheduler, permit);
        return TAKT_E_NOMEM;
    }
    permit->client = client;
    permit->callback = callback;
    permit->cost = request->cost;
    permit->priority = (int8_t)(request->priority < 0 ? limit->priority : request->priority);
    permit->slot_at_us = permit->retry_after_us = permit->fence = 0;
    permit->shadow_count = permit->shadow = permit->uncharged = 0;
    permit->deadline_at_us = TAKT_NEVER;
    if (request->max_wait_us > 0 && request->max_wait_us <= 2 * TAKT_SPAN_MAX_US)
        permit->deadline_at_us = takt_timer_now() + request->max_wait_us;
    takt_client_enter(client, queue, permit);
    client->stats.acquires++;
    client->stats.waiting++;
    takt_client_ask(client);
    return 0;
}

/* One that has passed an inner limit, or one in shadow, is about to wait for the limit around. */
static bool still_waits(const takt_permit *permit)
{
    return permit->state == TAKT_PERMIT_WAITING ||
           (permit->state == TAKT_PERMIT_FIRED && permit->status == 0 && permit->outer_count > 0);
}

int takt_cancel(takt_permit *permit)
{
    takt_client *client;

    if (!permit || !still_waits(permit))
        return TAKT_E_INVALID;
    client = permit->queue->owner;
    takt_scheduler_leave(&client->scheduler, permit, TAKT_E_CANCELED);
    takt_client_ask(client);
    return 0;
}

void takt_release(takt_permit *permit)
{
    takt_client *client;

    if (!permit || permit->state == TAKT_PERMIT_TRYING)
        return;
    if (permit->state == TAKT_PERMIT_WAITING || permit->state == TAKT_PERMIT_FIRED) {
        client = permit->queue->owner;
        takt_scheduler_leave(&client->scheduler, permit, 0);
        permit->slot_at_us = 0; /* nothing to settle */
        permit->uncharged = false;
        client->stats.waiting--;
        takt_client_ask(client);
    } else if (permit->state == TAKT_PERMIT_GRANTED &&
               (permit->hold_count > 0 || permit->shadow_count > 0)) {
        client = permit->client;
        takt_shadow_release(&client->scheduler, permit, takt_timer_now());
        takt_waiter_release(&client->scheduler, permit);
        takt_client_ask(client);
    }
    permit->state = TAKT_PERMIT_IDLE;
}

int takt_is_held(const takt_permit *permit)
{
    return permit && permit->state == TAKT_PERMIT_GRANTED &&
           takt_permits_are_held(permit, takt_timer_now());
}

int takt_get_shadow(const takt_client *client, const char *limit, takt_shadow *shadow)
{
    if (!client || !limit || !shadow)
        return TAKT_E_INVALID;
    if (!takt_policy_find(client->policy, limit))
        return TAKT_E_NO_LIMIT;
    takt_shadow_tell(&client->scheduler, limit, shadow);
    return 0;
}
