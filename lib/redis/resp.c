/*
 * resp.c: see resp.h. hiredis's callbacks for values append to two arrays, in the order of parsing.
 * resp_bounds.c keeps the arrays small.
 */
#include "redis/resp.h"

#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include <takt/error.h>

#if HIREDIS_MAJOR >= 1
typedef size_t element_count;
#else
typedef int element_count;
#endif

#define NODES_FIRST 64
#define BYTES_FIRST 4096
#define KEPT_MAX    (2 * 1024 * 1024) /* a larger reply's memory is freed, not kept for the next */

struct takt_resp {
    redisReader *reader;
    takt_resp_max max;
    takt_resp_bounds bounds;
    int refused;     /* the rest of the stream must not be read */
    const char *why; /* the reason */
    bool complete;   /* the values belong to a reply that was returned */
    size_t nodes, nodes_room;
    size_t bytes, bytes_room;
    takt_reply *values;
    char *texts; /* in the order of the values, each with its NUL */
};

/* What hiredis gets as a value. hiredis only passes it on. */
static char built;

/* ---- what hiredis calls ---------------------------------------------------------------------- */

/* Room for `wanted` objects of that size; the bounds limit their number. */
static void *grow(void *things, size_t size, size_t wanted, size_t first, size_t *room)
{
    size_t larger = *room > 0 ? *room : first;
    void *grown;

    if (wanted <= *room)
        return things;
    while (larger < wanted)
        larger *= 2;
    grown = realloc(things, larger * size);
    if (grown != NULL)
        *room = larger;
    return grown;
}

static takt_reply *add(const redisReadTask *task, takt_reply_type type)
{
    takt_resp *resp = task->privdata;
    takt_reply *values =
        grow(resp->values, sizeof *values, resp->nodes + 1, NODES_FIRST, &resp->nodes_room);

    if (values == NULL)
        return NULL;
    resp->values = values;
    values += resp->nodes++;
    *values = (takt_reply){.type = type, .text = ""};
    return values;
}

static void *create_string(const redisReadTask *task, char *text, size_t size)
{
    takt_resp *resp = task->privdata;
    char *texts = grow(resp->texts, 1, resp->bytes + size + 1, BYTES_FIRST, &resp->bytes_room);
    takt_reply *value;

    if (texts == NULL)
        return NULL;
    resp->texts = texts;
    value = add(task, task->type == REDIS_REPLY_ERROR    ? TAKT_REPLY_ERROR
                      : task->type == REDIS_REPLY_STATUS ? TAKT_REPLY_STATUS
                                                         : TAKT_REPLY_STRING);
    if (value == NULL)
        return NULL;
    memcpy(texts + resp->bytes, text, size);
    texts[resp->bytes + size] = '\0';
    resp->bytes += size + 1;
    value->size = size;
    return &built;
}

static void *create_array(const redisReadTask *task, element_count count)
{
    takt_reply *value = add(task, TAKT_REPLY_ARRAY);

    if (value != NULL)
        value->count = (int)count;
    return value != NULL ? &built : NULL;
}

static void *create_integer(const redisReadTask *task, long long integer)
{
    takt_reply *value = add(task, TAKT_REPLY_INTEGER);

    if (value != NULL)
        value->integer = integer;
    return value != NULL ? &built : NULL;
}

static void *create_nil(const redisReadTask *task)
{
    return add(task, TAKT_REPLY_NIL) != NULL ? &built : NULL;
}

static void free_object(void *object)
{
    (void)object; /* the arrays are freed as a whole */
}

/* Newer versions have functions for types of RESP3, which are never called. */
static redisReplyObjectFunctions functions = {
    .createString = create_string,
    .createArray = create_array,
    .createInteger = create_integer,
    .createNil = create_nil,
    .freeObject = free_object,
};

/* ---- a stream of replies --------------------------------------------------------------------- */

bool takt_resp_restart(takt_resp *resp)
{
    if (resp->reader != NULL)
        redisReaderFree(resp->reader);
    resp->reader = redisReaderCreateWithFunctions(&functions);
    if (resp->reader == NULL)
        return false;
    resp->reader->privdata = resp;
    resp->bounds = (takt_resp_bounds){.max = &resp->max};
    resp->refused = 0;
    resp->complete = true;
    return true;
}

takt_resp *takt_resp_new(const takt_resp_max *max)
{
    takt_resp *resp = calloc(1, sizeof *resp);

    if (resp == NULL)
        return NULL;
    resp->max = max != NULL ? *max : takt_resp_of_scripts;
    if (!takt_resp_restart(resp)) {
        free(resp);
        return NULL;
    }
    return resp;
}

void takt_resp_free(takt_resp *resp)
{
    if (resp == NULL)
        return;
    if (resp->reader != NULL)
        redisReaderFree(resp->reader);
    free(resp->values);
    free(resp->texts);
    free(resp);
}

static int fail(const takt_resp *resp, const char **why)
{
    bool lacks_memory = resp->reader->err == REDIS_ERR_OOM;

    *why = lacks_memory ? "no memory for its reply" : "it sent a reply that cannot be read";
    return lacks_memory ? TAKT_E_NOMEM : TAKT_E_STORE;
}

int takt_resp_feed(takt_resp *resp, const char *bytes, size_t size, const char **why)
{
    int code = takt_resp_bounds_pass(&resp->bounds, bytes, size, why);

    if (code < 0 && resp->bounds.whole == 0)
        return code;
    if (code < 0) {
        size = resp->bounds.whole;
        resp->refused = code;
        resp->why = *why;
    }
    return redisReaderFeed(resp->reader, bytes, size) == REDIS_OK ? 0 : fail(resp, why);
}

static void begin_reply(takt_resp *resp)
{
    resp->complete = false;
    resp->nodes = 0;
    resp->bytes = 0;
    if (resp->bytes_room + resp->nodes_room * sizeof *resp->values <= KEPT_MAX)
        return;
    free(resp->values);
    free(resp->texts);
    resp->values = NULL;
    resp->texts = NULL;
    resp->nodes_room = resp->bytes_room = 0;
}

/* Sets the texts of the values, in order; they may have moved while the array grew. */
static void set_texts(takt_resp *resp)
{
    const char *text = resp->texts;

    for (size_t i = 0; i < resp->nodes; i++) {
        takt_reply *value = &resp->values[i];
        if (value->type != TAKT_REPLY_STRING && value->type != TAKT_REPLY_STATUS &&
            value->type != TAKT_REPLY_ERROR)
            continue;
        value->text = text;
        text += value->size + 1;
    }
}

int takt_resp_next(takt_resp *resp, const takt_reply **reply, const char **why)
{
    void *value = NULL;

    if (resp->complete)
        begin_reply(resp);
    if (redisReaderGetReply(resp->reader, &value) != REDIS_OK)
        return fail(resp, why);
    if (value == NULL && resp->refused < 0)
        *why = resp->why;
    if (value == NULL)
        return resp->refused;
    set_texts(resp);
    resp->complete = true;
    *reply = resp->values;
    return 1;
}

bool takt_resp_is_between(const takt_resp *resp)
{
    return resp->refused == 0 && resp->reader->err == 0 && resp->reader->len == resp->reader->pos &&
           resp->bounds.state == TAKT_RESP_TYPE && resp->bounds.depth == 0;
}

const takt_reply *takt_reply_after(const takt_reply *reply)
{
    const takt_reply *after = reply + 1;

    for (int left = reply->type == TAKT_REPLY_ARRAY ? reply->count : 0; left > 0; left--, after++)
        if (after->type == TAKT_REPLY_ARRAY)
            left += after->count;
    return after;
}

/* ---- commands -------------------------------------------------------------------------------- */

#define SIZE_LINE 23 /* bytes of "$18446744073709551615\r\n" */

static bool reserve(takt_resp_out *out, size_t size)
{
    size_t capacity = out->capacity > 0 ? out->capacity : 4096;
    char *bytes;

    if (out->capacity - out->size >= size)
        return true;
    while (capacity - out->size < size)
        capacity *= 2;
    bytes = realloc(out->bytes, capacity);
    if (bytes == NULL)
        return false;
    out->bytes = bytes;
    out->capacity = capacity;
    return true;
}

/* Writes "*3" or "$17" and the line end. */
static char *put_size(char *at, char type, size_t size)
{
    char digits[20];
    int n = 0;

    do
        digits[n++] = (char)('0' + size % 10);
    while ((size /= 10) > 0);
    *at++ = type;
    while (n > 0)
        *at++ = digits[--n];
    return (char *)memcpy(at, "\r\n", 2) + 2;
}

/* Without hiredis, which calls sprintf for each argument: that took longer than the rest of an
 * acquire. */
bool takt_resp_command(takt_resp_out *out, int count, const char *const *arguments,
                       const size_t *sizes)
{
    size_t size = SIZE_LINE;
    char *at;

    for (int i = 0; i < count; i++)
        size += SIZE_LINE + sizes[i] + 2;
    if (!reserve(out, size))
        return false;
    at = put_size(out->bytes + out->size, '*', (size_t)count);
    for (int i = 0; i < count; i++) {
        at = put_size(at, '$', sizes[i]);
        at = (char *)memcpy(at, arguments[i], sizes[i]) + sizes[i];
        at = (char *)memcpy(at, "\r\n", 2) + 2;
    }
    out->size = (size_t)(at - out->bytes);
    return true;
}

bool takt_resp_put(takt_resp_out *out, const char *bytes, size_t size)
{
    if (!reserve(out, size))
        return false;
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
    return true;
}
