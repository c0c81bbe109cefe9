/*
 * cost.c: see cost.h.
 */
#include "cost.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>
#include <takt/takt.h>

#include "events.h"
#include "kit/text.h"

#define SHOWN_SIZE 80

/* A number too large for an integer, such as an id, must not make the whole document unreadable. */
static json_t *parse(const char *text, size_t size)
{
    size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL;
    json_error_t trouble;
    json_t *document = json_loadb(text, size, flags, &trouble);

    if (!document && json_error_code(&trouble) == json_error_numeric_overflow)
        document = json_loadb(text, size, flags | JSON_DECODE_INT_AS_REAL, NULL);
    return document;
}

/* Whether the value is a whole number within bounds; 12.0 is one, too. */
static bool is_cost(const json_t *value, int64_t *cost)
{
    double number = json_number_value(value);

    if (!json_is_number(value) || !(number >= 0 && number <= TAKT_SETTLED_MAX) ||
        number != (double)(int64_t)number)
        return false;
    *cost = (int64_t)number;
    return true;
}

static void describe(const json_t *value, char said[SHOWN_SIZE + 16])
{
    char shown[SHOWN_SIZE];

    switch (json_typeof(value)) {
    case JSON_STRING:
        takt_quote_bytes(json_string_value(value), json_string_length(value), shown, SHOWN_SIZE);
        sprintf(said, "the string %s", shown);
        break;
    case JSON_INTEGER:
        sprintf(said, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        sprintf(said, "%.15g", json_real_value(value));
        break;
    case JSON_OBJECT:
        strcpy(said, "an object");
        break;
    case JSON_ARRAY:
        strcpy(said, "a list");
        break;
    default:
        strcpy(said, json_is_true(value) ? "true" : "false");
    }
}

/* Judges the value at a cost's pointer; NULL: none. */
static void judge(takt_caller_cost *cost, const json_t *value)
{
    char shown[SHOWN_SIZE], said[SHOWN_SIZE + 16];
    const char *pointer = cost->from.pointer;

    takt_quote_bytes(pointer, strlen(pointer), shown, sizeof(shown));
    if (!value || json_is_null(value)) {
        snprintf(cost->why, COST_WHY_SIZE, "the answer has no %s", shown);
        cost->verdict = TAKT_CALLER_COST_MISSING;
    } else if (is_cost(value, &cost->amount)) {
        cost->verdict = TAKT_CALLER_COST_FOUND;
    } else {
        describe(value, said);
        snprintf(cost->why, COST_WHY_SIZE,
                 "%s is %s in the answer; it must be a whole number from 0 to %d, so let settle "
                 "point at one",
                 shown, said, TAKT_SETTLED_MAX);
        cost->verdict = TAKT_CALLER_COST_WRONG;
    }
}

static void judge_all(takt_caller_cost *costs, int count, const json_t *document)
{
    for (int i = 0; i < count; i++)
        judge(&costs[i], takt_caller_pointer_find(document, costs[i].from.pointer));
}

/* Of each pointer the last event counts that has it. Events whose data is not JSON, such as
 * "[DONE]", state nothing. */
static void read_events(takt_caller_cost *costs, int count, const char *body, size_t size)
{
    takt_caller_events events;

    judge_all(costs, count, NULL);
    takt_caller_events_open(&events, body, size);
    while (takt_caller_events_next(&events)) {
        json_t *document = parse(events.data.at, events.data.size);
        for (int i = 0; i < count; i++) {
            const json_t *value = takt_caller_pointer_find(document, costs[i].from.pointer);
            if (value && !json_is_null(value))
                judge(&costs[i], value);
        }
        json_decref(document);
    }
    takt_caller_events_close(&events);
}

static void miss_all(takt_caller_cost *costs, int count, const char *why)
{
    for (int i = 0; i < count; i++) {
        costs[i].verdict = TAKT_CALLER_COST_MISSING;
        snprintf(costs[i].why, COST_WHY_SIZE, "%s", why);
    }
}

void takt_caller_costs_read(takt_caller_cost *costs, int count, const char *type, const char *body,
                            size_t size)
{
    json_t *document;

    if (size == 0) {
        miss_all(costs, count, "the answer is empty");
    } else if (takt_caller_events_is_type(type)) {
        read_events(costs, count, body, size);
    } else if (!(document = parse(body, size))) {
        miss_all(costs, count, "the answer is not JSON");
    } else {
        judge_all(costs, count, document);
        json_decref(document);
    }
}
