/*
 * resp.c: see resp.h.  The callbacks that hiredis builds values with put them, in the order in
 * which it meets them, into two arrays of a fixed size; resp_bounds.c has made sure that they fit.
 */
#include "store/redis/resp.h"

#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include <takt/error.h>

#include "store/redis/resp_bounds.h"

#if HIREDIS_MAJOR >= 1
typedef size_t element_count;
#else
typedef int element_count;
#endif

struct takt_resp {
    redisReader *reader;
    takt_resp_bounds bounds;
    bool complete; /* the values are those of a reply that was handed out */
    int nodes;
    size_t bytes;
    takt_reply values[TAKT_RESP_NODES_MAX];
    char texts[TAKT_RESP_BYTES_MAX + TAKT_RESP_NODES_MAX]; /* each ends with NUL */
};

/* ---- what hiredis calls ---------------------------------------------------------------------- */

static takt_reply *add(const redisReadTask *task, takt_reply_type type)
{
    takt_resp *resp = task->privdata;
    takt_reply *value;

    if (resp->nodes == TAKT_RESP_NODES_MAX)
        return NULL;
    value = &resp->values[resp->nodes++];
    *value = (takt_reply){.type = type, .text = ""};
    return value;
}

static void *create_string(const redisReadTask *task, char *text, size_t size)
{
    takt_resp *resp = task->privdata;
    takt_reply *value;

    if (size >= sizeof resp->texts - resp->bytes)
        return NULL;
    value = add(task, task->type == REDIS_REPLY_ERROR    ? TAKT_REPLY_ERROR
                      : task->type == REDIS_REPLY_STATUS ? TAKT_REPLY_STATUS
                                                         : TAKT_REPLY_STRING);
    if (value == NULL)
        return NULL;
    value->text = memcpy(resp->texts + resp->bytes, text, size);
    value->size = size;
    resp->texts[resp->bytes + size] = '\0';
    resp->bytes += size + 1;
    return value;
}

static void *create_array(const redisReadTask *task, element_count count)
{
    takt_reply *value = add(task, TAKT_REPLY_ARRAY);

    if (value != NULL)
        value->count = (int)count;
    return value;
}

static void *create_integer(const redisReadTask *task, long long integer)
{
    takt_reply *value = add(task, TAKT_REPLY_INTEGER);

    if (value != NULL)
        value->integer = integer;
    return value;
}

static void *create_nil(const redisReadTask *task)
{
    return add(task, TAKT_REPLY_NIL);
}

static void free_object(void *object)
{
    (void)object; /* values lie in the arrays */
}

/* Of the functions that newer versions have, for types of RESP3, none can be called. */
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
    memset(&resp->bounds, 0, sizeof resp->bounds);
    resp->complete = true;
    return true;
}

takt_resp *takt_resp_new(void)
{
    takt_resp *resp = malloc(sizeof *resp);

    if (resp == NULL)
        return NULL;
    resp->reader = NULL;
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
    free(resp);
}

static int fail(const takt_resp *resp, const char **why)
{
    *why = "it sent a reply that cannot be read";
    return resp->reader->err == REDIS_ERR_OOM ? TAKT_E_NOMEM : TAKT_E_STORE;
}

int takt_resp_feed(takt_resp *resp, const char *bytes, size_t size, const char **why)
{
    if (!takt_resp_bounds_pass(&resp->bounds, bytes, size, why))
        return TAKT_E_STORE;
    return redisReaderFeed(resp->reader, bytes, size) == REDIS_OK ? 0 : fail(resp, why);
}

int takt_resp_next(takt_resp *resp, const takt_reply **reply, const char **why)
{
    void *value = NULL;

    if (resp->complete) {
        resp->complete = false;
        resp->nodes = 0;
        resp->bytes = 0;
    }
    if (redisReaderGetReply(resp->reader, &value) != REDIS_OK)
        return fail(resp, why);
    if (value == NULL)
        return 0;
    resp->complete = true;
    *reply = value;
    return 1;
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

/* "*3" or "$17", and the line's end. */
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

/* Not by hiredis, which calls sprintf for each argument: that was more work than all the rest of an
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
