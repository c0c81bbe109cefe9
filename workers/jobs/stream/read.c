/*
 * read.c: entries come in: new ones, by a command that blocks until there are some; others
 * by their names, one at a time, so that one which is too large is known for what it is.
 */
#include <stdio.h>
#include <string.h>

#include "stream.h"

#define BLOCK_MS  "1000" /* a drain waits for its end */
#define COUNT_MAX 256

static const char no_job[] = "the entry has no field \"job\"; add jobs with takt-jobs add, or XADD "
                             "STREAM * job '{\"id\": ...}'";
static const char too_large[] =
    "the entry is larger than what can be read (64 MiB); a job has at most 1 MiB";

bool stream_is_known(const stream *stream, source_ref ref)
{
    return held_find(&stream->held, ref) != NULL;
}

/* An entry for the reader, [ID, [FIELD, VALUE ...]]: it is in the table already. */
static void hand_out(stream *stream, source_ref ref, const takt_reply *fields, unsigned attempts,
                     bool fetched)
{
    const takt_reply *job = stream_field(fields, STREAM_FIELD_JOB);

    if (job != NULL)
        stream->events->took(stream->data, ref, job->text, job->size, attempts, fetched, NULL);
    else
        stream->events->took(stream->data, ref, NULL, 0, attempts, fetched, no_job);
}

/* ---- new entries ----------------------------------------------------------------------------- */

static void take_new(stream *stream, const takt_reply *entry)
{
    source_ref ref;

    if (entry->type != TAKT_REPLY_ARRAY || entry->count != 2 ||
        !stream_read_entry(entry + 1, &ref) || stream_is_known(stream, ref))
        return;
    if (held_add(&stream->held, ref, HELD_OURS) == NULL)
        return; /* without memory it is taken over when there is some again */
    held_row *row = held_find(&stream->held, ref);
    row->count = 1;
    row->seen = stream->survey;
    if (stream->closing) {
        stream_mark(stream, ref, HELD_BACK);
        return;
    }
    if (stream->want > 0)
        stream->want--;
    hand_out(stream, ref, entry + 2, 0, false);
}

/* [[KEY, [ENTRY ...]]] */
static void take_all(stream *stream, const takt_reply *reply)
{
    const takt_reply *entry;

    if (reply->count != 1 || reply[1].count != 2 || reply[3].type != TAKT_REPLY_ARRAY)
        return;
    entry = &reply[4];
    for (int left = reply[3].count; left > 0; left--) {
        take_new(stream, entry);
        entry = takt_reply_after(entry);
    }
}

/* [COUNT, FIRST, LAST, CONSUMERS] of all that was delivered to anybody and not ended. */
static void on_pending(saying *saying, const takt_reply *reply, int code)
{
    stream *stream = saying->stream;

    (void)code;
    if (reply == NULL || reply->type != TAKT_REPLY_ARRAY || reply->count < 1 || stream->ended ||
        stream->closing)
        return;
    if (reply[1].integer <= (int64_t)stream->held.count && !held_has(&stream->held, HELD_TAKING)) {
        stream->ended = true;
        stream->events->ended(stream->data);
    }
}

/* There is nothing new: is there anything at all? */
static void ask_whether_empty(stream *stream)
{
    stream_words_begin(stream, "XPENDING", stream->key, stream->group, NULL);
    (void)stream_say(stream, stream->writer, on_pending, (source_ref){0, 0});
}

static void on_read(saying *saying, const takt_reply *reply, int code)
{
    stream *stream = saying->stream;

    stream->reading = false;
    if (reply == NULL) {
        if (code == TAKT_E_STORE_SPACE && stream->read_count > 1)
            stream->read_count /= 2; /* what was too much together is ours: the survey finds it */
        return;
    }
    if (reply->type == TAKT_REPLY_ERROR) {
        stream_refused(stream, stream->reader, reply);
        return;
    }
    if (reply->type == TAKT_REPLY_ARRAY) {
        if (stream->read_count < COUNT_MAX)
            stream->read_count++;
        take_all(stream, reply);
        if (stream->closing)
            stream_say_ends(stream);
    } else if (stream->until_empty && !stream->closing) {
        ask_whether_empty(stream);
    }
    stream_read(stream);
}

void stream_read(stream *stream)
{
    char count[12];
    unsigned wanted = stream->want < stream->read_count ? stream->want : stream->read_count;

    if (stream->phase != STREAM_WORKS || stream->reading || wanted == 0 || stream->ended ||
        stream->closing)
        return;
    snprintf(count, sizeof count, "%u", wanted);
    stream_words_begin(stream, "XREADGROUP", "GROUP", stream->group, stream->consumer, "COUNT",
                       count, "BLOCK", BLOCK_MS, "STREAMS", stream->key, ">", NULL);
    stream->reading = stream_say(stream, stream->reader, on_read, (source_ref){0, 0});
}

/* ---- by name --------------------------------------------------------------------------------- */

/* The entry is there no more: somebody has deleted it. */
static void on_deleted(stream *stream, source_ref ref, bool told)
{
    stream_mark(stream, ref, HELD_DONE);
    if (told)
        stream->events->lost(stream->data, ref);
}

/* The reader is not told twice of what it has. */
static void found(stream *stream, source_ref ref, const takt_reply *fields, const char *why)
{
    held_row *row = held_find(&stream->held, ref);
    bool fetched = row != NULL && row->state == HELD_OURS && row->fetching;
    unsigned attempts;

    if (row == NULL || (row->state != HELD_TAKING && !fetched))
        return;
    attempts = row->count > 0 ? row->count - 1u : 0;
    row->state = HELD_OURS;
    row->fetching = false;
    if (!fetched && stream->want > 0)
        stream->want--;
    if (why != NULL)
        stream->events->took(stream->data, ref, NULL, 0, attempts, fetched, why);
    else
        hand_out(stream, ref, fields, attempts, fetched);
}

/* [[ID, [FIELD, VALUE ...]]] */
static void on_entry(saying *saying, const takt_reply *reply, int code)
{
    stream *stream = saying->stream;
    source_ref ref = saying->ref;
    held_row *row = held_find(&stream->held, ref);

    if (stream->closing)
        return;
    if (reply == NULL) {
        if (code == TAKT_E_STORE_SPACE && stream->too_large)
            found(stream, ref, NULL, too_large);
        else if (row != NULL && row->state == HELD_TAKING)
            held_remove(&stream->held, ref); /* the survey finds it again */
        return;
    }
    if (reply->type == TAKT_REPLY_ERROR)
        stream_refused(stream, stream->writer, reply);
    else if (reply->count == 1 && reply[1].count == 2 && reply[3].type == TAKT_REPLY_ARRAY)
        found(stream, ref, &reply[3], NULL);
    else if (row != NULL)
        on_deleted(stream, ref, row->state == HELD_OURS);
}

static bool ask_entry(stream *stream, source_ref ref)
{
    stream_words_begin(stream, "XRANGE", stream->key, NULL);
    stream_words_entry(stream, ref);
    stream_words_entry(stream, ref);
    return stream_say(stream, stream->writer, on_entry, ref);
}

/* [[ID, CONSUMER, IDLE, COUNT]] */
static void on_count(saying *saying, const takt_reply *reply, int code)
{
    held_row *row = held_find(&saying->stream->held, saying->ref);

    (void)code;
    if (reply == NULL || row == NULL || reply->count != 1 || reply[1].count != 4)
        return;
    row->count = reply[5].integer < UINT16_MAX ? (uint16_t)reply[5].integer : UINT16_MAX;
}

void stream_take(stream *stream, source_ref ref)
{
    held_row *row = held_add(&stream->held, ref, HELD_TAKING);

    if (row == NULL)
        return;
    row->seen = stream->survey;
    stream_words_begin(stream, "XPENDING", stream->key, stream->group, NULL);
    stream_words_entry(stream, ref);
    stream_words_entry(stream, ref);
    stream_words_add(stream, "1", 1);
    if (!stream_say(stream, stream->writer, on_count, ref) || !ask_entry(stream, ref))
        held_remove(&stream->held, ref);
}

void stream_fetch(stream *stream, held_row *row)
{
    row->fetching = true;
    if (stream->phase == STREAM_WORKS)
        (void)ask_entry(stream, held_ref(row)); /* else after the survey */
}
