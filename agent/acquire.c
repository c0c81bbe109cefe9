/*
 * acquire.c: from ACQUIRE to a waiter, and from a permit to its answer. TRY, which does not wait,
 * asks the client itself.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent.h"
#include "kit/text.h"
#include "lines.h"
#include "reply.h"
#include "words.h"

#define OPTIONS     "COST, PRIORITY, WAIT, WITHIN, TENANT, DETACH, TAG"
#define TRY_OPTIONS "COST, WITHIN, TENANT, DETACH, STANDING"

/* After the library's description of a request. */
#define HOW " (COST UNIT N is an amount, and WITHIN KEY the key of an outer limit)"

/* What a command asks for. */
typedef struct asked {
    char limit[TAKT_NAME_SIZE_MAX + 1];
    takt_request request;
    int amount_count, within_count;
    int64_t wait_us, detach_us;
    const char *tag;
    bool tells_standing;
} asked;

/* ---- the command ----------------------------------------------------------------------------- */

static void read_cost(takt_agent_words *words, asked *asked)
{
    takt_amount amount;

    takt_agent_words_amount(words, &amount, 1, TAKT_COST_MAX);
    if (words->wrong)
        return;
    if (!amount.unit)
        asked->request.cost = (int32_t)amount.amount;
    else if (asked->amount_count == TAKT_AMOUNTS_MAX)
        takt_agent_words_refuse(words, "COST UNIT N can be given for %d units at most",
                                TAKT_AMOUNTS_MAX);
    else
        asked->request.amounts[asked->amount_count++] = amount;
}

static void read_within(takt_agent_words *words, asked *asked)
{
    const char *key = takt_agent_words_text(words, "the key of WITHIN", TAKT_KEY_SIZE_MAX);

    if (asked->within_count == TAKT_LEVELS_MAX - 1)
        takt_agent_words_refuse(words,
                                "WITHIN can be given %d times at most, once for each outer limit",
                                TAKT_LEVELS_MAX - 1);
    else
        asked->request.within_keys[asked->within_count++] = *key ? key : NULL;
}

static bool read_option(takt_agent_words *words, asked *asked, bool waits)
{
    if (takt_agent_words_are(words, "COST"))
        read_cost(words, asked);
    else if (takt_agent_words_are(words, "WITHIN"))
        read_within(words, asked);
    else if (takt_agent_words_are(words, "TENANT"))
        asked->request.tenant =
            takt_agent_words_text(words, "the name of TENANT", TAKT_TENANT_SIZE_MAX);
    else if (takt_agent_words_are(words, "DETACH"))
        asked->detach_us = takt_agent_words_duration(words, "DETACH");
    else if (waits && takt_agent_words_are(words, "PRIORITY"))
        asked->request.priority =
            (int32_t)takt_agent_words_number(words, "PRIORITY", 0, TAKT_PRIORITY_MAX);
    else if (waits && takt_agent_words_are(words, "WAIT"))
        asked->wait_us = takt_agent_words_duration(words, "WAIT");
    else if (waits && takt_agent_words_are(words, "TAG"))
        asked->tag = takt_agent_words_text(words, "the tag", TAKT_AGENT_TAG_MAX);
    else if (!waits && takt_agent_words_are(words, "STANDING"))
        asked->tells_standing = true;
    else
        return false;
    return true;
}

/* False: it cannot be done, and the error was written. */
static bool read_asked(takt_agent_connection *connection, const takt_reply *first, int count,
                       bool waits, asked *asked)
{
    takt_agent *agent = connection->agent;
    const takt_policy *policy;
    takt_agent_words words;
    takt_error error = {0};
    const char *key;
    int code;

    *asked = (struct asked){.request = TAKT_REQUEST(asked->limit)};
    takt_agent_words_begin(&words, connection, first, count);
    takt_agent_words_target(&words, asked->limit, &key);
    asked->request.key = key;
    while (takt_agent_words_left(&words) && read_option(&words, asked, waits))
        ;
    if (!takt_agent_words_end(&words, waits ? OPTIONS : TRY_OPTIONS))
        return false;
    if (agent->draining) {
        takt_agent_reply_error(connection, "CLOSING", "the agent is shutting down");
        return false;
    }
    policy = takt_agent_policy_of(agent, asked->limit);
    code = takt_check_request(policy, &asked->request, &error);
    if (!takt_policy_fair(policy, asked->limit)) /* wishes that name others are alike */
        asked->request.tenant = NULL;
    if (code == TAKT_E_NO_LIMIT)
        takt_agent_refuse_limit(connection, asked->limit);
    else if (code != 0)
        takt_agent_reply_error(connection, takt_agent_code(code), "%s%s",
                               error.text[0] ? error.text : takt_strerror(code),
                               code == TAKT_E_INVALID ? HOW : "");
    return code == 0;
}

static void tell_permit(takt_agent_connection *connection, const takt_agent_permit *permit,
                        uint64_t since_ns)
{
    takt_agent_reply_text(connection, permit->token, TAKT_AGENT_TOKEN_SIZE - 1);
    takt_agent_reply_integer(connection, permit->permit.fence);
    takt_agent_reply_integer(connection, permit->permit.slot_at_us);
    takt_agent_reply_integer(connection, (int64_t)((uv_hrtime() - since_ns) / 1000));
}

/* ---- tags ------------------------------------------------------------------------------------ */

/* A tag's key: the number of its connection, and the tag. */
static size_t write_tag(const takt_agent_connection *connection, const char *tag, char *text)
{
    memcpy(text, &connection->number, sizeof(connection->number));
    strcpy(text + sizeof(connection->number), tag);
    return sizeof(connection->number) + strlen(tag);
}

static takt_agent_waiter *find_tagged(takt_agent_connection *connection, const char *tag)
{
    char text[sizeof(uint64_t) + TAKT_AGENT_TAG_MAX + 1];
    takt_entry *found =
        takt_table_find(&connection->agent->waiters.tags, text, write_tag(connection, tag, text));

    return found ? TAKT_HOLDER(found, takt_agent_waiter, tagged) : NULL;
}

static const char *tag_of(const takt_agent_waiter *waiter)
{
    return waiter->tag + sizeof(uint64_t);
}

/* ---- waiters --------------------------------------------------------------------------------- */

/* The waiter is in no list from now on; its answer can be written. Returns the connection. */
static takt_agent_connection *take_out(takt_agent_waiter *waiter)
{
    takt_agent_connection *connection = waiter->seat->of.connection;
    takt_agent *agent = connection->agent;

    takt_agent_unset_alarm(agent, &waiter->over);
    takt_list_remove(&waiter->in_connection);
    takt_agent_lines_leave(waiter);
    if (waiter->tag)
        takt_table_remove(&agent->waiters.tags, &waiter->tagged);
    agent->waiters.count--;
    if (!waiter->tag && --connection->waits == 0)
        takt_agent_go_on(connection);
    return connection;
}

static void free_waiter(takt_agent_waiter *waiter)
{
    free(waiter->tag);
    free(waiter);
}

void takt_agent_waiter_leave(takt_agent_waiter *waiter)
{
    take_out(waiter);
    free_waiter(waiter);
}

size_t takt_agent_waiting(const takt_agent *agent)
{
    return agent->waiters.count + takt_relays_waiting(agent->relays, NULL, NULL);
}

void takt_agent_waiter_granted(takt_agent_waiter *waiter, takt_agent_permit *permit)
{
    takt_agent_connection *connection = take_out(waiter);

    connection->agent->figures.grants++;
    takt_agent_permit_give(permit, connection, waiter->detach_ms);
    if (waiter->tag) {
        takt_agent_reply_push(connection, 6);
        takt_agent_reply_string(connection, "acquired");
        takt_agent_reply_string(connection, tag_of(waiter));
    } else {
        takt_agent_reply_array(connection, 4);
    }
    tell_permit(connection, permit, waiter->since_ns);
    free_waiter(waiter);
}

void takt_agent_waiter_refused(takt_agent_waiter *waiter, int code, int64_t retry_after_us)
{
    takt_agent_connection *connection = take_out(waiter);

    connection->agent->figures.refusals++;
    if (waiter->tag) {
        takt_agent_reply_push(connection, 5);
        takt_agent_reply_string(connection, "refused");
        takt_agent_reply_string(connection, tag_of(waiter));
        takt_agent_reply_string(connection, takt_agent_code(code));
        takt_agent_reply_integer(connection, retry_after_us);
        takt_agent_reply_string(connection, takt_strerror(code));
    } else if (code == TAKT_E_DEADLINE) {
        takt_agent_reply_nil(connection);
    } else {
        takt_agent_reply_error(connection, takt_agent_code(code), "%s", takt_strerror(code));
    }
    free_waiter(waiter);
}

static void on_over(takt_agent *agent, takt_agent_alarm *alarm)
{
    (void)agent;
    takt_agent_waiter_refused(TAKT_HOLDER(alarm, takt_agent_waiter, over), TAKT_E_DEADLINE, 0);
}

static takt_agent_waiter *new_waiter(takt_agent_connection *connection, const asked *asked)
{
    takt_agent_waiter *waiter = calloc(1, sizeof(*waiter));

    if (!waiter)
        return NULL;
    waiter->since_ns = uv_hrtime();
    waiter->detach_ms = asked->detach_us / 1000;
    if (!asked->tag)
        return waiter;
    waiter->tag = malloc(sizeof(uint64_t) + strlen(asked->tag) + 1);
    if (!waiter->tag) {
        free(waiter);
        return NULL;
    }
    waiter->tagged.key = waiter->tag;
    waiter->tagged.size = write_tag(connection, asked->tag, waiter->tag);
    return waiter;
}

/* Lets it wait. False: no memory. */
static bool enter(takt_agent_connection *connection, takt_agent_waiter *waiter, const asked *asked)
{
    takt_agent *agent = connection->agent;
    takt_agent_wish *wish = takt_agent_wish_get(agent, &asked->request);
    bool entered = wish && takt_agent_lines_enter(wish, connection, waiter);

    if (entered) {
        agent->waiters.count++;
        agent->figures.acquires++;
        takt_list_append(&connection->waiters, &waiter->in_connection);
        if (waiter->tag)
            takt_table_add(&agent->waiters.tags, &waiter->tagged);
        else
            connection->waits++;
        if (asked->wait_us > 0)
            takt_agent_set_alarm(agent, &waiter->over, (asked->wait_us + 999) / 1000, on_over);
        takt_agent_line_ask(agent, wish->line);
    }
    if (wish)
        takt_agent_wish_put(wish);
    return entered;
}

/* The words behind the command's name as one text; its size, or 0: they are too long. */
static size_t write_words(const takt_reply *words, int count, char text[TAKT_AGENT_REPEATED_MAX])
{
    size_t size = 0;

    for (int i = 1; i < count; i++) {
        if (words[i].size + 1 > TAKT_AGENT_REPEATED_MAX - size)
            return 0;
        text[size++] = (char)words[i].size;
        memcpy(text + size, words[i].text, words[i].size);
        size += words[i].size;
    }
    return size;
}

bool takt_agent_acquire_joins(const takt_agent_connection *connection, const takt_reply *words,
                              int count)
{
    char text[TAKT_AGENT_REPEATED_MAX];

    return connection->repeated > 0 && words->size == strlen("ACQUIRE") &&
           strcasecmp(words->text, "ACQUIRE") == 0 &&
           write_words(words, count, text) == connection->repeated &&
           memcmp(text, connection->repeated_words, connection->repeated) == 0;
}

void takt_agent_acquire(takt_agent_connection *connection, const takt_reply *words, int count)
{
    takt_agent *agent = connection->agent;
    takt_agent_waiter *waiter;
    asked asked;

    if (!read_asked(connection, words, count, true, &asked))
        return;
    if (asked.tag && connection->protocol != 3) {
        takt_agent_reply_error(connection, "ERR", "TAG needs RESP3: send HELLO 3 first");
        return;
    }
    if (asked.tag && find_tagged(connection, asked.tag)) {
        takt_agent_reply_error(connection, "ERR",
                               "a waiter of this connection has the tag already");
        return;
    }
    if (agent->waiters.count >= TAKT_AGENT_WAITERS_MAX) {
        takt_agent_reply_error(connection, "ERR", "the agent has %d waiters already",
                               TAKT_AGENT_WAITERS_MAX);
        return;
    }
    waiter = new_waiter(connection, &asked);
    if (!waiter) {
        takt_agent_reply_error(connection, "ERR", "no memory");
        return;
    }
    if (asked.tag)
        takt_agent_reply_status(connection, "QUEUED");
    if (!asked.tag && connection->waits == 0) /* time limits follow each other */
        connection->repeated =
            asked.wait_us > 0 ? 0 : write_words(words, count, connection->repeated_words);
    if (!enter(connection, waiter, &asked)) {
        free_waiter(waiter);
        takt_agent_break_off(connection); /* the connection may have answered QUEUED */
    }
}

void takt_agent_cancel(takt_agent_connection *connection, const takt_reply *words, int count)
{
    takt_agent_waiter *waiter =
        words[1].size <= TAKT_AGENT_TAG_MAX && strlen(words[1].text) == words[1].size
            ? find_tagged(connection, words[1].text)
            : NULL;

    (void)count;
    if (waiter)
        takt_agent_waiter_leave(waiter);
    takt_agent_reply_integer(connection, waiter != NULL);
}

/* ---- TRY ------------------------------------------------------------------------------------- */

static void on_tried(takt_call *of_client, int status, const takt_standing *standing)
{
    takt_agent_call *call = TAKT_HOLDER(of_client, takt_agent_call, call);
    takt_agent *agent = call->agent;
    takt_agent_permit *permit = call->permit;
    bool tells_standing = call->tells_standing;
    uint64_t since_ns = call->since_ns;
    takt_agent_connection *connection = takt_agent_call_end(call);

    if (!connection || status != 0)
        takt_agent_permit_release(agent, permit);
    if (!connection)
        return;
    if (status != 0 && status != TAKT_E_NO_SLOT) {
        agent->figures.refusals++;
        takt_agent_reply_error(connection, takt_agent_code(status), "%s", takt_strerror(status));
        return;
    }
    if (tells_standing)
        takt_agent_reply_array(connection, 2);
    if (status == 0) {
        agent->figures.grants++;
        takt_agent_permit_give(permit, connection, permit->detach_ms);
        takt_agent_reply_array(connection, 4);
        tell_permit(connection, permit, since_ns);
    } else {
        takt_agent_reply_nil(connection);
    }
    if (tells_standing)
        takt_agent_standing_reply(connection, standing);
}

void takt_agent_try(takt_agent_connection *connection, const takt_reply *words, int count)
{
    takt_agent *agent = connection->agent;
    takt_agent_permit *permit;
    takt_agent_call *call;
    asked asked;
    int code;

    if (!read_asked(connection, words, count, false, &asked))
        return;
    call = takt_agent_call_begin(connection);
    if (!call)
        return;
    call->permit = permit = calloc(1, sizeof(*permit));
    call->tells_standing = asked.tells_standing;
    if (permit) {
        takt_list_init(&permit->in_wish);
        takt_list_init(&permit->in_connection);
        permit->detach_ms = asked.detach_us / 1000;
        permit->wish = takt_agent_wish_get(agent, &asked.request);
    }
    code = !permit || !permit->wish
               ? TAKT_E_NOMEM
               : takt_try_acquire(takt_agent_client_of(agent, asked.limit), &call->call,
                                  &permit->permit, &asked.request, on_tried);
    agent->figures.acquires += code == 0;
    if (code == 0)
        return;
    if (permit)
        takt_agent_permit_release(agent, permit);
    takt_agent_call_end(call);
    takt_agent_reply_error(connection, takt_agent_code(code), "%s", takt_strerror(code));
}
