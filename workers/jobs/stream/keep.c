/*
 * keep.c: what is ours stays ours.
 *
 * A survey walks through all that the server has for our consumer.  What is in the table is claimed
 * anew, so that it does not look left alone; what is in the table and not there was taken by
 * somebody else; what is there and not in the table, right after connecting, came in an answer that
 * was lost.
 */
#include <stdlib.h>
#include <string.h>

#include "stream.h"

#define PAGE      "500" /* not more than STREAM_WORDS_MAX */
#define PAGE_SIZE 500

static void ask_page(stream *stream, source_ref after);

/* ---- a survey -------------------------------------------------------------------------------- */

void stream_start_survey(stream *stream)
{
    if (stream->surveying)
        return;
    stream->surveying = true;
    stream->survey++;
    stream->survey_began_ms = uv_now(stream->loop);
    ask_page(stream, (source_ref){0, 0});
}

bool stream_is_stale(const stream *stream)
{
    return (int64_t)(uv_now(stream->loop) - stream->surveyed_ms) * 1000 > stream->idle_us / 3 * 2;
}

/* Those that the survey has not found: what we have ended is ended, the rest is somebody else's. */
static void sweep(stream *stream)
{
    stream_queue gone = {0};

    for (size_t i = 0; i < stream->held.room; i++) {
        held_row *row = &stream->held.rows[i];
        if (row->state != HELD_NONE && row->seen != stream->survey)
            (void)stream_queue_add(&gone, held_ref(row));
    }
    for (size_t i = 0; i < gone.count; i++) {
        held_row *row = held_find(&stream->held, gone.refs[i]);
        bool ours = row != NULL && row->state == HELD_OURS;
        held_remove(&stream->held, gone.refs[i]);
        if (ours && !stream->closing)
            stream->events->lost(stream->data, gone.refs[i]);
    }
    free(gone.refs);
}

static void end_survey(stream *stream)
{
    stream->surveying = false;
    stream->surveyed_ms = stream->survey_began_ms;
    sweep(stream);
    stream_surveyed(stream);
}

static void on_claimed(saying *saying, const takt_reply *reply, int code)
{
    (void)code;
    if (reply != NULL && reply->type == TAKT_REPLY_ERROR)
        stream_refused(saying->stream, saying->stream->writer, reply);
}

/* One row of a page: [ID, CONSUMER, IDLE, COUNT].  True: it is to be claimed anew. */
static bool note(stream *stream, source_ref ref, const takt_reply *count)
{
    held_row *row = held_find(&stream->held, ref);

    if (row == NULL) {
        if (stream->phase == STREAM_LOOKS)
            stream_take(stream, ref);
        return false;
    }
    row->seen = stream->survey;
    if (stream->phase == STREAM_LOOKS) { /* what was under way was confirmed by this, or was not */
        row->count = count->integer < UINT16_MAX ? (uint16_t)count->integer : UINT16_MAX;
        row->noting = false;
    }
    return row->state != HELD_BACK;
}

static void on_page(saying *saying, const takt_reply *reply, int code)
{
    stream *stream = saying->stream;
    source_ref refs[PAGE_SIZE], last = {0, 0};
    int count = 0;

    (void)code;
    if (reply == NULL)
        return;
    if (reply->type != TAKT_REPLY_ARRAY) {
        stream_refused(stream, stream->writer, reply);
        return;
    }
    for (int i = 0; i < reply->count && i < PAGE_SIZE; i++) {
        const takt_reply *row = &reply[1 + i * 5];
        if (row->count != 4 || !stream_read_entry(row + 1, &last))
            return;
        if (note(stream, last, row + 4))
            refs[count++] = last;
    }
    if (count > 0) {
        stream_words_begin(stream, "XCLAIM", stream->key, stream->group, stream->consumer, "0",
                           NULL);
        for (int i = 0; i < count; i++)
            stream_words_entry(stream, refs[i]);
        stream_words_add(stream, "JUSTID", 6);
        (void)stream_say(stream, stream->writer, on_claimed, last);
    }
    if (reply->count == PAGE_SIZE)
        ask_page(stream, last);
    else
        end_survey(stream);
}

/* From the entry behind that one on. */
static void ask_page(stream *stream, source_ref after)
{
    source_ref from = {after.major, after.minor + 1};

    if (from.minor == 0)
        from.major++;
    stream_words_begin(stream, "XPENDING", stream->key, stream->group, NULL);
    stream_words_entry(stream, from);
    stream_words_add(stream, "+", 1);
    stream_words_add(stream, PAGE, strlen(PAGE));
    stream_words_add(stream, stream->consumer, strlen(stream->consumer));
    if (!stream_say(stream, stream->writer, on_page, from))
        stream->surveying = false;
}

void stream_keep(stream *stream)
{
    int64_t since_us = (int64_t)(uv_now(stream->loop) - stream->surveyed_ms) * 1000;

    if (stream->phase != STREAM_WORKS || stream->closing)
        return;
    if (since_us >= stream->idle_us / 3)
        stream_start_survey(stream);
    stream_take_over(stream);
}
