/*
 * policy_reply.c: see policy_reply.h.
 */
#include "store/redis/policy_reply.h"

#include <stdlib.h>
#include <string.h>

static bool is_number(const takt_reply *value, int64_t max)
{
    return value->type == TAKT_REPLY_INTEGER && value->integer >= 0 && value->integer <= max;
}

/* Whether the value consists of complete lines, none of them empty: an empty line ends the
 * history. */
static bool is_history(const takt_reply *value)
{
    return value->type == TAKT_REPLY_STRING && value->size > 0 && value->text[0] != '\n' &&
           value->text[value->size - 1] == '\n' &&
           memmem(value->text, value->size, "\n\n", 2) == NULL;
}

static bool read_kept(takt_store_call *call, const takt_reply *history, const takt_reply *text)
{
    takt_policy_exchange *exchange = call->exchange;

    if (!is_history(history) || text->type != TAKT_REPLY_STRING)
        return false;
    exchange->kept_size = history->size + 1 + text->size;
    exchange->kept = malloc(exchange->kept_size + 1);
    if (exchange->kept == NULL) {
        call->status = TAKT_E_NOMEM;
        return true;
    }
    memcpy(exchange->kept, history->text, history->size);
    exchange->kept[history->size] = '\n';
    memcpy(exchange->kept + history->size + 1, text->text, text->size + 1); /* including its NUL */
    return true;
}

bool takt_policy_reply(takt_store_call *call, const takt_reply *reply)
{
    takt_policy_exchange *exchange = call->exchange;
    const takt_reply *values = reply + 1;

    if (reply->type != TAKT_REPLY_ARRAY || reply->count < 2 ||
        !is_number(&values[0], TAKT_EXACT_MAX) || !is_number(&values[1], TAKT_EXACT_MAX) ||
        (values[0].integer == 0) != (values[1].integer == 0))
        return false;
    exchange->version = values[0].integer;
    exchange->at_us = values[1].integer;
    call->status = 0;
    if (call->op == TAKT_OP_APPLY) {
        if (reply->count != 3 || !is_number(&values[2], 1))
            return false;
        call->status = values[2].integer == 1 ? 0 : TAKT_E_OVERTAKEN;
        return true;
    }
    if (reply->count == 2)
        return exchange->version == 0 || (exchange->version == exchange->seen_version &&
                                          exchange->at_us == exchange->seen_at_us);
    return reply->count == 4 && exchange->version > 0 && read_kept(call, &values[2], &values[3]);
}
