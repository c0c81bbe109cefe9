/*
 * end.c: how entries begin and end: a begin is counted, a done entry is deleted, a dead entry
 * becomes a dead letter, an entry that is given back is free for all. Each change is one
 * transaction. A change that the server has not confirmed stays in the table and is sent again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

#define BACK_IDLE_MS "31536000000" /* idle for a year: any consumer may take it at once */

struct takt_stream_letter {
    takt_stream_letter *next;
    takt_job_ref ref;
    bool said;
    size_t size;
    char *text, *id; /* NULL: unknown */
    char why[];
};

static const takt_job_ref none = {0, 0};

/* ---- how transactions end -------------------------------------------------------------------- */

/* The last command of a transaction about some entries. */
typedef struct ending {
    takt_redis_command command;
    takt_stream *stream;
    takt_stream_held_state state; /* the state in which the entries were sent; OURS: they begin */
    size_t count;
    takt_job_ref refs[];
} ending;

static void forget(const ending *ending)
{
    takt_stream_held *held = &ending->stream->held;

    for (size_t i = 0; i < ending->count; i++) {
        takt_stream_held_row *row = takt_stream_held_find(held, ending->refs[i]);
        if (row != NULL && row->state == ending->state)
            takt_stream_held_remove(held, ending->refs[i]);
    }
}

/* The server has recorded the begin of these entries. */
static void confirm(const ending *ending)
{
    takt_stream *stream = ending->stream;

    for (size_t i = 0; i < ending->count; i++) {
        takt_stream_held_row *row = takt_stream_held_find(&stream->held, ending->refs[i]);
        if (row != NULL)
            row->noting = false;
    }
    if (!stream->closing)
        stream->events->noted(stream->data);
}

/* The answer is QUEUED, or an error that EXEC repeats. */
static void on_queued(takt_stream_call *call, const takt_reply *reply, int code)
{
    (void)call;
    (void)reply;
    (void)code;
}

/* The first error in the answer of EXEC; NULL: success. */
static const takt_reply *error_in(const takt_reply *reply)
{
    if (reply->type != TAKT_REPLY_ARRAY)
        return reply;
    for (int i = 1; i <= reply->count; i++)
        if (reply[i].type == TAKT_REPLY_ERROR)
            return &reply[i];
    return NULL;
}

/* Takes the front of a queue, at most as many as one command names. */
static size_t take_batch(takt_stream_queue *queue, takt_job_ref refs[TAKT_STREAM_COMMAND_MAX])
{
    size_t count = queue->count < TAKT_STREAM_COMMAND_MAX ? queue->count : TAKT_STREAM_COMMAND_MAX;

    memcpy(refs, queue->refs, count * sizeof *refs);
    queue->count -= count;
    memmove(queue->refs, queue->refs + count, queue->count * sizeof *refs);
    return count;
}

/* ---- done ------------------------------------------------------------------------------------ */

static void on_ended(takt_redis_command *command, const takt_reply *reply, int code)
{
    ending *ending = command->data;
    takt_stream *stream = ending->stream;
    const takt_reply *error = reply != NULL ? error_in(reply) : NULL;

    (void)code;
    stream->ends.under_way--;
    if (reply != NULL && error == NULL && ending->state == TAKT_STREAM_HELD_OURS)
        confirm(ending);
    else if (reply != NULL && error == NULL)
        forget(ending);
    free(ending);
    if (error != NULL)
        takt_stream_connection_refused(stream, stream->connection.writer, error);
    stream->answered(stream);
}

/* Sends the prepared command as the last one about a batch. */
static bool say_last(takt_stream *stream, takt_stream_held_state state, const takt_job_ref *refs,
                     size_t count)
{
    ending *made = calloc(1, sizeof *made + count * sizeof *refs);

    if (made == NULL)
        return false;
    made->command.answered = on_ended;
    made->command.data = made;
    made->stream = stream;
    made->state = state;
    made->count = count;
    memcpy(made->refs, refs, count * sizeof *refs);
    if (takt_redis_send(stream->connection.writer, &made->command, stream->command.count,
                        stream->command.arguments, stream->command.sizes) < 0) {
        free(made);
        return false;
    }
    stream->ends.under_way++;
    return true;
}

static bool say_word(takt_stream *stream, const char *word)
{
    takt_stream_command_begin(stream, word, NULL);
    return takt_stream_command_send(stream, stream->connection.writer, on_queued, none);
}

/* XACK KEY GROUP ID ..., XDEL KEY ID ... */
static bool say_removal(takt_stream *stream, const takt_job_ref *refs, size_t count)
{
    takt_stream_command_begin(stream, "XACK", stream->names.key, stream->names.group, NULL);
    for (size_t i = 0; i < count; i++)
        takt_stream_command_entry(stream, refs[i]);
    if (!takt_stream_command_send(stream, stream->connection.writer, on_queued, none))
        return false;
    takt_stream_command_begin(stream, "XDEL", stream->names.key, NULL);
    for (size_t i = 0; i < count; i++)
        takt_stream_command_entry(stream, refs[i]);
    return takt_stream_command_send(stream, stream->connection.writer, on_queued, none);
}

/* Entries that cannot be sent stay in the table, and are sent after the next survey. */
static void say_done(takt_stream *stream)
{
    takt_job_ref refs[TAKT_STREAM_COMMAND_MAX];

    while (stream->ends.done.count > 0) {
        size_t count = take_batch(&stream->ends.done, refs);
        if (!say_word(stream, "MULTI") || !say_removal(stream, refs, count))
            return;
        takt_stream_command_begin(stream, "EXEC", NULL);
        if (!say_last(stream, TAKT_STREAM_HELD_DONE, refs, count))
            return;
    }
}

/* ---- dead ------------------------------------------------------------------------------------ */

static void free_letter(takt_stream_letter *letter)
{
    free(letter->text);
    free(letter->id);
    free(letter);
}

void takt_stream_end_free(takt_stream_ends *ends)
{
    while (ends->letters != NULL) {
        takt_stream_letter *first = ends->letters;
        ends->letters = first->next;
        free_letter(first);
    }
    free(ends->begun.refs);
    free(ends->done.refs);
    free(ends->back.refs);
}

/* Drops the letters whose entries the server has confirmed. */
static void drop_confirmed(takt_stream *stream)
{
    takt_stream_letter **at = &stream->ends.letters;

    while (*at != NULL) {
        takt_stream_letter *letter = *at;
        takt_stream_held_row *row = takt_stream_held_find(&stream->held, letter->ref);
        if (row != NULL && row->state == TAKT_STREAM_HELD_DEAD) {
            at = &letter->next;
            continue;
        }
        *at = letter->next;
        free_letter(letter);
    }
}

void takt_stream_end_note_letter(takt_stream *stream, takt_job_ref ref, const char *text,
                                 size_t size, const char *id, const char *why)
{
    size_t why_size = strlen(why) + 1;
    takt_stream_letter *made = calloc(1, sizeof *made + why_size), **at = &stream->ends.letters;

    if (made == NULL || (text != NULL && (made->text = malloc(size + 1)) == NULL) ||
        (id != NULL && (made->id = strdup(id)) == NULL)) {
        if (made != NULL)
            free_letter(made);
        return; /* without memory the job comes again */
    }
    made->ref = ref;
    made->size = size;
    if (text != NULL)
        memcpy(made->text, text, size);
    memcpy(made->why, why, why_size);
    while (*at != NULL)
        at = &(*at)->next;
    *at = made;
    takt_stream_end_mark(stream, ref, TAKT_STREAM_HELD_DEAD);
}

/* XADD DEAD * job ... id ... entry ... why ... */
static bool say_letter(takt_stream *stream, takt_stream_letter *letter)
{
    takt_stream_command_begin(stream, "XADD", stream->names.dead_key, "*", NULL);
    if (letter->text != NULL) {
        takt_stream_command_add(stream, TAKT_STREAM_FIELD_JOB, strlen(TAKT_STREAM_FIELD_JOB));
        takt_stream_command_add(stream, letter->text, letter->size);
    }
    if (letter->id != NULL) {
        takt_stream_command_add(stream, TAKT_STREAM_FIELD_ID, strlen(TAKT_STREAM_FIELD_ID));
        takt_stream_command_add(stream, letter->id, strlen(letter->id));
    }
    takt_stream_command_add(stream, TAKT_STREAM_FIELD_ENTRY, strlen(TAKT_STREAM_FIELD_ENTRY));
    takt_stream_command_entry(stream, letter->ref);
    takt_stream_command_add(stream, TAKT_STREAM_FIELD_WHY, strlen(TAKT_STREAM_FIELD_WHY));
    takt_stream_command_add(stream, letter->why, strlen(letter->why));
    return takt_stream_command_send(stream, stream->connection.writer, on_queued, none);
}

static void say_dead(takt_stream *stream)
{
    drop_confirmed(stream);
    for (takt_stream_letter *letter = stream->ends.letters; letter != NULL; letter = letter->next) {
        if (letter->said)
            continue;
        if (!say_word(stream, "MULTI") || !say_letter(stream, letter) ||
            !say_removal(stream, &letter->ref, 1))
            return;
        takt_stream_command_begin(stream, "EXEC", NULL);
        if (!say_last(stream, TAKT_STREAM_HELD_DEAD, &letter->ref, 1))
            return;
        letter->said = true;
    }
}

/* ---- begun and given back -------------------------------------------------------------------- */

void takt_stream_end_note_begun(takt_stream *stream, takt_job_ref ref, unsigned attempts)
{
    takt_stream_held_row *row = takt_stream_held_find(&stream->held, ref);
    unsigned count = attempts < UINT16_MAX ? attempts + 1 : UINT16_MAX;

    if (row == NULL || row->count == count)
        return;
    if (!takt_stream_queue_add(&stream->ends.begun, ref))
        return; /* tried again later */
    row->count = (uint16_t)count;
    row->noting = true;
}

/* Takes entries with the same number from the front of a queue, at most as many as one command
 * names, and drops those that no longer belong to this worker. */
static size_t take_alike(takt_stream *stream, size_t *at,
                         takt_job_ref refs[TAKT_STREAM_COMMAND_MAX], unsigned *number)
{
    size_t count = 0;

    for (; *at < stream->ends.begun.count && count < TAKT_STREAM_COMMAND_MAX; ++*at) {
        const takt_stream_held_row *row =
            takt_stream_held_find(&stream->held, stream->ends.begun.refs[*at]);
        if (row == NULL)
            continue;
        if (count > 0 && row->count != *number)
            break;
        *number = row->count;
        refs[count++] = stream->ends.begun.refs[*at];
    }
    return count;
}

/* XCLAIM KEY GROUP CONSUMER 0 ID ... RETRYCOUNT N JUSTID */
static void say_begun(takt_stream *stream)
{
    takt_job_ref refs[TAKT_STREAM_COMMAND_MAX];
    unsigned number = 0;
    char word[12];
    size_t at = 0, count;

    while ((count = take_alike(stream, &at, refs, &number)) > 0) {
        takt_stream_command_begin(stream, "XCLAIM", stream->names.key, stream->names.group,
                                  stream->names.consumer, "0", NULL);
        for (size_t i = 0; i < count; i++)
            takt_stream_command_entry(stream, refs[i]);
        snprintf(word, sizeof word, "%u", number);
        takt_stream_command_add(stream, "RETRYCOUNT", 10);
        takt_stream_command_add(stream, word, strlen(word));
        takt_stream_command_add(stream, "JUSTID", 6);
        if (!say_last(stream, TAKT_STREAM_HELD_OURS, refs, count))
            break;
    }
    stream->ends.begun.count = 0;
}

/* XCLAIM KEY GROUP NOBODY 0 ID ... IDLE LONG JUSTID */
static void say_back(takt_stream *stream)
{
    takt_job_ref refs[TAKT_STREAM_COMMAND_MAX];

    while (stream->ends.back.count > 0) {
        size_t count = take_batch(&stream->ends.back, refs);
        takt_stream_command_begin(stream, "XCLAIM", stream->names.key, stream->names.group,
                                  TAKT_STREAM_NOBODY, "0", NULL);
        for (size_t i = 0; i < count; i++)
            takt_stream_command_entry(stream, refs[i]);
        takt_stream_command_add(stream, "IDLE", 4);
        takt_stream_command_add(stream, BACK_IDLE_MS, strlen(BACK_IDLE_MS));
        takt_stream_command_add(stream, "JUSTID", 6);
        if (!say_last(stream, TAKT_STREAM_HELD_BACK, refs, count))
            return;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

void takt_stream_end_mark(takt_stream *stream, takt_job_ref ref, takt_stream_held_state state)
{
    takt_stream_held_row *row = takt_stream_held_find(&stream->held, ref);

    if (row == NULL)
        return; /* another worker has it by now */
    row->state = (uint8_t)state;
    row->fetching = false;
    if (state == TAKT_STREAM_HELD_DONE)
        (void)takt_stream_queue_add(&stream->ends.done, ref);
    else if (state == TAKT_STREAM_HELD_BACK)
        (void)takt_stream_queue_add(&stream->ends.back, ref);
}

void takt_stream_end_say(takt_stream *stream)
{
    if (stream->phase != TAKT_STREAM_WORKS)
        return;
    say_begun(stream);
    say_done(stream);
    say_dead(stream);
    say_back(stream);
}

void takt_stream_end_say_all(takt_stream *stream)
{
    stream->ends.begun.count = stream->ends.done.count = stream->ends.back.count = 0;
    for (size_t i = 0; i < stream->held.room; i++) {
        takt_stream_held_row *row = &stream->held.rows[i];
        if (row->state == TAKT_STREAM_HELD_OURS && row->noting)
            row->noting = takt_stream_queue_add(&stream->ends.begun, takt_stream_held_ref(row));
        else if (row->state == TAKT_STREAM_HELD_DONE)
            (void)takt_stream_queue_add(&stream->ends.done, takt_stream_held_ref(row));
        else if (row->state == TAKT_STREAM_HELD_BACK)
            (void)takt_stream_queue_add(&stream->ends.back, takt_stream_held_ref(row));
    }
    for (takt_stream_letter *letter = stream->ends.letters; letter != NULL; letter = letter->next)
        letter->said = false;
    takt_stream_end_say(stream);
}
