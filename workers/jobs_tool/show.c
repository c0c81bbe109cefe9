/*
 * show.c: `takt-jobs show`: how many jobs of a stream wait, run and are dead.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <jansson.h>

#include "tool.h"

#define SHOWN_SIZE 160

typedef struct standing {
    int64_t length, dead, taken;
    int64_t lag;       /* as the server counts; -1: unknown */
    int64_t oldest_ms; /* when the oldest job was added; -1: no job */
    int64_t now_ms;
    bool is_there; /* the stream exists; dead letters may exist without it */
    json_t *consumers;
    const char *group;
} standing;

static void read_length(void *data, const takt_reply *reply)
{
    *(int64_t *)data = reply->integer;
}

static void read_time(void *data, const takt_reply *reply)
{
    if (reply->count == 2)
        *(int64_t *)data = strtoll(reply[1].text, NULL, 10) * 1000 + atoi(reply[2].text) / 1000;
}

/* [[ID, ...]] */
static void read_oldest(void *data, const takt_reply *reply)
{
    takt_job_ref ref;

    if (reply->count == 1 && reply[1].count == 2 && takt_stream_names_read_entry(&reply[2], &ref))
        *(int64_t *)data = (int64_t)ref.major;
}

/* The value of a name in [NAME, VALUE ...]; NULL: not there. */
static const takt_reply *value_of(const takt_reply *list, const char *name)
{
    const takt_reply *at = list + 1;

    for (int i = 0; i + 1 < list->count; i += 2) {
        if (at->type == TAKT_REPLY_STRING && strcmp(at->text, name) == 0)
            return at + 1;
        at = takt_reply_after(at + 1);
    }
    return NULL;
}

static int64_t number_of(const takt_reply *list, const char *name, int64_t other)
{
    const takt_reply *value = value_of(list, name);

    return value != NULL && value->type == TAKT_REPLY_INTEGER ? value->integer : other;
}

static void read_groups(void *data, const takt_reply *reply)
{
    standing *standing = data;
    const takt_reply *group = reply + 1;

    standing->is_there = true;
    for (int i = 0; i < reply->count; i++, group = takt_reply_after(group)) {
        const takt_reply *name = value_of(group, "name");
        if (name == NULL || strcmp(name->text, standing->group) != 0)
            continue;
        standing->taken = number_of(group, "pending", 0);
        standing->lag = number_of(group, "lag", -1);
    }
}

static void read_consumers(void *data, const takt_reply *reply)
{
    standing *standing = data;
    const takt_reply *consumer = reply + 1;

    for (int i = 0; i < reply->count; i++, consumer = takt_reply_after(consumer)) {
        const takt_reply *name = value_of(consumer, "name");
        char shown[SHOWN_SIZE];
        if (name == NULL)
            continue;
        json_t *text = json_stringn(name->text, name->size);
        if (text == NULL) /* not UTF-8 */
            text = json_string(takt_quote_bytes(name->text, name->size, shown, sizeof shown));
        json_array_append_new(standing->consumers,
                              json_pack("{s:o, s:I, s:I}", "name", text, "taken",
                                        (json_int_t)number_of(consumer, "pending", 0), "silent_ms",
                                        (json_int_t)number_of(consumer, "idle", 0)));
    }
}

static bool look(takt_tool *tool, standing *standing)
{
    const char *key = tool->key;

    return takt_tool_ask(tool, read_length, &standing->length, "XLEN", key, NULL) >= 0 &&
           takt_tool_ask(tool, read_length, &standing->dead, "XLEN", tool->dead_key, NULL) >= 0 &&
           takt_tool_ask(tool, read_time, &standing->now_ms, "TIME", NULL) >= 0 &&
           takt_tool_ask(tool, read_oldest, &standing->oldest_ms, "XRANGE", key, "-", "+", "COUNT",
                         "1", NULL) >= 0 &&
           takt_tool_ask(tool, read_groups, standing, "XINFO", "GROUPS", key, NULL) >= 0 &&
           takt_tool_ask(tool, read_consumers, standing, "XINFO", "CONSUMERS", key, tool->group,
                         NULL) >= 0;
}

static int64_t age_ms(const standing *standing)
{
    int64_t age = standing->now_ms - standing->oldest_ms;

    return age > 0 ? age : 0;
}

static int64_t waiting(const standing *standing)
{
    return standing->length > standing->taken ? standing->length - standing->taken : 0;
}

static void print_json(const takt_tool *tool, const standing *standing)
{
    json_t *report =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:I, s:O}", "stream", tool->stream, "group",
                  tool->group, "length", (json_int_t)standing->length, "waiting",
                  (json_int_t)waiting(standing), "taken", (json_int_t)standing->taken, "lag",
                  standing->lag >= 0 ? json_integer(standing->lag) : json_null(), "oldest_ms",
                  standing->oldest_ms >= 0 ? json_integer(age_ms(standing)) : json_null(), "dead",
                  (json_int_t)standing->dead, "consumers", standing->consumers);

    json_dumpf(report, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(report);
}

static void print_text(const takt_tool *tool, const standing *standing)
{
    char text[TAKT_SPAN_SIZE], shown[SHOWN_SIZE];
    size_t i;
    json_t *consumer;

    printf("%-10s %" PRId64 "\n", "length", standing->length);
    printf("%-10s %" PRId64 "\n", "waiting", waiting(standing));
    printf("%-10s %" PRId64 "\n", "taken", standing->taken);
    json_array_foreach(standing->consumers, i, consumer)
    {
        const char *name = json_string_value(json_object_get(consumer, "name"));
        printf("  %" JSON_INTEGER_FORMAT " by %s, last seen %s ago\n",
               json_integer_value(json_object_get(consumer, "taken")),
               takt_quote_bytes(name, strlen(name), shown, sizeof shown),
               takt_format_rough_span(
                   1000 * json_integer_value(json_object_get(consumer, "silent_ms")), text));
    }
    if (standing->oldest_ms >= 0)
        printf("%-10s %s\n", "oldest", takt_format_rough_span(1000 * age_ms(standing), text));
    printf("%-10s %" PRId64 "%s%s\n", "dead", standing->dead,
           standing->dead > 0 ? ", see takt-jobs dead " : "",
           standing->dead > 0 ? tool->stream : "");
}

int takt_tool_show(takt_tool *tool)
{
    standing standing = {
        .lag = -1, .oldest_ms = -1, .consumers = json_array(), .group = tool->group};
    int status = EX_UNAVAILABLE;

    if (look(tool, &standing)) {
        status = standing.is_there || standing.dead > 0 ? 0 : EX_NOINPUT;
        if (status != 0)
            takt_message(
                "there is no stream %s; the first takt-jobs add or the first worker creates it",
                tool->stream);
        else if (tool->json)
            print_json(tool, &standing);
        else
            print_text(tool, &standing);
    }
    json_decref(standing.consumers);
    return status;
}
