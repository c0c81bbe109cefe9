/*
 * read.c: reads entries: new ones by a command that blocks until there are some, others by id, one
 * at a time, so that a too large one can be identified.
 */
#include <stdio.h>
#include <string.h>

#include "stream.h"

#define BLOCK_MS  "1000" /* a drain waits for the end of this block */
#define COUNT_MAX 256

static const char no_job[] = "the entry has no field \"job\"; add jobs with takt-jobs add, or XADD "
                             "STREAM * job '{\"id\": ...}'";
static const char too_large[] =
    "the entry is too large to read (more than 64 MiB); a job has at most 1 MiB";

/* Hands an entry, [ID, [FIELD, VALUE ...]], to the reader; it is in the table already. */
static void give_job(takt_stream *stream, takt_job_ref ref, const takt_reply *fields,
                     unsigned attempts, bool fetched)
{
    const takt_reply *job = takt_stream_names_field(fields, TAKT_STREAM_FIELD_JOB);

    if (job != NULL)
        stream->events->took(stream->data, ref, job->text, job->size, attempts, fetched, NULL);
    else
        stream->events->took(stream->data, ref, NULL, 0, attempts, fetched, no_job);
}

/* ---- new entries ----------------------------------------------------------------------------- */

static void take_new(takt_stream *stream, const takt_reply *entry)
{
    takt_job_ref ref;

    if (entry->type != TAKT_REPLY_ARRAY || entry->count != 2 ||
        !takt_stream_names_read_entry(entry + 1, &ref) || takt_stream_held_find(&stream->held, ref))
        return;
    if (takt_stream_held_add(&stream->held, ref, TAKT_STREAM_HELD_OURS) == NULL)
        return; /* without memory the entry is taken over later */
    takt_stream_held_row *row = takt_stream_held_find(&stream->held, ref);
    row->count = 1;
    row->seen = stream->survey.number;
    if (stream->closing) {
        takt_stream_end_mark(stream, ref, TAKT_STREAM_HELD_BACK);
        return;
    }
    if (stream->read.want > 0)
        stream->read.want--;
    give_job(stream, ref, entry + 2, 0, false);
}

/* [[KEY, [ENTRY ...]]] */
static void take_all(takt_stream *stream, const takt_reply *reply)
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

/* [COUNT, FIRST, LAST, CONSUMERS] of all entries that were delivered and did not end. */
static void on_pending(takt_stream_call *call, const takt_reply *reply, int code)
{
    takt_stream *stream = call->stream;

    (void)code;
    if (reply == NULL || reply->type != TAKT_REPLY_ARRAY || reply->count < 1 ||
        stream->read.ended || stream->closing)
        return;
    if (reply[1].integer <= (int64_t)stream->held.count &&
        !takt_stream_held_has(&stream->held, TAKT_STREAM_HELD_TAKING)) {
        stream->read.ended = true;
        stream->events->ended(stream->data);
    }
}

/* There is nothing new: asks whether the stream is empty. */
static void ask_whether_empty(takt_stream *stream)
{
    takt_stream_command_begin(stream, "XPENDING", stream->names.key, stream->names.group, NULL);
    (void)takt_stream_command_send(stream, stream->connection.writer, on_pending,
                                   (takt_job_ref){0, 0});
}

static void on_read(takt_stream_call *call, const takt_reply *reply, int code)
{
    takt_stream *stream = call->stream;

    stream->read.under_way = false;
    if (reply == NULL) {
        if (code == TAKT_E_STORE_SPACE && stream->read.at_once > 1)
            /* the entries are delivered to this worker, and the survey finds them */
            stream->read.at_once /= 2;
        return;
    }
    if (reply->type == TAKT_REPLY_ERROR) {
        takt_stream_connection_refused(stream, stream->connection.reader, reply);
        return;
    }
    if (reply->type == TAKT_REPLY_ARRAY) {
        if (stream->read.at_once < COUNT_MAX)
            stream->read.at_once++;
        take_all(stream, reply);
        if (stream->closing)
            takt_stream_end_say(stream);
    } else if (stream->until_empty && !stream->closing) {
        ask_whether_empty(stream);
    }
    takt_stream_read_on(stream);
}

void takt_stream_read_on(takt_stream *stream)
{
    char count[12];
    unsigned wanted =
        stream->read.want < stream->read.at_once ? stream->read.want : stream->read.at_once;

    if (stream->phase != TAKT_STREAM_WORKS || stream->read.under_way || wanted == 0 ||
        stream->read.ended || stream->closing)
        return;
    snprintf(count, sizeof count, "%u", wanted);
    takt_stream_command_begin(stream, "XREADGROUP", "GROUP", stream->names.group,
                              stream->names.consumer, "COUNT", count, "BLOCK", BLOCK_MS, "STREAMS",
                              stream->names.key, ">", NULL);
    stream->read.under_way =
        takt_stream_command_send(stream, stream->connection.reader, on_read, (takt_job_ref){0, 0});
}

/* ---- by name --------------------------------------------------------------------------------- */

/* Somebody has deleted the entry. */
static void on_deleted(takt_stream *stream, takt_job_ref ref, bool told)
{
    takt_stream_end_mark(stream, ref, TAKT_STREAM_HELD_DONE);
    if (told)
        stream->events->lost(stream->data, ref);
}

/* The reader gets each entry once. */
static void found(takt_stream *stream, takt_job_ref ref, const takt_reply *fields, const char *why)
{
    takt_stream_held_row *row = takt_stream_held_find(&stream->held, ref);
    bool fetched = row != NULL && row->state == TAKT_STREAM_HELD_OURS && row->fetching;
    unsigned attempts;

    if (row == NULL || (row->state != TAKT_STREAM_HELD_TAKING && !fetched))
        return;
    attempts = row->count > 0 ? row->count - 1u : 0;
    row->state = TAKT_STREAM_HELD_OURS;
    row->fetching = false;
    if (!fetched && stream->read.want > 0)
        stream->read.want--;
    if (why != NULL)
        stream->events->took(stream->data, ref, NULL, 0, attempts, fetched, why);
    else
        give_job(stream, ref, fields, attempts, fetched);
}

/* [[ID, [FIELD, VALUE ...]]] */
static void on_entry(takt_stream_call *call, const takt_reply *reply, int code)
{
    takt_stream *stream = call->stream;
    takt_job_ref ref = call->ref;
    takt_stream_held_row *row = takt_stream_held_find(&stream->held, ref);

    if (stream->closing)
        return;
    if (reply == NULL) {
        if (code == TAKT_E_STORE_SPACE && stream->connection.too_large)
            found(stream, ref, NULL, too_large);
        else if (row != NULL && row->state == TAKT_STREAM_HELD_TAKING)
            takt_stream_held_remove(&stream->held, ref); /* the survey finds it again */
        return;
    }
    if (reply->type == TAKT_REPLY_ERROR)
        takt_stream_connection_refused(stream, stream->connection.writer, reply);
    else if (reply->count == 1 && reply[1].count == 2 && reply[3].type == TAKT_REPLY_ARRAY)
        found(stream, ref, &reply[3], NULL);
    else if (row != NULL)
        on_deleted(stream, ref, row->state == TAKT_STREAM_HELD_OURS);
}

static bool ask_entry(takt_stream *stream, takt_job_ref ref)
{
    takt_stream_command_begin(stream, "XRANGE", stream->names.key, NULL);
    takt_stream_command_entry(stream, ref);
    takt_stream_command_entry(stream, ref);
    return takt_stream_command_send(stream, stream->connection.writer, on_entry, ref);
}

/* [[ID, CONSUMER, IDLE, COUNT]] */
static void on_count(takt_stream_call *call, const takt_reply *reply, int code)
{
    takt_stream_held_row *row = takt_stream_held_find(&call->stream->held, call->ref);

    (void)code;
    if (reply == NULL || row == NULL || reply->count != 1 || reply[1].count != 4)
        return;
    row->count = reply[5].integer < UINT16_MAX ? (uint16_t)reply[5].integer : UINT16_MAX;
}

void takt_stream_read_taken(takt_stream *stream, takt_job_ref ref)
{
    takt_stream_held_row *row = takt_stream_held_add(&stream->held, ref, TAKT_STREAM_HELD_TAKING);

    if (row == NULL)
        return;
    row->seen = stream->survey.number;
    takt_stream_command_begin(stream, "XPENDING", stream->names.key, stream->names.group, NULL);
    takt_stream_command_entry(stream, ref);
    takt_stream_command_entry(stream, ref);
    takt_stream_command_add(stream, "1", 1);
    if (!takt_stream_command_send(stream, stream->connection.writer, on_count, ref) ||
        !ask_entry(stream, ref))
        takt_stream_held_remove(&stream->held, ref);
}

void takt_stream_read_again(takt_stream *stream, takt_stream_held_row *row)
{
    row->fetching = true;
    if (stream->phase == TAKT_STREAM_WORKS)
        (void)ask_entry(stream, takt_stream_held_ref(row)); /* on failure, again after the survey */
}
