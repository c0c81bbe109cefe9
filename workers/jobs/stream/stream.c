/*
 * stream.c: implements source.h for a stream: opening, ticks and closing. Closing gives entries
 * back, waits for commands under way, removes our consumer if it owns nothing, and closes the
 * connections. See stream.h for the parts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"

#define READ_FIRST  64
#define IDLE_MIN_US INT64_C(100000)
#define TICK_MAX_MS 1000
#define CLOSE_MS    5000 /* how long closing waits for confirmations */

static const takt_job_ref none = {0, 0};

/* ---- closing --------------------------------------------------------------------------------- */

static void closed_one(takt_stream *stream)
{
    const takt_job_source_events *events = stream->events;
    void *data = stream->data;

    if (--stream->close.left > 0)
        return;
    takt_stream_held_free(&stream->held);
    takt_stream_end_free(&stream->ends);
    free(stream->read.missing.refs);
    free(stream);
    events->closed(data);
}

static void on_connection_closed(void *data)
{
    takt_stream *stream = data;

    if (stream->connection.writer == NULL)
        free(stream); /* the stream was never opened */
    else
        closed_one(stream);
}

static void on_timer_closed(uv_handle_t *handle)
{
    closed_one(handle->data);
}

static void close_all(takt_stream *stream)
{
    if (stream->close.left > 0)
        return;
    stream->close.left = 3;
    stream->phase = TAKT_STREAM_AWAY;
    uv_close((uv_handle_t *)&stream->tick, on_timer_closed);
    takt_redis_close(stream->connection.reader);
    takt_redis_close(stream->connection.writer);
}

static void on_parted(takt_stream_call *call, const takt_reply *reply, int code)
{
    (void)reply;
    (void)code;
    close_all(call->stream);
}

/* The consumer is removed only if the server has no entries for it. */
static void on_left(takt_stream_call *call, const takt_reply *reply, int code)
{
    takt_stream *stream = call->stream;

    (void)code;
    if (reply == NULL || reply->type != TAKT_REPLY_ARRAY || reply->count > 0) {
        close_all(stream);
        return;
    }
    takt_stream_command_begin(stream, "XGROUP", "DELCONSUMER", stream->names.key,
                              stream->names.group, stream->names.consumer, NULL);
    if (!takt_stream_command_send(stream, stream->connection.writer, on_parted, none))
        close_all(stream);
}

/* Closing waits for commands under way; entries that a blocking read still brings are given back,
 * too. */
static void step_close(takt_stream *stream)
{
    if (!stream->closing || stream->close.left > 0)
        return;
    if (stream->phase != TAKT_STREAM_WORKS || uv_now(stream->loop) >= stream->close.by_ms) {
        close_all(stream);
        return;
    }
    if (stream->read.under_way || stream->ends.under_way > 0 || stream->close.parting)
        return;
    if (stream->held.count > 0) {
        close_all(stream);
        return;
    }
    stream->close.parting = true;
    takt_stream_command_begin(stream, "XPENDING", stream->names.key, stream->names.group, "-", "+",
                              "1", stream->names.consumer, NULL);
    if (!takt_stream_command_send(stream, stream->connection.writer, on_left, none))
        close_all(stream);
}

/* ---- on each tick ---------------------------------------------------------------------------- */

static void tell_missing(takt_stream *stream)
{
    while (stream->read.missing.count > 0 && !stream->closing)
        stream->events->lost(stream->data, stream->read.missing.refs[--stream->read.missing.count]);
}

static void keep(takt_stream *stream)
{
    int64_t since_us = (int64_t)(uv_now(stream->loop) - stream->survey.last_ms) * 1000;

    if (stream->phase != TAKT_STREAM_WORKS || stream->closing)
        return;
    if (since_us >= stream->idle_us / 3)
        takt_stream_survey_start(stream);
    takt_stream_takeover_look(stream);
}

static void on_tick(uv_timer_t *tick)
{
    takt_stream *stream = tick->data;

    tell_missing(stream);
    keep(stream);
    step_close(stream);
}

static void tick_soon(takt_stream *stream)
{
    uv_timer_start(&stream->tick, on_tick, 0, uv_timer_get_repeat(&stream->tick));
}

static void give_all_back(takt_stream *stream)
{
    for (size_t i = 0; i < stream->held.room; i++) {
        takt_stream_held_row *row = &stream->held.rows[i];
        if (row->state == TAKT_STREAM_HELD_OURS || row->state == TAKT_STREAM_HELD_TAKING)
            takt_stream_end_mark(stream, takt_stream_held_ref(row), TAKT_STREAM_HELD_BACK);
    }
}

static void close_stream(takt_job_source *source)
{
    takt_stream *stream = (takt_stream *)source;

    if (stream->closing)
        return;
    stream->closing = true;
    stream->read.want = 0;
    stream->close.by_ms = uv_now(stream->loop) + CLOSE_MS;
    give_all_back(stream);
    takt_stream_end_say(stream);
    tick_soon(stream);
}

/* ---- what source.h asks for ------------------------------------------------------------------ */

static void want(takt_job_source *source, unsigned count)
{
    takt_stream *stream = (takt_stream *)source;

    stream->read.want = count;
    takt_stream_read_on(stream);
}

static void fetch(takt_job_source *source, takt_job_ref ref)
{
    takt_stream *stream = (takt_stream *)source;
    takt_stream_held_row *row = takt_stream_held_find(&stream->held, ref);

    if (row != NULL && row->state == TAKT_STREAM_HELD_OURS) {
        takt_stream_read_again(stream, row);
        return;
    }
    (void)takt_stream_queue_add(&stream->read.missing, ref);
    tick_soon(stream);
}

static void begun(takt_job_source *source, takt_job_ref ref, unsigned attempts)
{
    takt_stream_end_note_begun((takt_stream *)source, ref, attempts);
}

static bool flush(takt_job_source *source)
{
    takt_stream *stream = (takt_stream *)source;

    takt_stream_end_say(stream);
    stream->survey.held_up =
        stream->phase != TAKT_STREAM_WORKS || takt_stream_survey_is_stale(stream);
    return !stream->survey.held_up;
}

static bool is_noted(takt_job_source *source, takt_job_ref ref)
{
    const takt_stream_held_row *row =
        takt_stream_held_find(&((const takt_stream *)source)->held, ref);

    return row == NULL || !row->noting;
}

static void done(takt_job_source *source, takt_job_ref ref)
{
    takt_stream_end_mark((takt_stream *)source, ref, TAKT_STREAM_HELD_DONE);
}

static void dead(takt_job_source *source, takt_job_ref ref, const char *text, size_t size,
                 const char *id, const char *why)
{
    takt_stream_end_note_letter((takt_stream *)source, ref, text, size, id, why);
}

static void give_back(takt_job_source *source, takt_job_ref ref)
{
    takt_stream_end_mark((takt_stream *)source, ref, TAKT_STREAM_HELD_BACK);
}

static void name_entry(const takt_job_source *source, takt_job_ref ref,
                       char text[TAKT_JOB_SOURCE_REF_SIZE])
{
    (void)source;
    snprintf(text, TAKT_JOB_SOURCE_REF_SIZE, "entry %" PRIu64 "-%" PRIu64, ref.major, ref.minor);
}

static const takt_job_source_calls calls = {
    .want = want,
    .fetch = fetch,
    .begun = begun,
    .flush = flush,
    .is_noted = is_noted,
    .done = done,
    .tried = begun, /* sent when the attempt began */
    .dead = dead,
    .give_back = give_back,
    .close = close_stream,
    .name = name_entry,
};

/* ---- opening --------------------------------------------------------------------------------- */

/* HOST-PROCESS-NUMBER: unique, and readable. */
static void name_consumer(takt_stream *stream)
{
    uint32_t number = (uint32_t)uv_hrtime();
    char host[65] = "";

    (void)uv_random(NULL, NULL, &number, sizeof number, 0, NULL);
    if (gethostname(host, sizeof host - 1) != 0)
        strcpy(host, "host");
    snprintf(stream->names.consumer, sizeof stream->names.consumer, "%s-%ld-%08" PRIx32, host,
             (long)getpid(), number);
}

static const takt_stream_connection_events connection_events = {
    .ready = takt_stream_survey_join,
    .closed = on_connection_closed,
};

static void start_tick(takt_stream *stream)
{
    uint64_t tick_ms = (uint64_t)stream->idle_us / 6000;

    if (tick_ms > TICK_MAX_MS)
        tick_ms = TICK_MAX_MS;
    stream->tick.data = stream;
    uv_timer_init(stream->loop, &stream->tick);
    uv_timer_start(&stream->tick, on_tick, tick_ms, tick_ms);
}

int takt_job_source_open_stream(takt_job_source **source, uv_loop_t *loop, const char *url,
                                const char *name, const char *group, int64_t idle_us,
                                bool until_empty, const takt_job_source_events *events, void *data,
                                takt_error *error)
{
    takt_stream *opened;
    int code = takt_stream_names_check(name, "stream", error);

    if (code == 0)
        code = takt_stream_names_check(group, "group", error);
    if (code < 0)
        return code;
    opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return TAKT_E_NOMEM;
    opened->source.calls = &calls;
    opened->loop = loop;
    opened->events = events;
    opened->data = data;
    takt_stream_names_key(opened->names.key, name);
    takt_stream_names_dead_key(opened->names.dead_key, name);
    snprintf(opened->names.group, sizeof opened->names.group, "%s", group);
    name_consumer(opened);
    opened->idle_us = idle_us > IDLE_MIN_US ? idle_us : IDLE_MIN_US;
    opened->until_empty = until_empty;
    opened->answered = step_close;
    opened->read.at_once = READ_FIRST;
    strcpy(opened->takeover.from, "0-0");
    code = takt_stream_connection_open(opened, url, &connection_events, error);
    if (code == 0) {
        start_tick(opened);
        *source = &opened->source;
    } else if (opened->connection.reader == NULL) {
        free(opened);
    }
    return code;
}
