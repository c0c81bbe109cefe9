/*
 * stream_takeover.c: what others have left becomes ours.
 *
 * A consumer that has something and was not heard of for too long has died; what it has is claimed
 * as far as there is room here.  Others do the same at the same time, and each entry goes to one of
 * them.  Entries that a living consumer does not know of itself are found by walking through all
 * that anybody has, a few at a time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stream.h"

#define TAKE_MAX   256
#define WALK       "16" /* the server looks at ten times as many */
#define ROUNDS_MAX 16   /* between two ticks */

static const source_ref none = {0, 0};

static void take_from(stream *stream);

/* How long nobody must have heard of an entry, as a word. */
static const char *idle_of(const stream *stream, char text[24])
{
    snprintf(text, 24, "%" PRId64, stream->idle_us / 1000);
    return text;
}

/* The end of a command: whether its answer is a list that is still of use. */
static bool is_answer(stream *stream, const takt_reply *reply)
{
    stream->taking_over = false;
    if (reply == NULL || stream->closing)
        return false;
    if (reply->type != TAKT_REPLY_ARRAY)
        stream_refused(stream, stream->writer, reply);
    return reply->type == TAKT_REPLY_ARRAY;
}

/* Ids that are ours now. */
static void take_all(stream *stream, const takt_reply *ids)
{
    source_ref ref;

    for (int i = 0; i < ids->count; i++)
        if (stream_read_entry(&ids[1 + i], &ref) && !stream_is_known(stream, ref))
            stream_take(stream, ref);
}

/* ---- a walk through everything --------------------------------------------------------------- */

/* [NEXT, [ID ...], ...] */
static void on_walked(saying *saying, const takt_reply *reply, int code)
{
    stream *stream = saying->stream;

    (void)code;
    if (!is_answer(stream, reply))
        return;
    if (reply->count < 2 || reply[1].size >= STREAM_ENTRY_SIZE) {
        stream_refused(stream, stream->writer, reply);
        return;
    }
    memcpy(stream->takeover, reply[1].text, reply[1].size + 1);
    take_all(stream, &reply[2]);
}

static void walk(stream *stream)
{
    char idle[24];

    stream_words_begin(stream, "XAUTOCLAIM", stream->key, stream->group, stream->consumer,
                       idle_of(stream, idle), stream->takeover, "COUNT", WALK, "JUSTID", NULL);
    stream->taking_over = stream_say(stream, stream->writer, on_walked, none);
}

/* ---- what a dead one has left ---------------------------------------------------------------- */

/* [ID ...] */
static void on_claimed(saying *saying, const takt_reply *reply, int code)
{
    stream *stream = saying->stream;

    (void)code;
    if (!is_answer(stream, reply))
        return;
    take_all(stream, reply);
    if (++stream->rounds < ROUNDS_MAX && stream->want > (unsigned)reply->count)
        take_from(stream);
}

/* [[ID, CONSUMER, IDLE, COUNT] ...] */
static void on_listed(saying *saying, const takt_reply *reply, int code)
{
    stream *stream = saying->stream;
    char idle[24];
    source_ref ref;

    (void)code;
    if (!is_answer(stream, reply))
        return;
    if (reply->count == 0) {
        walk(stream);
        return;
    }
    stream_words_begin(stream, "XCLAIM", stream->key, stream->group, stream->consumer,
                       idle_of(stream, idle), NULL);
    for (int i = 0; i < reply->count && i < TAKE_MAX; i++)
        if (stream_read_entry(&reply[2 + i * 5], &ref))
            stream_words_entry(stream, ref);
    stream_words_add(stream, "JUSTID", 6);
    stream->taking_over = stream_say(stream, stream->writer, on_claimed, none);
}

static void take_from(stream *stream)
{
    unsigned wanted = stream->want < TAKE_MAX ? stream->want : TAKE_MAX;
    char idle[24], count[12];

    snprintf(count, sizeof count, "%u", wanted);
    stream_words_begin(stream, "XPENDING", stream->key, stream->group, "IDLE",
                       idle_of(stream, idle), "-", "+", count, stream->left_by, NULL);
    stream->taking_over = stream_say(stream, stream->writer, on_listed, none);
}

/* ---- who has left something ------------------------------------------------------------------ */

/* One consumer, [NAME, VALUE ...]: whether it has something and was not heard of for too long. */
static bool has_left(const stream *stream, const takt_reply *consumer, const takt_reply **name)
{
    int64_t pending = 0, idle_ms = 0;

    *name = NULL;
    for (int i = 1; i + 1 <= consumer->count; i += 2) {
        const takt_reply *value = &consumer[i + 1];
        if (consumer[i].type != TAKT_REPLY_STRING)
            continue;
        if (strcmp(consumer[i].text, "name") == 0)
            *name = value;
        else if (strcmp(consumer[i].text, "pending") == 0)
            pending = value->integer;
        else if (strcmp(consumer[i].text, "idle") == 0)
            idle_ms = value->integer;
    }
    if (*name == NULL || (*name)->size > STREAM_NAME_MAX || pending == 0 ||
        strcmp((*name)->text, stream->consumer) == 0)
        return false;
    return idle_ms * 1000 >= stream->idle_us || strcmp((*name)->text, STREAM_NOBODY) == 0;
}

static void on_consumers(saying *saying, const takt_reply *reply, int code)
{
    stream *stream = saying->stream;
    const takt_reply *consumer, *name;

    (void)code;
    if (!is_answer(stream, reply))
        return;
    consumer = reply + 1;
    for (int left = reply->count; left > 0; left--, consumer = takt_reply_after(consumer)) {
        if (!has_left(stream, consumer, &name))
            continue;
        memcpy(stream->left_by, name->text, name->size + 1);
        take_from(stream);
        return;
    }
    walk(stream);
}

void stream_take_over(stream *stream)
{
    stream->rounds = 0;
    if (stream->taking_over || stream->want == 0 || stream->ended)
        return;
    stream_words_begin(stream, "XINFO", "CONSUMERS", stream->key, stream->group, NULL);
    stream->taking_over = stream_say(stream, stream->writer, on_consumers, none);
}
