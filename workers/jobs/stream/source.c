/*
 * source.c: the source "stream": its opening, its connections, and what source.h asks for.
 * See stream.h for how the parts go together.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"

#define READ_TIMEOUT_US INT64_C(11000000) /* a second more than ten: it blocks for one */
#define TIMEOUT_US      INT64_C(10000000)
#define READ_FIRST      64
#define IDLE_MIN_US     INT64_C(100000)
#define TICK_MAX_MS     1000

static const source_ref none = {0, 0};

/* ---- trouble --------------------------------------------------------------------------------- */

/* Said once; what never worked for a reason that does not pass is fatal. */
static void tell_failed(stream *stream, int code, const char *text)
{
    bool lasting = code == TAKT_E_STORE_ACCESS || code == TAKT_E_STORE_FORMAT;

    if (stream->told_failed || stream->closing)
        return;
    stream->told_failed = true;
    stream->events->failed(stream->data, !stream->worked && lasting, text);
}

/* Where one connection is lost the other one goes, too: why was told already. */
static void part(stream *stream, takt_redis *redis)
{
    bool parted = stream->parted;

    stream->parted = true;
    if (redis != NULL && takt_redis_is_ready(redis))
        takt_redis_reset(redis, TAKT_E_STORE, "the other connection of the worker was lost");
    stream->parted = parted;
}

static void on_lost(stream *stream, takt_redis *other, int code, const char *text)
{
    stream->phase = STREAM_AWAY;
    stream->surveying = false;
    if (code != TAKT_E_STORE_SPACE && !stream->parted) /* what was too large is read one by one */
        tell_failed(stream, code, text);
    part(stream, other);
}

static void on_reader_lost(void *data, int code, const char *text)
{
    stream *stream = data;

    on_lost(stream, stream->writer, code, text);
}

static void on_writer_lost(void *data, int code, const char *text)
{
    stream *stream = data;

    stream->too_large = code == TAKT_E_STORE_SPACE;
    on_lost(stream, stream->reader, code, text);
}

static bool begins_with(const takt_reply *reply, const char *word)
{
    return reply->type == TAKT_REPLY_ERROR && strncmp(reply->text, word, strlen(word)) == 0;
}

void stream_refused(stream *stream, takt_redis *by, const takt_reply *reply)
{
    takt_error error = {TAKT_E_STORE, "the server answered with something that was not asked for"};

    if (begins_with(reply, "NOGROUP") || begins_with(reply, "UNBLOCKED"))
        snprintf(error.text, sizeof error.text,
                 "the stream or its group was deleted in the server: it is made again");
    else if (reply->type == TAKT_REPLY_ERROR)
        (void)takt_redis_refused(by, reply, &error);
    tell_failed(stream, error.code, error.text);
    part(stream, stream->reader);
    part(stream, stream->writer);
}

/* ---- the way to work ------------------------------------------------------------------------- */

static void on_joined(saying *saying, const takt_reply *reply, int code)
{
    stream *stream = saying->stream;

    (void)code;
    if (reply == NULL || stream->phase != STREAM_JOINS)
        return;
    if (reply->type == TAKT_REPLY_ERROR && !begins_with(reply, "BUSYGROUP")) {
        stream_refused(stream, stream->writer, reply);
        return;
    }
    stream->phase = STREAM_LOOKS;
    stream_start_survey(stream);
}

static void on_ready(void *data)
{
    stream *stream = data;

    if (stream->closing || !takt_redis_is_ready(stream->reader) ||
        !takt_redis_is_ready(stream->writer))
        return;
    stream->phase = STREAM_JOINS;
    stream_words_begin(stream, "XGROUP", "CREATE", stream->key, stream->group, "0", "MKSTREAM",
                       NULL);
    (void)stream_say(stream, stream->writer, on_joined, none);
}

/* Texts that were asked for while it was away. */
static void fetch_again(stream *stream)
{
    for (size_t i = 0; i < stream->held.room; i++)
        if (stream->held.rows[i].state == HELD_OURS && stream->held.rows[i].fetching)
            stream_fetch(stream, &stream->held.rows[i]);
}

void stream_surveyed(stream *stream)
{
    bool held_up = stream->held_up && stream->worked;

    if (stream->phase == STREAM_LOOKS) {
        stream->phase = STREAM_WORKS;
        stream->worked = true;
        stream_say_all_ends(stream);
        fetch_again(stream);
        stream_read(stream);
    }
    if (!stream->closing && (stream->told_failed || held_up))
        stream->events->recovered(stream->data);
    stream->told_failed = stream->held_up = false;
}

static void tell_missing(stream *stream)
{
    while (stream->missing.count > 0 && !stream->closing)
        stream->events->lost(stream->data, stream->missing.refs[--stream->missing.count]);
}

static void on_tick(uv_timer_t *tick)
{
    stream *stream = tick->data;

    tell_missing(stream);
    stream_keep(stream);
    stream_step_close(stream);
}

void stream_tick_soon(stream *stream)
{
    uv_timer_start(&stream->tick, on_tick, 0, uv_timer_get_repeat(&stream->tick));
}

/* ---- what source.h asks for ------------------------------------------------------------------ */

static void stream_want(source *source, unsigned count)
{
    stream *stream = (struct stream *)source;

    stream->want = count;
    stream_read(stream);
}

static void stream_ask(source *source, source_ref ref)
{
    stream *stream = (struct stream *)source;
    held_row *row = held_find(&stream->held, ref);

    if (row != NULL && row->state == HELD_OURS) {
        stream_fetch(stream, row);
        return;
    }
    (void)stream_queue_add(&stream->missing, ref);
    stream_tick_soon(stream);
}

static void stream_begun(source *source, source_ref ref, unsigned attempts)
{
    stream_note_begun((stream *)source, ref, attempts);
}

static bool stream_flush(source *source)
{
    stream *stream = (struct stream *)source;

    stream_say_ends(stream);
    stream->held_up = stream->phase != STREAM_WORKS || stream_is_stale(stream);
    return !stream->held_up;
}

static bool stream_is_noted(source *source, source_ref ref)
{
    const held_row *row = held_find(&((stream *)source)->held, ref);

    return row == NULL || !row->noting;
}

static void stream_done(source *source, source_ref ref)
{
    stream_mark((stream *)source, ref, HELD_DONE);
}

static void stream_dead(source *source, source_ref ref, const char *text, size_t size,
                        const char *id, const char *why)
{
    stream_note_letter((stream *)source, ref, text, size, id, why);
}

static void stream_give_back(source *source, source_ref ref)
{
    stream_mark((stream *)source, ref, HELD_BACK);
}

static void stream_name(const source *source, source_ref ref, char text[SOURCE_REF_SIZE])
{
    (void)source;
    snprintf(text, SOURCE_REF_SIZE, "entry %" PRIu64 "-%" PRIu64, ref.major, ref.minor);
}

static const source_calls calls = {
    .want = stream_want,
    .fetch = stream_ask,
    .begun = stream_begun,
    .flush = stream_flush,
    .is_noted = stream_is_noted,
    .done = stream_done,
    .tried = stream_begun, /* which was said as it began */
    .dead = stream_dead,
    .give_back = stream_give_back,
    .close = stream_close,
    .name = stream_name,
};

/* ---- opening --------------------------------------------------------------------------------- */

/* HOST-PROCESS-NUMBER: nobody else's, and telling for a person. */
static void name_consumer(stream *stream)
{
    uint32_t number = (uint32_t)uv_hrtime();
    char host[65] = "";

    (void)uv_random(NULL, NULL, &number, sizeof number, 0, NULL);
    if (gethostname(host, sizeof host - 1) != 0)
        strcpy(host, "host");
    snprintf(stream->consumer, sizeof stream->consumer, "%s-%ld-%08" PRIx32, host, (long)getpid(),
             number);
}

static int connect_both(stream *stream, const char *url, takt_error *error)
{
    takt_redis_options options = {.timeout_us = READ_TIMEOUT_US,
                                  .on_ready = on_ready,
                                  .on_lost = on_reader_lost,
                                  .on_closed = stream_connection_closed,
                                  .data = stream};
    int code = takt_redis_open(&stream->reader, stream->loop, url, &options, error);

    if (code < 0)
        return code;
    options.timeout_us = TIMEOUT_US;
    options.on_lost = on_writer_lost;
    code = takt_redis_open(&stream->writer, stream->loop, url, &options, error);
    if (code < 0)
        takt_redis_close(stream->reader); /* which frees the stream, later */
    return code;
}

static void start_tick(stream *stream)
{
    uint64_t tick_ms = (uint64_t)stream->idle_us / 6000;

    if (tick_ms > TICK_MAX_MS)
        tick_ms = TICK_MAX_MS;
    stream->tick.data = stream;
    uv_timer_init(stream->loop, &stream->tick);
    uv_timer_start(&stream->tick, on_tick, tick_ms, tick_ms);
}

int source_open_stream(source **source, uv_loop_t *loop, const char *url, const char *name,
                       const char *group, int64_t idle_us, bool until_empty,
                       const source_events *events, void *data, takt_error *error)
{
    stream *opened;
    int code = stream_check_name(name, "stream", error);

    if (code == 0)
        code = stream_check_name(group, "group", error);
    if (code < 0)
        return code;
    opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return TAKT_E_NOMEM;
    opened->source.calls = &calls;
    opened->loop = loop;
    opened->events = events;
    opened->data = data;
    stream_key(opened->key, name);
    stream_dead_key(opened->dead_key, name);
    snprintf(opened->group, sizeof opened->group, "%s", group);
    name_consumer(opened);
    opened->idle_us = idle_us > IDLE_MIN_US ? idle_us : IDLE_MIN_US;
    opened->until_empty = until_empty;
    opened->read_count = READ_FIRST;
    strcpy(opened->takeover, "0-0");
    code = connect_both(opened, url, error);
    if (code == 0) {
        start_tick(opened);
        *source = &opened->source;
    } else if (opened->reader == NULL) {
        free(opened);
    }
    return code;
}
