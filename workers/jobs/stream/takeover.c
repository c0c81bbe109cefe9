/*
 * takeover.c: what others have left becomes ours.
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
#define GONE_AFTER 20   /* times as long as until its jobs are taken over */

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

typedef struct consumer {
    const char *name;
    size_t name_size;
    int64_t pending, idle_us;
} consumer;

/* [NAME, VALUE ...] */
static consumer read_consumer(const takt_reply *reply)
{
    consumer read = {0};

    for (int i = 1; i + 1 <= reply->count; i += 2) {
        const takt_reply *value = &reply[i + 1];
        if (reply[i].type != TAKT_REPLY_STRING)
            continue;
        if (strcmp(reply[i].text, "name") == 0) {
            read.name = value->text;
            read.name_size = value->size;
        } else if (strcmp(reply[i].text, "pending") == 0) {
            read.pending = value->integer;
        } else if (strcmp(reply[i].text, "idle") == 0) {
            read.idle_us = value->integer * 1000;
        }
    }
    return read;
}

/* Whether it has something and was not heard of for too long. */
static bool has_left(const stream *stream, const consumer *consumer)
{
    return consumer->pending > 0 &&
           (consumer->idle_us >= stream->idle_us || strcmp(consumer->name, STREAM_NOBODY) == 0);
}

/* Whether it has nothing, and was not heard of for so long that it never will be. */
static bool is_gone(const stream *stream, const consumer *consumer)
{
    return consumer->pending == 0 && consumer->idle_us / GONE_AFTER >= stream->idle_us;
}

static void on_consumers(saying *saying, const takt_reply *reply, int code)
{
    stream *stream = saying->stream;
    const takt_reply *next;
    bool forgets = false;

    (void)code;
    if (!is_answer(stream, reply))
        return;
    next = reply + 1;
    for (int left = reply->count; left > 0; left--, next = takt_reply_after(next)) {
        consumer consumer = read_consumer(next);
        if (consumer.name == NULL || consumer.name_size > STREAM_NAME_MAX ||
            strlen(consumer.name) != consumer.name_size ||
            strcmp(consumer.name, stream->consumer) == 0)
            continue;
        if (has_left(stream, &consumer)) {
            memcpy(stream->left_by, consumer.name, consumer.name_size + 1);
            take_from(stream);
            return;
        }
        if (!forgets && is_gone(stream, &consumer)) { /* one at a time */
            forgets = true;
            stream_forget(stream, consumer.name);
        }
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
