/*
 * ledger.c: the calls that look at a ledger or steer it. Each answers with the standing after it.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent.h"
#include "reply.h"
#include "words.h"

/* ---- standings ------------------------------------------------------------------------------- */

static void tell(takt_agent_connection *connection, const char *name, int64_t value)
{
    takt_agent_reply_string(connection, name);
    takt_agent_reply_integer(connection, value);
}

static void tell_rules(takt_agent_connection *connection, const takt_standing *standing)
{
    takt_agent_reply_string(connection, "rules");
    takt_agent_reply_array(connection, (size_t)standing->rule_count);
    for (int i = 0; i < standing->rule_count; i++) {
        const takt_rule_standing *rule = &standing->rules[i];
        takt_agent_reply_map(connection, 4);
        takt_agent_reply_string(connection, "unit");
        takt_agent_reply_string(connection, rule->unit);
        tell(connection, "limit", rule->limit);
        tell(connection, "remaining", rule->remaining);
        tell(connection, "reset_after_us", rule->reset_after_us);
    }
}

void takt_agent_standing_reply(takt_agent_connection *connection, const takt_standing *standing)
{
    if (!standing) {
        takt_agent_reply_nil(connection);
        return;
    }
    takt_agent_reply_map(connection, 16);
    tell(connection, "now_us", standing->now_us);
    tell(connection, "limit_tokens", standing->limit);
    tell(connection, "remaining", standing->remaining);
    tell(connection, "retry_after_us", standing->retry_after_us);
    tell(connection, "reset_after_us", standing->reset_after_us);
    tell(connection, "blocked_until_us", standing->blocked_until_us);
    tell(connection, "waiting", standing->waiting);
    tell(connection, "workers", standing->workers);
    tell(connection, "concurrency", standing->concurrency);
    tell(connection, "held", standing->held);
    tell(connection, "holders", standing->holders);
    tell(connection, "rate_percent", standing->rate_percent);
    tell(connection, "watched_since_us", standing->watched_since_us);
    tell(connection, "taken", standing->taken);
    takt_agent_reply_string(connection, "reason");
    takt_agent_reply_string(connection, standing->reason[0] ? standing->reason : NULL);
    tell_rules(connection, standing);
}

/* ---- calls ----------------------------------------------------------------------------------- */

takt_agent_call *takt_agent_call_begin(takt_agent_connection *connection)
{
    takt_agent_call *call = calloc(1, sizeof(*call));

    if (!call) {
        takt_agent_reply_error(connection, "ERR", "no memory");
        return NULL;
    }
    call->agent = connection->agent;
    call->connection = connection;
    call->since_ns = uv_hrtime();
    connection->call = call;
    return call;
}

takt_agent_connection *takt_agent_call_end(takt_agent_call *call)
{
    takt_agent_connection *connection = call->connection;

    free(call);
    if (connection) {
        connection->call = NULL;
        takt_agent_go_on(connection);
    }
    return connection;
}

static void on_answer(takt_call *of_client, int status, const takt_standing *standing)
{
    takt_agent_connection *connection =
        takt_agent_call_end(TAKT_HOLDER(of_client, takt_agent_call, call));

    if (!connection)
        return;
    if (status == 0)
        takt_agent_standing_reply(connection, standing);
    else
        takt_agent_reply_error(connection, takt_agent_code(status), "%s", takt_strerror(status));
}

/* ---- commands -------------------------------------------------------------------------------- */

/* The words of a command. */
typedef struct told {
    char limit[TAKT_NAME_SIZE_MAX + 1];
    const char *key, *reason, *unit;
    int64_t time_us, number;
    bool watches;
} told;

static void read_reason(takt_agent_words *words, told *told)
{
    takt_error error = {0};

    if (!takt_agent_words_are(words, "REASON"))
        return;
    told->reason = takt_agent_words_text(words, "the reason", TAKT_REASON_SIZE_MAX);
    if (!words->wrong && takt_check_reason(told->reason, &error) != 0)
        takt_agent_words_refuse(words, "%s", error.text);
}

static void read_peek(takt_agent_words *words, told *told)
{
    told->watches = takt_agent_words_are(words, "WATCH");
    if (told->watches)
        told->time_us = takt_agent_words_duration(words, "WATCH");
}

static void read_block(takt_agent_words *words, told *told)
{
    told->time_us = takt_agent_words_duration(words, "the time");
    read_reason(words, told);
}

static void read_penalty(takt_agent_words *words, told *told)
{
    if (takt_agent_words_left(words) && strcasecmp(words->at->text, "REASON") != 0)
        told->time_us = takt_agent_words_duration(words, "the time");
    read_reason(words, told);
}

static void read_lower(takt_agent_words *words, told *told)
{
    told->number = takt_agent_words_number(words, "what is left", 0, TAKT_SETTLED_MAX);
    if (takt_agent_words_left(words))
        told->unit = takt_agent_words_text(words, "the unit", TAKT_UNIT_SIZE_MAX);
}

static void read_nothing(takt_agent_words *words, told *told)
{
    (void)words, (void)told;
}

static int peek(takt_client *client, takt_call *call, const told *told)
{
    return told->watches
               ? takt_watch(client, call, told->limit, told->key, told->time_us, on_answer)
               : takt_peek(client, call, told->limit, told->key, on_answer);
}

static int block(takt_client *client, takt_call *call, const told *told)
{
    return takt_block(client, call, told->limit, told->key, told->time_us, told->reason, on_answer);
}

static int penalize(takt_client *client, takt_call *call, const told *told)
{
    return takt_penalize(client, call, told->limit, told->key, told->time_us, told->reason,
                         on_answer);
}

static int unblock(takt_client *client, takt_call *call, const told *told)
{
    return takt_unblock(client, call, told->limit, told->key, on_answer);
}

static int lower(takt_client *client, takt_call *call, const told *told)
{
    return takt_lower(client, call, told->limit, told->key, told->unit, told->number, on_answer);
}

static int reset(takt_client *client, takt_call *call, const told *told)
{
    return takt_reset(client, call, told->limit, told->key, on_answer);
}

static const struct kind {
    const char *name, *options;
    void (*read)(takt_agent_words *words, told *told);
    int (*call)(takt_client *client, takt_call *call, const told *told);
} kinds[] = {
    {"PEEK", "WATCH", read_peek, peek},
    {"BLOCK", "REASON", read_block, block},
    {"PENALIZE", "REASON", read_penalty, penalize},
    {"UNBLOCK", "", read_nothing, unblock},
    {"LOWER", "", read_lower, lower},
    {"RESET", "", read_nothing, reset},
};

void takt_agent_ledger(takt_agent_connection *connection, const takt_reply *first, int count)
{
    takt_agent *agent = connection->agent;
    const struct kind *kind = kinds;
    takt_agent_words words;
    takt_agent_call *call;
    told told = {0};
    int code;

    while (strcasecmp(kind->name, first->text) != 0)
        kind++;
    takt_agent_words_begin(&words, connection, first, count);
    takt_agent_words_target(&words, told.limit, &told.key);
    kind->read(&words, &told);
    if (!takt_agent_words_end(&words, kind->options))
        return;
    call = takt_agent_call_begin(connection);
    if (!call)
        return;
    code = kind->call(takt_agent_client_of(agent, told.limit), &call->call, &told);
    if (code == 0)
        return;
    takt_agent_call_end(call);
    if (code == TAKT_E_NO_LIMIT)
        takt_agent_refuse_limit(connection, told.limit);
    else
        takt_agent_reply_error(connection, takt_agent_code(code), "%s",
                               code == TAKT_E_INVALID
                                   ? "a value is out of its range, or no rule counts the unit"
                                   : takt_strerror(code));
}
