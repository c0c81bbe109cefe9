/*
 * job_parse.c: parses a line into fields and a head. Refusals end up in the dead letters, so each
 * one names the field and what to write instead.
 */
#include "job_parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/sources/source.h"
#include "jobs/text/instant.h"
#include "kit/text.h"

#define SHOWN_SIZE 96

static int refuse(takt_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(takt_error *error, const char *format, ...)
{
    takt_error made = {.code = TAKT_E_INVALID};
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(made.text, sizeof(made.text), format, arguments);
    va_end(arguments);
    if (error)
        *error = made;
    return made.code;
}

/* jansson's message is about syntax. The position is given in bytes, since the text is one line. */
static int refuse_text(const json_error_t *trouble, takt_error *error)
{
    char shown[SHOWN_SIZE];

    if (json_error_code(trouble) == json_error_null_character ||
        json_error_code(trouble) == json_error_null_byte_in_key)
        return refuse(error, "it has the character \\u0000, at byte %d; leave it out",
                      trouble->position);
    takt_quote_bytes(trouble->text, strlen(trouble->text), shown, sizeof(shown));
    return refuse(error, "it is not JSON: %s, at byte %d; write one object per line", shown,
                  trouble->position);
}

/* A string without control characters, of 1 to `max` bytes. */
static int read_string(const json_t *fields, const char *name, size_t max, const char **value,
                       takt_error *error)
{
    const json_t *field = json_object_get(fields, name);

    if (!field || json_is_null(field))
        return 0;
    if (!json_is_string(field))
        return refuse(error, "%s: it must be a string; write \"%s\": \"...\"", name, name);
    const char *text = json_string_value(field);
    size_t size = json_string_length(field);
    if (size == 0 || size > max)
        return refuse(error, "%s: it has %zu bytes; it must have 1 to %zu", name, size, max);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return refuse(error, "%s: it has a control character at byte %zu; leave it out", name,
                          i);
    *value = text;
    return 0;
}

/* An empty name is no tenant, as in a takt_request. */
static int read_tenant(const json_t *fields, const char **tenant, takt_error *error)
{
    const json_t *field = json_object_get(fields, "tenant");

    if (json_is_string(field) && json_string_length(field) == 0)
        return 0;
    return read_string(fields, "tenant", TAKT_TENANT_SIZE_MAX, tenant, error);
}

static int read_number(const json_t *fields, const char *name, int min, int max, int32_t *value,
                       takt_error *error)
{
    const json_t *field = json_object_get(fields, name);

    if (!field || json_is_null(field))
        return 0;
    if (!json_is_integer(field) || json_integer_value(field) < min ||
        json_integer_value(field) > max)
        return refuse(error, "%s: it must be a whole number from %d to %d, without quotes", name,
                      min, max);
    *value = (int32_t)json_integer_value(field);
    return 0;
}

static int refuse_cost(takt_error *error)
{
    return refuse(error,
                  "cost: it must be a whole number from 1 to %d, without quotes, or amounts by "
                  "unit, such as {\"tokens\": 1500}",
                  TAKT_COST_MAX);
}

static int read_amounts(const json_t *cost, takt_job_head *head, takt_error *error)
{
    const char *unit;
    json_t *amount;
    int count = 0;

    json_object_foreach((json_t *)(uintptr_t)cost, unit, amount)
    {
        if (!json_is_integer(amount) || json_integer_value(amount) < 1 ||
            json_integer_value(amount) > TAKT_COST_MAX)
            return refuse_cost(error);
        if (count == TAKT_AMOUNTS_MAX)
            return refuse(error, "cost: it has amounts of %zu units; write at most %d",
                          json_object_size(cost), TAKT_AMOUNTS_MAX);
        head->amounts[count++] = (takt_amount){unit, json_integer_value(amount)};
    }
    return count == 0 ? refuse_cost(error) : 0;
}

/* A number, or amounts by unit. */
static int read_cost(const json_t *fields, takt_job_head *head, takt_error *error)
{
    const json_t *cost = json_object_get(fields, "cost");

    if (!cost || json_is_null(cost))
        return 0;
    if (json_is_object(cost))
        return read_amounts(cost, head, error);
    if (!json_is_integer(cost) || json_integer_value(cost) < 1 ||
        json_integer_value(cost) > TAKT_COST_MAX)
        return refuse_cost(error);
    head->cost = (int32_t)json_integer_value(cost);
    return 0;
}

static int read_deadline(const json_t *fields, int64_t *deadline_us, takt_error *error)
{
    const json_t *field = json_object_get(fields, "deadline");
    char shown[SHOWN_SIZE];

    if (!field || json_is_null(field))
        return 0;
    if (!json_is_string(field))
        return refuse(error, "deadline: it must be a string such as \"2026-11-22T12:00:00Z\"");
    if (takt_instant_read(json_string_value(field), deadline_us))
        return 0;
    takt_quote_bytes(json_string_value(field), json_string_length(field), shown, sizeof(shown));
    return refuse(error,
                  "deadline: %s is not a time; write \"2026-11-22T12:00:00Z\", or with an offset "
                  "from UTC \"2026-11-22T13:00:00+01:00\"",
                  shown);
}

static int read_head(const json_t *fields, takt_job_head *head, takt_error *error)
{
    int failed;

    if ((failed = read_string(fields, "id", TAKT_JOB_ID_MAX, &head->id, error)) != 0)
        return failed;
    if (!head->id)
        return refuse(error,
                      "id: a job needs one, a text that identifies it; write \"id\": \"...\"");
    if ((failed = read_string(fields, "limit", TAKT_NAME_SIZE_MAX, &head->limit, error)) != 0)
        return failed;
    if (!head->limit)
        return refuse(error, "limit: a job needs one; write \"limit\": \"NAME\", or start the "
                             "worker with --limit NAME for all jobs without a limit");
    head->idempotency_key = head->id;
    if ((failed = read_string(fields, "key", TAKT_KEY_SIZE_MAX, &head->key, error)) != 0 ||
        (failed = read_tenant(fields, &head->tenant, error)) != 0 ||
        (failed = read_string(fields, "idempotency_key", TAKT_JOB_ID_MAX, &head->idempotency_key,
                              error)) != 0 ||
        (failed = read_cost(fields, head, error)) != 0 ||
        (failed = read_number(fields, "priority", 0, TAKT_PRIORITY_MAX, &head->priority, error)) !=
            0)
        return failed;
    return read_deadline(fields, &head->deadline_us, error);
}

/* jansson reports a lack of memory as a syntax error, which would make a good job dead. */
static bool without_memory;

static void *allocate(size_t size)
{
    void *made = malloc(size);

    without_memory = without_memory || !made;
    return made;
}

int takt_job_parse(const char *text, size_t size, const char *limit, json_t **fields,
                   takt_job_head *head, takt_error *error)
{
    takt_job_head made = {.limit = limit, .cost = 1, .priority = TAKT_PRIORITY_POLICY};
    json_error_t trouble;
    int failed;

    if (size > TAKT_JOB_SOURCE_TEXT_MAX)
        return refuse(error,
                      "it has %zu bytes; a job has at most %d; put larger data into a file, and "
                      "name the file in the job",
                      size, TAKT_JOB_SOURCE_TEXT_MAX);
    without_memory = false;
    json_set_alloc_funcs(allocate, free);
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &trouble);
    if (!object && without_memory) {
        *error = (takt_error){TAKT_E_NOMEM, "no memory"};
        return TAKT_E_NOMEM;
    }
    if (!object)
        return refuse_text(&trouble, error);
    if (!json_is_object(object))
        failed = refuse(error, "it is JSON but not an object; write {\"id\": ..., \"limit\": ...}");
    else
        failed = read_head(object, &made, error);
    if (failed) {
        json_decref(object);
        return failed;
    }
    *fields = object;
    *head = made;
    return 0;
}
