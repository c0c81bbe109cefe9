/*
 * relay_call.c: the calls of programs that are no claims: they go to the agent's store, and their
 * answers come back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/integers.h"
#include "client/call.h"
#include "client/try.h"
#include "core/ledger.h"
#include "policy/unit_text.h"
#include "relay/relay.h"
#include "scheduler/registry.h"
#include "store/policy_record.h"

/* A call under way. */
typedef struct relay_call {
    takt_call call;
    takt_store_call stored; /* POLICY, APPLY */
    takt_policy_exchange exchange;
    takt_relay *relay; /* NULL: its connection has ended */
    takt_client *client;
    takt_link link;
    int64_t number;
    takt_calling *calling; /* of a ledger, also when it has just ended; NULL: it did not begin */
    takt_ticket *ticket;   /* TRY */
    takt_desk *desk;       /* NULL: a policy, or the connection has ended */
    char text[];           /* APPLY: the new policy */
} relay_call;

void takt_relay_call_leave(takt_relay *relay)
{
    while (!takt_list_empty(&relay->calls)) {
        relay_call *call = TAKT_HOLDER(relay->calls.next, relay_call, link);
        takt_list_remove(&call->link);
        call->relay = NULL;
        call->desk = NULL;
    }
}

static relay_call *begin(takt_relay *relay, int64_t number, size_t text_size)
{
    relay_call *call = calloc(1, sizeof *call + text_size + 1);

    if (call == NULL)
        return NULL;
    call->relay = relay;
    call->client = relay->relays->client;
    call->number = number;
    takt_list_append(&relay->calls, &call->link);
    relay->call_count++;
    return call;
}

/* ---- answers ------------------------------------------------------------------------- */

static void send_answer(const relay_call *call, const char *numbers, size_t size,
                        const char *reason, const char *text, size_t text_size)
{
    char number[24];
    const char *words[] = {"answer", number, numbers, reason, text};
    size_t sizes[] = {6, 0, size, strlen(reason), text_size};

    sizes[1] = (size_t)snprintf(number, sizeof number, "%lld", (long long)call->number);
    takt_report_send(call->relay, 5, words, sizes);
}

static void end(relay_call *call)
{
    takt_desk *desk = call->desk;

    takt_list_remove(&call->link);
    if (call->relay != NULL)
        call->relay->call_count--;
    free(call);
    if (desk == NULL)
        return;
    desk->calls--;
    takt_desk_tidy(desk);
}

/* What a try has got belongs to the desk. */
static int64_t take(relay_call *call, int status, int64_t *fence)
{
    takt_ticket *ticket = call->ticket;
    const takt_permit *permit;

    *fence = 0;
    if (ticket == NULL)
        return 0;
    if (status != 0 || call->desk == NULL || ticket->permit.hold == TAKT_HOLD_NONE) {
        takt_release(&ticket->permit);
        free(ticket);
        return 0;
    }
    permit = &ticket->permit;
    *fence = permit->fence;
    takt_wants_hold(call->desk, ticket);
    return permit->hold == TAKT_HOLD_HELD ? permit->queue->holding.leased_until_us : 0;
}

/* Programs name the units of their policies themselves: a standing has them by number. */
static void number_units(const takt_limit *limit, const takt_standing *standing,
                         takt_standing *numbered)
{
    *numbered = *standing;
    for (int i = 0; i < numbered->rule_count; i++) {
        int unit = takt_unit_named_in(limit, numbered->rules[i].unit);
        if (unit >= 0)
            numbered->rules[i].unit = takt_unit_name((takt_unit)unit);
    }
}

static void on_answered(takt_call *taken, int status, const takt_standing *standing)
{
    relay_call *call = (relay_call *)taken;
    char text[TAKT_RELAY_TEXT_SIZE];
    takt_writer writer = {text, text + sizeof text, false};
    takt_standing none = {0};
    int64_t fence, leased_us = take(call, status, &fence);

    if (call->relay != NULL) {
        /* the programs' own limits have no on_store_failure here: it decides there */
        takt_relay_write(&writer, status == 0 && standing == NULL ? TAKT_E_STORE : status);
        takt_relay_write(&writer, fence);
        takt_relay_write(&writer, takt_max(leased_us, 0));
        if (standing != NULL)
            number_units(takt_store_told_limit(&call->calling->call), standing, &none);
        takt_relay_write_standing(&writer, &none);
        takt_relay_write(&writer, standing != NULL ? call->calling->call.ledger_no : 0);
        send_answer(call, text, (size_t)(writer.at - text),
                    standing != NULL ? standing->reason
                                     : takt_report_trouble(call->relay->relays, status),
                    "", 0);
    }
    end(call);
}

static void on_policy(takt_store_call *stored)
{
    relay_call *call = TAKT_HOLDER(stored, relay_call, stored);
    takt_policy_exchange *exchange = &call->exchange;
    char text[120];
    takt_writer writer = {text, text + sizeof text, false};
    bool fine = stored->status == 0 || stored->status == TAKT_E_OVERTAKEN;

    call->client->calls.in_flight--;
    takt_client_ask(call->client);
    if (takt_is_of_store(stored->status))
        takt_client_note(call->client, stored->server, stored->status);
    if (call->relay != NULL) {
        takt_relay_write(&writer, stored->status);
        takt_relay_write(&writer, 0);
        takt_relay_write(&writer, 0);
        takt_relay_write(&writer, exchange->version);
        takt_relay_write(&writer, exchange->at_us);
        send_answer(call, text, (size_t)(writer.at - text),
                    fine ? "" : takt_report_trouble(call->relay->relays, stored->status),
                    exchange->kept != NULL ? exchange->kept : "", exchange->kept_size);
    }
    free(exchange->kept);
    end(call);
}

/* ---- calls --------------------------------------------------------------------------- */

static void submit_policy(relay_call *call, takt_op op)
{
    takt_policy_call(&call->stored, op, &call->exchange);
    call->stored.done = on_policy;
    call->client->calls.in_flight++;
    takt_store_submit(call->client->store, &call->stored);
}

void takt_relay_call_probe(takt_client *client)
{
    relay_call *call = calloc(1, sizeof *call);

    if (call == NULL)
        return;
    call->client = client;
    takt_list_init(&call->link);
    submit_policy(call, TAKT_OP_POLICY);
}

static bool ask_policy(takt_relay *relay, takt_op op, int64_t number, const char *const *words,
                       const size_t *sizes)
{
    bool apply = op == TAKT_OP_APPLY;
    relay_call *call = begin(relay, number, apply ? sizes[5] : 0);
    takt_reader reader = {words[3], words[3] + sizes[3], false};

    if (call == NULL)
        return true; /* the program gives up when its time is over */
    call->exchange.seen_version = takt_relay_read(&reader, 0, INT64_MAX);
    call->exchange.seen_at_us = takt_relay_read(&reader, 0, INT64_MAX);
    if (reader.bad || (apply && sizes[4] >= TAKT_CHANGE_SIZE)) {
        end(call);
        return false;
    }
    if (apply) {
        memcpy(call->exchange.change, words[4], sizes[4]);
        memcpy(call->text, words[5], sizes[5]);
        call->exchange.text = call->text;
        call->exchange.size = sizes[5];
    }
    submit_policy(call, op);
    return true;
}

/* A call to a ledger, as its message has it. */
typedef struct asked {
    takt_op op;
    int64_t cost, for_us, slot_us, requests, actual;
    int64_t weight, priority; /* weight 0: no tenant is settled */
    int64_t more[TAKT_MORE_MAX], actual_more[TAKT_MORE_MAX];
    char reason[TAKT_REASON_SIZE_MAX + 1];
} asked;

static bool read_numbers(const char *text, size_t size, asked *read)
{
    takt_reader reader = {text, text + size, false};

    read->op = (takt_op)takt_relay_read(&reader, TAKT_OP_TRY, TAKT_OP_LOWER);
    read->cost = takt_relay_read_amounts(&reader, INT64_MIN, TAKT_EXACT_MAX, read->more);
    read->for_us = takt_relay_read(&reader, 0, TAKT_SPAN_MAX_US);
    read->slot_us = takt_relay_read(&reader, 0, TAKT_EXACT_MAX);
    read->requests = takt_relay_read(&reader, INT64_MIN, TAKT_EXACT_MAX);
    read->actual = takt_relay_read_amounts(&reader, INT64_MIN, TAKT_EXACT_MAX, read->actual_more);
    read->weight = read->priority = 0;
    if (reader.at < reader.end) {
        read->weight = takt_relay_read(&reader, 1, TAKT_TENANT_WEIGHT_MAX);
        read->priority = takt_relay_read(&reader, 0, TAKT_PRIORITY_MAX);
    }
    return takt_read_done(&reader);
}

static bool read_reason(const char *text, size_t size, asked *read)
{
    memset(read->reason, 0, sizeof read->reason);
    if (size >= sizeof read->reason)
        return false;
    memcpy(read->reason, text, size);
    return size == 0 || takt_check_reason(read->reason, NULL) == 0;
}

static bool can_try(const asked *read)
{
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        if (read->more[i] < 0 || read->more[i] > TAKT_COST_MAX)
            return false;
    return read->cost >= 1 && read->cost <= TAKT_COST_MAX;
}

static takt_more more_of(const asked *read)
{
    takt_more more;

    for (int i = 0; i < TAKT_MORE_MAX; i++)
        more.of[i] = (int32_t)read->more[i];
    return more;
}

/* A call to the ledgers of a desk.  NULL: no memory. */
static relay_call *begin_at(takt_desk *desk, int64_t number, bool tries)
{
    relay_call *call = begin(desk->relay, number, 0);

    if (call == NULL)
        return NULL;
    call->desk = desk;
    desk->calls++;
    call->call.callback = on_answered;
    call->ticket = tries ? takt_ticket_new(desk->counter) : NULL;
    call->calling = !tries || call->ticket != NULL ? takt_call_new(call->client) : NULL;
    if (call->calling == NULL) {
        free(call->ticket);
        end(call);
        return NULL;
    }
    call->call.calling = call->calling;
    call->calling->owner = &call->call;
    return call;
}

static void send_try(const relay_call *call, takt_queue *queue, const asked *read)
{
    call->calling->trying.path = (takt_path){.queues = {queue},
                                             .costs = {(int32_t)read->cost},
                                             .more = {more_of(read)},
                                             .count = 1,
                                             .enforcing = true};
    takt_try_begin(call->calling, &call->ticket->permit);
}

/* The agent is shutting down. */
static void refuse_try(const relay_call *call)
{
    call->calling->call.status = TAKT_E_STORE;
    takt_call_finish(call->calling, NULL);
}

static void send_other(const relay_call *call, const takt_queue *queue, const asked *read)
{
    const char *tenant = takt_counter_tenant(call->desk->counter);
    takt_calling *calling = call->calling;

    takt_call_aim(calling, queue->limit, queue->key);
    calling->call.op = read->op;
    calling->call.cost = read->cost;
    memcpy(calling->call.more, read->more, sizeof read->more);
    calling->call.for_us = read->for_us;
    calling->call.slot_us = read->slot_us;
    calling->call.requests = read->requests;
    calling->call.actual = read->actual;
    memcpy(calling->call.actual_more, read->actual_more, sizeof read->actual_more);
    strcpy(calling->reason, read->reason);
    calling->call.reason = read->reason[0] ? calling->reason : NULL;
    if (read->weight > 0) {
        calling->call.tenant = strcpy(calling->tenant, tenant != NULL ? tenant : "");
        calling->call.tenant_weight = (int32_t)read->weight;
        calling->call.priority = (int)read->priority;
    }
    takt_call_send(calling);
}

/* A try may name nested limits; each other call names one limit. */
static bool is_valid(const takt_desk *desk, const asked *read)
{
    return read->op == TAKT_OP_TRY ? can_try(read) : desk->counter->said.count == 1;
}

static bool ask_ledger(takt_relay *relay, int64_t number, const char *const *words,
                       const size_t *sizes)
{
    takt_desk *desk = takt_desk_at(relay, words[3], sizes[3], words[4], sizes[4], false);
    takt_queue *queue;
    relay_call *call;
    asked read;

    if (desk == NULL || !read_numbers(words[5], sizes[5], &read) ||
        !read_reason(words[6], sizes[6], &read) || !is_valid(desk, &read))
        return false;
    queue = takt_counter_queue(desk->counter);
    call = queue != NULL ? begin_at(desk, number, read.op == TAKT_OP_TRY) : NULL;
    if (call == NULL)
        return true; /* no memory: the program gives up when its time is over */
    if (read.op != TAKT_OP_TRY)
        send_other(call, queue, &read);
    else if (relay->relays->draining)
        refuse_try(call);
    else
        send_try(call, queue, &read);
    return true;
}

bool takt_relay_call(takt_relay *relay, int count, const char *const *words, const size_t *sizes)
{
    takt_reader reader = {words[2], words[2] + sizes[2], false};
    int64_t number = takt_read_int(&reader, 1, INT64_MAX);

    if (!takt_read_done(&reader))
        return false;
    if (count == 7 && sizes[1] == 4 && memcmp(words[1], "CALL", 4) == 0)
        return ask_ledger(relay, number, words, sizes);
    if (count == 4 && sizes[1] == 6 && memcmp(words[1], "POLICY", 6) == 0)
        return ask_policy(relay, TAKT_OP_POLICY, number, words, sizes);
    if (count == 6 && sizes[1] == 5 && memcmp(words[1], "APPLY", 5) == 0)
        return ask_policy(relay, TAKT_OP_APPLY, number, words, sizes);
    return false;
}
