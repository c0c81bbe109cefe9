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
#include "pointer.h"

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

/* Judges the value at the pointer; NULL: there is none. */
static takt_caller_cost_verdict judge(const json_t *value, const char *pointer, int64_t *cost,
                                      char why[COST_WHY_SIZE])
{
    char shown[SHOWN_SIZE], said[SHOWN_SIZE + 16];

    takt_quote_bytes(pointer, strlen(pointer), shown, sizeof(shown));
    if (!value || json_is_null(value)) {
        snprintf(why, COST_WHY_SIZE, "the answer has no %s", shown);
        return TAKT_CALLER_COST_MISSING;
    }
    if (is_cost(value, cost))
        return TAKT_CALLER_COST_FOUND;
    describe(value, said);
    snprintf(why, COST_WHY_SIZE, "%s is %s in the answer; it must be a whole number from 0 to %d",
             shown, said, TAKT_SETTLED_MAX);
    return TAKT_CALLER_COST_WRONG;
}

/* Events whose data is not JSON, such as "[DONE]", state nothing. */
static takt_caller_cost_verdict read_events(const char *pointer, const char *body, size_t size,
                                            int64_t *cost, char why[COST_WHY_SIZE])
{
    takt_caller_cost_verdict last = judge(NULL, pointer, cost, why);
    takt_caller_events events;
    int64_t last_cost = 0;

    takt_caller_events_open(&events, body, size);
    while (takt_caller_events_next(&events)) {
        json_t *document = parse(events.data.at, events.data.size);
        const json_t *value = takt_caller_pointer_find(document, pointer);
        if (value && !json_is_null(value))
            last = judge(value, pointer, &last_cost, why);
        json_decref(document);
    }
    takt_caller_events_close(&events);
    if (last == TAKT_CALLER_COST_FOUND)
        *cost = last_cost;
    return last;
}

takt_caller_cost_verdict takt_caller_cost_read(const char *pointer, const char *type,
                                               const char *body, size_t size, int64_t *cost,
                                               char why[COST_WHY_SIZE])
{
    json_t *document;

    if (size == 0) {
        strcpy(why, "the answer is empty");
        return TAKT_CALLER_COST_MISSING;
    }
    if (takt_caller_events_is_type(type))
        return read_events(pointer, body, size, cost, why);
    document = parse(body, size);
    if (!document) {
        strcpy(why, "the answer is not JSON");
        return TAKT_CALLER_COST_MISSING;
    }
    takt_caller_cost_verdict verdict =
        judge(takt_caller_pointer_find(document, pointer), pointer, cost, why);
    json_decref(document);
    return verdict;
}
