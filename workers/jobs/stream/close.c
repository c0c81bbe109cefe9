/*
 * close.c: the end: what is held is given back, what is under way is waited for, our name
 * goes where nothing is left of us, and then the connections.
 */
#include <stdlib.h>

#include "stream.h"

#define CLOSE_MS 5000 /* how long it waits for what is not confirmed */

static const source_ref none = {0, 0};

static void closed_one(stream *stream)
{
    const source_events *events = stream->events;
    void *data = stream->data;

    if (--stream->left > 0)
        return;
    held_free(&stream->held);
    stream_drop_letters(stream);
    free(stream->begun.refs);
    free(stream->done.refs);
    free(stream->back.refs);
    free(stream->missing.refs);
    free(stream);
    events->closed(data);
}

void stream_connection_closed(void *data)
{
    stream *stream = data;

    if (stream->writer == NULL)
        free(stream); /* it was never opened */
    else
        closed_one(stream);
}

static void on_timer_closed(uv_handle_t *handle)
{
    closed_one(handle->data);
}

static void close_all(stream *stream)
{
    if (stream->left > 0)
        return;
    stream->left = 3;
    stream->phase = STREAM_AWAY;
    uv_close((uv_handle_t *)&stream->tick, on_timer_closed);
    takt_redis_close(stream->reader);
    takt_redis_close(stream->writer);
}

static void on_parted(saying *saying, const takt_reply *reply, int code)
{
    (void)reply;
    (void)code;
    close_all(saying->stream);
}

/* Nothing that was delivered to us may go with our consumer. */
static void on_left(saying *saying, const takt_reply *reply, int code)
{
    stream *stream = saying->stream;

    (void)code;
    if (reply == NULL || reply->type != TAKT_REPLY_ARRAY || reply->count > 0) {
        close_all(stream);
        return;
    }
    stream_words_begin(stream, "XGROUP", "DELCONSUMER", stream->key, stream->group,
                       stream->consumer, NULL);
    if (!stream_say(stream, stream->writer, on_parted, none))
        close_all(stream);
}

/* What is under way is waited for: what a command that blocks still brings is given back, too. */
void stream_step_close(stream *stream)
{
    if (!stream->closing || stream->left > 0)
        return;
    if (stream->phase != STREAM_WORKS || uv_now(stream->loop) >= stream->close_by_ms) {
        close_all(stream);
        return;
    }
    if (stream->reading || stream->ending > 0 || stream->parting)
        return;
    if (stream->held.count > 0) {
        close_all(stream);
        return;
    }
    stream->parting = true;
    stream_words_begin(stream, "XPENDING", stream->key, stream->group, "-", "+", "1",
                       stream->consumer, NULL);
    if (!stream_say(stream, stream->writer, on_left, none))
        close_all(stream);
}

static void give_all_back(stream *stream)
{
    for (size_t i = 0; i < stream->held.room; i++) {
        held_row *row = &stream->held.rows[i];
        if (row->state == HELD_OURS || row->state == HELD_TAKING)
            stream_mark(stream, held_ref(row), HELD_BACK);
    }
}

void stream_close(source *source)
{
    stream *stream = (struct stream *)source;

    if (stream->closing)
        return;
    stream->closing = true;
    stream->want = 0;
    stream->close_by_ms = uv_now(stream->loop) + CLOSE_MS;
    give_all_back(stream);
    stream_say_ends(stream);
    stream_tick_soon(stream);
}
