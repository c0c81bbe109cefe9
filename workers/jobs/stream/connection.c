/*
 * connection.c: the two connections of a stream: one for commands that block (the reader), and one
 * for all others (the writer). If one is lost, both are made again. The caller decides what happens
 * when both are ready.
 */
#include <stdio.h>
#include <string.h>

#include "stream.h"

#define READ_TIMEOUT_US INT64_C(11000000) /* ten seconds and one more, for the blocking read */
#define TIMEOUT_US      INT64_C(10000000)

/* Reports a failure once. It is fatal if the connection never worked and the reason is
 * permanent. */
static void tell_failed(takt_stream *stream, int code, const char *text)
{
    bool lasting = code == TAKT_E_STORE_ACCESS || code == TAKT_E_STORE_FORMAT;

    if (stream->connection.told_failed || stream->closing)
        return;
    stream->connection.told_failed = true;
    stream->events->failed(stream->data, !stream->worked && lasting, text);
}

/* If one connection is lost, the other is closed, too; the reason was reported already. */
static void part(takt_stream *stream, takt_redis *redis)
{
    bool parted = stream->connection.parted;

    stream->connection.parted = true;
    if (redis != NULL && takt_redis_is_ready(redis))
        takt_redis_reset(redis, TAKT_E_STORE, "the other connection of the worker was lost");
    stream->connection.parted = parted;
}

static void on_lost(takt_stream *stream, takt_redis *other, int code, const char *text)
{
    stream->phase = TAKT_STREAM_AWAY;
    stream->survey.under_way = false;
    if (code != TAKT_E_STORE_SPACE &&
        !stream->connection.parted) /* entries are read one by one after a too large reply */
        tell_failed(stream, code, text);
    part(stream, other);
}

static void on_reader_lost(void *data, int code, const char *text)
{
    takt_stream *stream = data;

    on_lost(stream, stream->connection.writer, code, text);
}

static void on_writer_lost(void *data, int code, const char *text)
{
    takt_stream *stream = data;

    stream->connection.too_large = code == TAKT_E_STORE_SPACE;
    on_lost(stream, stream->connection.reader, code, text);
}

bool takt_stream_connection_is_error(const takt_reply *reply, const char *word)
{
    return reply->type == TAKT_REPLY_ERROR && strncmp(reply->text, word, strlen(word)) == 0;
}

void takt_stream_connection_refused(takt_stream *stream, takt_redis *by, const takt_reply *reply)
{
    takt_error error = {TAKT_E_STORE, "the server sent an unexpected reply"};

    if (takt_stream_connection_is_error(reply, "NOGROUP") ||
        takt_stream_connection_is_error(reply, "UNBLOCKED"))
        snprintf(error.text, sizeof error.text,
                 "the stream or its group was deleted on the server: creating it again");
    else if (reply->type == TAKT_REPLY_ERROR)
        (void)takt_redis_refused(by, reply, &error);
    tell_failed(stream, error.code, error.text);
    part(stream, stream->connection.reader);
    part(stream, stream->connection.writer);
}

static void on_ready(void *data)
{
    takt_stream *stream = data;

    if (!stream->closing && takt_redis_is_ready(stream->connection.reader) &&
        takt_redis_is_ready(stream->connection.writer))
        stream->connection.ready(stream);
}

int takt_stream_connection_open(takt_stream *stream, const char *url,
                                const takt_stream_connection_events *events, takt_error *error)
{
    takt_redis_options options = {.timeout_us = READ_TIMEOUT_US,
                                  .key = stream->names.key,
                                  .on_ready = on_ready,
                                  .on_lost = on_reader_lost,
                                  .on_closed = events->closed,
                                  .data = stream};
    int code;

    stream->connection.ready = events->ready;
    code = takt_redis_open(&stream->connection.reader, stream->loop, url, &options, error);
    if (code < 0)
        return code;
    options.timeout_us = TIMEOUT_US;
    options.on_lost = on_writer_lost;
    code = takt_redis_open(&stream->connection.writer, stream->loop, url, &options, error);
    if (code < 0)
        takt_redis_close(stream->connection.reader); /* frees the stream later */
    return code;
}
