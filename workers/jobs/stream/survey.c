/*
 * survey.c: keeps the entries of this worker, from the moment when both connections are ready.
 *
 * A survey reads the server's list of entries of our consumer. An entry that is also in the table
 * is claimed again, so that no other worker takes it over. An entry that is only in the table was
 * taken by another worker. An entry that is only on the server, right after connecting, came in an
 * answer that was lost. The first survey after connecting starts the work.
 */
#include <stdlib.h>
#include <string.h>

#include "stream.h"

#define PAGE      "500" /* at most TAKT_STREAM_COMMAND_MAX */
#define PAGE_SIZE 500

static const takt_job_ref none = {0, 0};

static void ask_page(takt_stream *stream, takt_job_ref after);

void takt_stream_survey_start(takt_stream *stream)
{
    if (stream->survey.under_way)
        return;
    stream->survey.under_way = true;
    stream->survey.number++;
    stream->survey.began_ms = uv_now(stream->loop);
    ask_page(stream, (takt_job_ref){0, 0});
}

bool takt_stream_survey_is_stale(const takt_stream *stream)
{
    return (int64_t)(uv_now(stream->loop) - stream->survey.last_ms) * 1000 >
           stream->idle_us / 3 * 2;
}

/* Removes entries that the survey has not found: entries that this worker has ended are confirmed,
 * the others belong to another worker. */
static void sweep(takt_stream *stream)
{
    takt_stream_queue gone = {0};

    for (size_t i = 0; i < stream->held.room; i++) {
        takt_stream_held_row *row = &stream->held.rows[i];
        if (row->state != TAKT_STREAM_HELD_NONE && row->seen != stream->survey.number)
            (void)takt_stream_queue_add(&gone, takt_stream_held_ref(row));
    }
    for (size_t i = 0; i < gone.count; i++) {
        takt_stream_held_row *row = takt_stream_held_find(&stream->held, gone.refs[i]);
        bool ours = row != NULL && row->state == TAKT_STREAM_HELD_OURS;
        takt_stream_held_remove(&stream->held, gone.refs[i]);
        if (ours && !stream->closing)
            stream->events->lost(stream->data, gone.refs[i]);
    }
    free(gone.refs);
}

/* Reads texts again that were asked for during the outage. */
static void fetch_again(takt_stream *stream)
{
    for (size_t i = 0; i < stream->held.room; i++)
        if (stream->held.rows[i].state == TAKT_STREAM_HELD_OURS && stream->held.rows[i].fetching)
            takt_stream_read_again(stream, &stream->held.rows[i]);
}

static void go_on(takt_stream *stream)
{
    bool held_up = stream->survey.held_up && stream->worked;

    if (stream->phase == TAKT_STREAM_LOOKS) {
        stream->phase = TAKT_STREAM_WORKS;
        stream->worked = true;
        takt_stream_end_say_all(stream);
        fetch_again(stream);
        takt_stream_read_on(stream);
    }
    if (!stream->closing && (stream->connection.told_failed || held_up))
        stream->events->recovered(stream->data);
    stream->connection.told_failed = stream->survey.held_up = false;
}

static void end_survey(takt_stream *stream)
{
    stream->survey.under_way = false;
    stream->survey.last_ms = stream->survey.began_ms;
    sweep(stream);
    go_on(stream);
}

static void on_claimed(takt_stream_call *call, const takt_reply *reply, int code)
{
    (void)code;
    if (reply != NULL && reply->type == TAKT_REPLY_ERROR)
        takt_stream_connection_refused(call->stream, call->stream->connection.writer, reply);
}

/* Right after connecting the server's count shows whether it has recorded a begin that it did not
 * confirm. If not, the begin is sent again. */
static void note_count(takt_stream_held_row *row, int64_t count)
{
    if (row->noting && count < row->count)
        return;
    row->count = count < UINT16_MAX ? (uint16_t)count : UINT16_MAX;
    row->noting = false;
}

/* Notes one row of a page: [ID, CONSUMER, IDLE, COUNT]. True: the entry must be claimed again. */
static bool note(takt_stream *stream, takt_job_ref ref, const takt_reply *count)
{
    takt_stream_held_row *row = takt_stream_held_find(&stream->held, ref);

    if (row == NULL) {
        if (stream->phase == TAKT_STREAM_LOOKS)
            takt_stream_read_taken(stream, ref);
        return false;
    }
    row->seen = stream->survey.number;
    if (stream->phase == TAKT_STREAM_LOOKS)
        note_count(row, count->integer);
    return row->state != TAKT_STREAM_HELD_BACK;
}

static void on_page(takt_stream_call *call, const takt_reply *reply, int code)
{
    takt_stream *stream = call->stream;
    takt_job_ref refs[PAGE_SIZE], last = {0, 0};
    int count = 0;

    (void)code;
    if (reply == NULL)
        return;
    if (reply->type != TAKT_REPLY_ARRAY) {
        takt_stream_connection_refused(stream, stream->connection.writer, reply);
        return;
    }
    for (int i = 0; i < reply->count && i < PAGE_SIZE; i++) {
        const takt_reply *row = &reply[1 + i * 5];
        if (row->count != 4 || !takt_stream_names_read_entry(row + 1, &last))
            return;
        if (note(stream, last, row + 4))
            refs[count++] = last;
    }
    if (count > 0) {
        takt_stream_command_begin(stream, "XCLAIM", stream->names.key, stream->names.group,
                                  stream->names.consumer, "0", NULL);
        for (int i = 0; i < count; i++)
            takt_stream_command_entry(stream, refs[i]);
        takt_stream_command_add(stream, "JUSTID", 6);
        (void)takt_stream_command_send(stream, stream->connection.writer, on_claimed, last);
    }
    if (reply->count == PAGE_SIZE)
        ask_page(stream, last);
    else
        end_survey(stream);
}

/* Asks for the page after that entry. */
static void ask_page(takt_stream *stream, takt_job_ref after)
{
    takt_job_ref from = {after.major, after.minor + 1};

    if (from.minor == 0)
        from.major++;
    takt_stream_command_begin(stream, "XPENDING", stream->names.key, stream->names.group, NULL);
    takt_stream_command_entry(stream, from);
    takt_stream_command_add(stream, "+", 1);
    takt_stream_command_add(stream, PAGE, strlen(PAGE));
    takt_stream_command_add(stream, stream->names.consumer, strlen(stream->names.consumer));
    if (!takt_stream_command_send(stream, stream->connection.writer, on_page, from))
        stream->survey.under_way = false;
}

static void on_joined(takt_stream_call *call, const takt_reply *reply, int code)
{
    takt_stream *stream = call->stream;

    (void)code;
    if (reply == NULL || stream->phase != TAKT_STREAM_JOINS)
        return;
    if (reply->type == TAKT_REPLY_ERROR && !takt_stream_connection_is_error(reply, "BUSYGROUP")) {
        takt_stream_connection_refused(stream, stream->connection.writer, reply);
        return;
    }
    stream->phase = TAKT_STREAM_LOOKS;
    takt_stream_survey_start(stream);
}

void takt_stream_survey_join(takt_stream *stream)
{
    stream->phase = TAKT_STREAM_JOINS;
    takt_stream_command_begin(stream, "XGROUP", "CREATE", stream->names.key, stream->names.group,
                              "0", "MKSTREAM", NULL);
    (void)takt_stream_command_send(stream, stream->connection.writer, on_joined, none);
}
