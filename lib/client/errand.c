/*
 * errand.c: single calls to a ledger: try, peek, block, unblock, reset.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "client/client.h"

static takt_errand *new_errand(takt_client *client)
{
    takt_errand *errand = client->spare_errands;

    if (errand)
        client->spare_errands = errand->next;
    else
        errand = malloc(sizeof *errand);
    return errand;
}

static void finish(takt_errand *errand)
{
    takt_client *client = errand->client;
    takt_call *owner = errand->owner;
    takt_standing standing = errand->call.standing;
    int status = errand->call.status;
    bool answered = status == 0 || status == TAKT_E_NO_SLOT;

    owner->errand = NULL;
    errand->next = client->spare_errands;
    client->spare_errands = errand;
    client->errands_in_flight--;
    takt_client_ask(client);
    owner->callback(owner, status, answered ? &standing : NULL);
}

/* A queue of ours on this ledger hears of what we did at once. */
static void tell_queue(const takt_errand *errand)
{
    takt_scheduler *scheduler = &errand->client->scheduler;
    takt_queue *queue = takt_scheduler_queue(scheduler, errand->limit, errand->key);

    if (queue)
        takt_scheduler_wake(scheduler, queue, errand->call.standing.blocked_until_us);
}

static void submit(takt_errand *errand, const takt_limit *limit)
{
    errand->call.limit = limit;
    errand->call.key =
        limit == errand->limit ? errand->key : ""; /* outer limits are taken as a whole */
    errand->client->stats.store_calls++;
    takt_store_submit(errand->client->store, &errand->call);
}

/* The limit to take from after one was: from the inside out, passing over the one tried first. */
static const takt_limit *next_to_take(const takt_errand *errand, const takt_limit *taken)
{
    const takt_limit *next = taken == errand->first ? errand->limit : taken->within;

    return next && next == errand->first ? next->within : next;
}

/* With `within`: looks at every limit first.  Where one has too little, a try there tells when it
 * will have enough; else, or should it have enough by now, all are taken from. */
static bool goes_on(takt_errand *errand)
{
    takt_store_call *call = &errand->call;
    const takt_limit *next;

    if (call->status != 0)
        return false;
    if (errand->looking && call->standing.remaining >= call->cost && call->limit->within) {
        next = call->limit->within;
    } else if (errand->looking) {
        errand->looking = false;
        errand->first = call->standing.remaining < call->cost ? call->limit : errand->limit;
        call->op = TAKT_OP_TRY;
        next = errand->first;
    } else {
        next = call->op == TAKT_OP_TRY ? next_to_take(errand, call->limit) : NULL;
    }
    if (next)
        submit(errand, next);
    return next != NULL;
}

/* A try that the store fails goes by each limit's on_store_failure, from the inside out.  True: it
 * is under way anew, since it had only looked yet, and there is nothing to see. */
static bool go_on_alone(takt_errand *errand)
{
    takt_scheduler *scheduler = &errand->client->scheduler;
    takt_store_call *call = &errand->call;
    takt_queue *queue;

    if (errand->looking && !errand->client->closing) {
        errand->looking = false;
        errand->first = errand->limit;
        call->op = TAKT_OP_TRY;
        submit(errand, errand->limit);
        return true;
    }
    queue =
        call->op == TAKT_OP_TRY ? takt_scheduler_queue(scheduler, call->limit, call->key) : NULL;
    if (queue)
        call->status = takt_scheduler_try_alone(scheduler, queue, call->status, (int32_t)call->cost,
                                                takt_timer_now(), &call->standing);
    return false;
}

/* How a call ended tells whether the store is there; but one that only looks may be answered where
 * nothing can be taken. */
static void note(takt_errand *errand)
{
    takt_client *client = errand->client;
    int status = errand->call.status == TAKT_E_NO_SLOT ? 0 : errand->call.status;

    if (status == 0 && errand->call.op == TAKT_OP_PEEK)
        return;
    if (status == 0)
        takt_scheduler_back(&client->scheduler);
    else
        takt_scheduler_lost(&client->scheduler, status, takt_timer_now());
    takt_client_note(client, status);
}

static void answered(takt_store_call *call)
{
    takt_errand *errand = (takt_errand *)call;

    note(errand);
    if (takt_is_of_store(call->status) && go_on_alone(errand))
        return;
    if (goes_on(errand))
        return;
    if (call->op != TAKT_OP_TRY && call->op != TAKT_OP_PEEK && call->status == 0)
        tell_queue(errand);
    finish(errand);
}

static int begin(takt_client *client, takt_call *owner, const takt_request *request, takt_op op,
                 int64_t for_us, takt_call_cb callback)
{
    const takt_limit *limit;
    takt_errand *errand;
    int code;

    if (!client || !owner || !callback)
        return TAKT_E_INVALID;
    if (client->closing)
        return TAKT_E_CANCELED;
    if (owner->errand)
        return TAKT_E_BUSY;
    code = takt_client_check(client->policy, NULL, request, &limit, NULL);
    if (code < 0)
        return code;
    errand = new_errand(client);
    if (!errand)
        return TAKT_E_NOMEM;
    *errand = (takt_errand){.client = client, .owner = owner, .limit = limit};
    strcpy(errand->key, request->key ? request->key : ""); /* its length was checked */
    errand->first = limit;
    errand->looking = op == TAKT_OP_TRY && limit->within;
    errand->call.op = errand->looking ? TAKT_OP_PEEK : op;
    errand->call.cost = request->cost;
    errand->call.for_us = for_us;
    errand->call.done = answered;
    owner->callback = callback;
    owner->errand = errand;
    client->errands_in_flight++;
    submit(errand, limit);
    return 0;
}

static int begin_plain(takt_client *client, takt_call *call, const char *limit, const char *key,
                       takt_op op, int64_t for_us, takt_call_cb callback)
{
    takt_request request = TAKT_REQUEST(limit);

    request.key = key;
    return begin(client, call, &request, op, for_us, callback);
}

int takt_try_acquire(takt_client *client, takt_call *call, const takt_request *request,
                     takt_call_cb callback)
{
    return request ? begin(client, call, request, TAKT_OP_TRY, 0, callback) : TAKT_E_INVALID;
}

int takt_peek(takt_client *client, takt_call *call, const char *limit, const char *key,
              takt_call_cb callback)
{
    return begin_plain(client, call, limit, key, TAKT_OP_PEEK, 0, callback);
}

int takt_block(takt_client *client, takt_call *call, const char *limit, const char *key,
               int64_t for_us, takt_call_cb callback)
{
    if (for_us < 0 || for_us > TAKT_SPAN_MAX_US)
        return TAKT_E_INVALID;
    return begin_plain(client, call, limit, key, TAKT_OP_BLOCK, for_us, callback);
}

int takt_unblock(takt_client *client, takt_call *call, const char *limit, const char *key,
                 takt_call_cb callback)
{
    return begin_plain(client, call, limit, key, TAKT_OP_UNBLOCK, 0, callback);
}

int takt_reset(takt_client *client, takt_call *call, const char *limit, const char *key,
               takt_call_cb callback)
{
    return begin_plain(client, call, limit, key, TAKT_OP_RESET, 0, callback);
}
