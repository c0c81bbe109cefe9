/*
 * permit.c: granted permits by their tokens. A permit belongs to the connection that it was granted
 * to, and is free when that ends, unless it was detached.
 */
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "base/random.h"
#include "base/text.h"
#include "lines.h"
#include "reply.h"
#include "words.h"

/* ---- having permits -------------------------------------------------------------------------- */

/* A token that no permit has. A token is a name and no secret: any client that can connect can
 * release any permit. */
static void name_it(takt_agent *agent, takt_agent_permit *permit)
{
    static const char digits[] = "0123456789abcdef";

    do {
        uint64_t number = takt_random(&agent->permits.random);
        for (int i = 0; i < TAKT_AGENT_TOKEN_SIZE - 1; i++, number >>= 4)
            permit->token[i] = digits[number & 15];
    } while (takt_table_find(&agent->permits.tokens, permit->token, TAKT_AGENT_TOKEN_SIZE - 1));
    permit->named.key = permit->token;
    permit->named.size = TAKT_AGENT_TOKEN_SIZE - 1;
    takt_table_add(&agent->permits.tokens, &permit->named);
}

/* Whether others wait for its release. */
static bool is_held(const takt_agent_permit *permit)
{
    return permit->permit.fence != 0;
}

static void own(takt_agent_permit *permit, takt_agent_connection *connection)
{
    permit->connection = connection;
    if (is_held(permit)) {
        takt_list_append(&connection->permits, &permit->in_connection);
        return;
    }
    takt_list_append(&connection->settled_later, &permit->in_connection);
    if (++connection->settled_later_count > TAKT_AGENT_SETTLED_LATER)
        takt_agent_permit_release(connection->agent, TAKT_HOLDER(connection->settled_later.next,
                                                                 takt_agent_permit, in_connection));
}

static void disown(takt_agent *agent, takt_agent_permit *permit)
{
    if (permit->connection && !is_held(permit))
        permit->connection->settled_later_count--;
    if (!permit->connection && !takt_list_empty(&permit->in_connection))
        agent->permits.detached_count--;
    takt_list_remove(&permit->in_connection);
    permit->connection = NULL;
}

/* No connection has it. Those that hold nothing up to a bound, the oldest go first. */
static void keep_detached(takt_agent *agent, takt_agent_permit *permit)
{
    if (is_held(permit))
        return;
    takt_list_append(&agent->permits.detached, &permit->in_connection);
    if (++agent->permits.detached_count > TAKT_AGENT_DETACHED_MAX)
        takt_agent_permit_release(
            agent, TAKT_HOLDER(agent->permits.detached.next, takt_agent_permit, in_connection));
}

void takt_agent_permit_give(takt_agent_permit *permit, takt_agent_connection *connection,
                            int64_t detach_ms)
{
    name_it(connection->agent, permit);
    permit->detach_ms = detach_ms;
    connection->agent->permits.held += is_held(permit);
    own(permit, connection);
}

void takt_agent_permit_release(takt_agent *agent, takt_agent_permit *permit)
{
    if (permit->named.size > 0) {
        takt_table_remove(&agent->permits.tokens, &permit->named);
        agent->permits.held -= is_held(permit);
    }
    disown(agent, permit);
    takt_agent_unset_alarm(agent, &permit->end);
    takt_release(&permit->permit);
    if (permit->wish)
        takt_agent_wish_put(permit->wish);
    free(permit);
}

static void on_end(takt_agent *agent, takt_agent_alarm *alarm)
{
    agent->figures.returned++;
    takt_agent_permit_release(agent, TAKT_HOLDER(alarm, takt_agent_permit, end));
}

void takt_agent_permit_leave(takt_agent_permit *permit)
{
    takt_agent *agent = permit->connection->agent;

    if (permit->detach_ms > 0) {
        disown(agent, permit);
        takt_agent_set_alarm(agent, &permit->end, permit->detach_ms, on_end);
        keep_detached(agent, permit);
    } else {
        agent->figures.returned += is_held(permit);
        takt_agent_permit_release(agent, permit);
    }
}

void takt_agent_permit_lost(takt_agent *agent, takt_permit *of_client)
{
    takt_agent_permit *permit = TAKT_HOLDER(of_client, takt_agent_permit, permit);
    takt_agent_connection *connection = permit->connection;

    if (connection && connection->protocol == 3) {
        takt_agent_reply_push(connection, 2);
        takt_agent_reply_string(connection, "lost");
        takt_agent_reply_text(connection, permit->token, TAKT_AGENT_TOKEN_SIZE - 1);
    }
    if (permit->named.size > 0)
        takt_agent_permit_release(agent, permit);
}

size_t takt_agent_held(const takt_agent *agent)
{
    return agent->permits.held + takt_relays_held(agent->relays);
}

/* ---- commands -------------------------------------------------------------------------------- */

static takt_agent_permit *find(takt_agent_connection *connection, const takt_reply *token)
{
    takt_entry *found =
        takt_table_find(&connection->agent->permits.tokens, token->text, token->size);

    return found ? TAKT_HOLDER(found, takt_agent_permit, named) : NULL;
}

/* Reads the amounts behind the token, and settles. False: an error was written. */
static bool settle(takt_agent_connection *connection, const takt_reply *first, int count,
                   takt_agent_permit *permit, bool always)
{
    takt_amount used[TAKT_AMOUNTS_MAX];
    takt_agent_words words;
    int used_count = 0, code;

    takt_agent_words_begin(&words, connection, first, count);
    words.at++;
    while (used_count < TAKT_AMOUNTS_MAX && takt_agent_words_are(&words, "COST"))
        takt_agent_words_amount(&words, &used[used_count++], 0, TAKT_SETTLED_MAX);
    if (!takt_agent_words_end(&words, "COST"))
        return false;
    if (!permit || (used_count == 0 && !always))
        return true;
    code = takt_settle(&permit->permit, &permit->wish->request, used, used_count);
    if (code != 0)
        takt_agent_reply_error(
            connection, takt_agent_code(code), "%s",
            code == TAKT_E_INVALID
                ? "it was settled before, or its limits do not count a unit of COST"
                : takt_strerror(code));
    return code == 0;
}

void takt_agent_release(takt_agent_connection *connection, const takt_reply *words, int count)
{
    takt_agent_permit *permit = find(connection, &words[1]);

    if (!settle(connection, words, count, permit, false))
        return;
    takt_agent_reply_integer(connection, permit != NULL);
    if (permit)
        takt_agent_permit_release(connection->agent, permit);
}

void takt_agent_settle(takt_agent_connection *connection, const takt_reply *words, int count)
{
    takt_agent_permit *permit = find(connection, &words[1]);

    if (settle(connection, words, count, permit, true))
        takt_agent_reply_integer(connection, permit != NULL);
}

void takt_agent_detach(takt_agent_connection *connection, const takt_reply *first, int count)
{
    takt_agent_permit *permit = find(connection, &first[1]);
    takt_agent_words words;
    int64_t detach_us;

    takt_agent_words_begin(&words, connection, first, count);
    words.at++;
    detach_us = takt_agent_words_duration(&words, "the time");
    if (!takt_agent_words_end(&words, ""))
        return;
    if (permit) {
        takt_agent_unset_alarm(connection->agent, &permit->end);
        disown(connection->agent, permit);
        permit->detach_ms = detach_us / 1000;
        own(permit, connection);
    }
    takt_agent_reply_integer(connection, permit != NULL);
}
