/*
 * end.c: how entries begin and end: what was begun is counted, what is done is deleted, what
 * is dead becomes a dead letter, what is given back is anybody's.  Each in one transaction, so that
 * nothing is half done; what was not confirmed stays in the table and is said again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

#define BACK_IDLE_MS "31536000000" /* nobody was heard of for a year: anybody's at once */

struct letter {
    letter *next;
    source_ref ref;
    bool said;
    size_t size;
    char *text, *id; /* NULL: unknown */
    char why[];
};

static const source_ref none = {0, 0};

/* ---- how transactions end -------------------------------------------------------------------- */

/* The last command about some entries. */
typedef struct ending {
    takt_redis_command command;
    stream *stream;
    held_state state; /* that they were in when it was said; OURS: they are begun */
    size_t count;
    source_ref refs[];
} ending;

static void forget(const ending *ending)
{
    held *held = &ending->stream->held;

    for (size_t i = 0; i < ending->count; i++) {
        held_row *row = held_find(held, ending->refs[i]);
        if (row != NULL && row->state == ending->state)
            held_remove(held, ending->refs[i]);
    }
}

/* Their begin is noted. */
static void confirm(const ending *ending)
{
    stream *stream = ending->stream;

    for (size_t i = 0; i < ending->count; i++) {
        held_row *row = held_find(&stream->held, ending->refs[i]);
        if (row != NULL)
            row->noting = false;
    }
    if (!stream->closing)
        stream->events->noted(stream->data);
}

/* QUEUED, or an error that EXEC tells again. */
static void on_queued(saying *saying, const takt_reply *reply, int code)
{
    (void)saying;
    (void)reply;
    (void)code;
}

/* The first error in the answer of EXEC; NULL: it was done. */
static const takt_reply *error_in(const takt_reply *reply)
{
    if (reply->type != TAKT_REPLY_ARRAY)
        return reply;
    for (int i = 1; i <= reply->count; i++)
        if (reply[i].type == TAKT_REPLY_ERROR)
            return &reply[i];
    return NULL;
}

/* The first of a queue, as many as one command takes. */
static size_t take_batch(stream_queue *queue, source_ref refs[STREAM_WORDS_MAX])
{
    size_t count = queue->count < STREAM_WORDS_MAX ? queue->count : STREAM_WORDS_MAX;

    memcpy(refs, queue->refs, count * sizeof *refs);
    queue->count -= count;
    memmove(queue->refs, queue->refs + count, queue->count * sizeof *refs);
    return count;
}

/* ---- done ------------------------------------------------------------------------------------ */

static void on_ended(takt_redis_command *command, const takt_reply *reply, int code)
{
    ending *ending = command->data;
    stream *stream = ending->stream;
    const takt_reply *error = reply != NULL ? error_in(reply) : NULL;

    (void)code;
    stream->ending--;
    if (reply != NULL && error == NULL && ending->state == HELD_OURS)
        confirm(ending);
    else if (reply != NULL && error == NULL)
        forget(ending);
    free(ending);
    if (error != NULL)
        stream_refused(stream, stream->writer, error);
    stream_step_close(stream);
}

/* Says the words at hand as the last command about a batch. */
static bool say_last(stream *stream, held_state state, const source_ref *refs, size_t count)
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
    if (takt_redis_send(stream->writer, &made->command, stream->words.count,
                        stream->words.arguments, stream->words.sizes) < 0) {
        free(made);
        return false;
    }
    stream->ending++;
    return true;
}

static bool say_word(stream *stream, const char *word)
{
    stream_words_begin(stream, word, NULL);
    return stream_say(stream, stream->writer, on_queued, none);
}

/* XACK KEY GROUP ID ..., XDEL KEY ID ... */
static bool say_removal(stream *stream, const source_ref *refs, size_t count)
{
    stream_words_begin(stream, "XACK", stream->key, stream->group, NULL);
    for (size_t i = 0; i < count; i++)
        stream_words_entry(stream, refs[i]);
    if (!stream_say(stream, stream->writer, on_queued, none))
        return false;
    stream_words_begin(stream, "XDEL", stream->key, NULL);
    for (size_t i = 0; i < count; i++)
        stream_words_entry(stream, refs[i]);
    return stream_say(stream, stream->writer, on_queued, none);
}

/* What cannot be said stays in the table, and is said after the next survey. */
static void say_done(stream *stream)
{
    source_ref refs[STREAM_WORDS_MAX];

    while (stream->done.count > 0) {
        size_t count = take_batch(&stream->done, refs);
        if (!say_word(stream, "MULTI") || !say_removal(stream, refs, count))
            return;
        stream_words_begin(stream, "EXEC", NULL);
        if (!say_last(stream, HELD_DONE, refs, count))
            return;
    }
}

/* ---- dead ------------------------------------------------------------------------------------ */

static void free_letter(letter *letter)
{
    free(letter->text);
    free(letter->id);
    free(letter);
}

void stream_drop_letters(stream *stream)
{
    while (stream->letters != NULL) {
        letter *first = stream->letters;
        stream->letters = first->next;
        free_letter(first);
    }
}

/* Those whose entries are not there any more were confirmed. */
static void drop_confirmed(stream *stream)
{
    letter **at = &stream->letters;

    while (*at != NULL) {
        letter *letter = *at;
        held_row *row = held_find(&stream->held, letter->ref);
        if (row != NULL && row->state == HELD_DEAD) {
            at = &letter->next;
            continue;
        }
        *at = letter->next;
        free_letter(letter);
    }
}

void stream_note_letter(stream *stream, source_ref ref, const char *text, size_t size,
                        const char *id, const char *why)
{
    size_t why_size = strlen(why) + 1;
    letter *made = calloc(1, sizeof *made + why_size), **at = &stream->letters;

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
    stream_mark(stream, ref, HELD_DEAD);
}

/* XADD DEAD * job ... id ... entry ... why ... */
static bool say_letter(stream *stream, letter *letter)
{
    stream_words_begin(stream, "XADD", stream->dead_key, "*", NULL);
    if (letter->text != NULL) {
        stream_words_add(stream, STREAM_FIELD_JOB, strlen(STREAM_FIELD_JOB));
        stream_words_add(stream, letter->text, letter->size);
    }
    if (letter->id != NULL) {
        stream_words_add(stream, STREAM_FIELD_ID, strlen(STREAM_FIELD_ID));
        stream_words_add(stream, letter->id, strlen(letter->id));
    }
    stream_words_add(stream, STREAM_FIELD_ENTRY, strlen(STREAM_FIELD_ENTRY));
    stream_words_entry(stream, letter->ref);
    stream_words_add(stream, STREAM_FIELD_WHY, strlen(STREAM_FIELD_WHY));
    stream_words_add(stream, letter->why, strlen(letter->why));
    return stream_say(stream, stream->writer, on_queued, none);
}

static void say_dead(stream *stream)
{
    drop_confirmed(stream);
    for (letter *letter = stream->letters; letter != NULL; letter = letter->next) {
        if (letter->said)
            continue;
        if (!say_word(stream, "MULTI") || !say_letter(stream, letter) ||
            !say_removal(stream, &letter->ref, 1))
            return;
        stream_words_begin(stream, "EXEC", NULL);
        if (!say_last(stream, HELD_DEAD, &letter->ref, 1))
            return;
        letter->said = true;
    }
}

/* ---- begun and given back -------------------------------------------------------------------- */

void stream_note_begun(stream *stream, source_ref ref, unsigned attempts)
{
    held_row *row = held_find(&stream->held, ref);
    unsigned count = attempts < UINT16_MAX ? attempts + 1 : UINT16_MAX;

    if (row == NULL || row->count == count)
        return;
    if (!stream_queue_add(&stream->begun, ref))
        return; /* another time */
    row->count = (uint16_t)count;
    row->noting = true;
}

/* Those at the head of a queue that have the same number, as many as one command takes; the others
 * of the head are not ours any more. */
static size_t take_alike(stream *stream, size_t *at, source_ref refs[STREAM_WORDS_MAX],
                         unsigned *number)
{
    size_t count = 0;

    for (; *at < stream->begun.count && count < STREAM_WORDS_MAX; ++*at) {
        const held_row *row = held_find(&stream->held, stream->begun.refs[*at]);
        if (row == NULL)
            continue;
        if (count > 0 && row->count != *number)
            break;
        *number = row->count;
        refs[count++] = stream->begun.refs[*at];
    }
    return count;
}

/* XCLAIM KEY GROUP CONSUMER 0 ID ... RETRYCOUNT N JUSTID */
static void say_begun(stream *stream)
{
    source_ref refs[STREAM_WORDS_MAX];
    unsigned number = 0;
    char word[12];
    size_t at = 0, count;

    while ((count = take_alike(stream, &at, refs, &number)) > 0) {
        stream_words_begin(stream, "XCLAIM", stream->key, stream->group, stream->consumer, "0",
                           NULL);
        for (size_t i = 0; i < count; i++)
            stream_words_entry(stream, refs[i]);
        snprintf(word, sizeof word, "%u", number);
        stream_words_add(stream, "RETRYCOUNT", 10);
        stream_words_add(stream, word, strlen(word));
        stream_words_add(stream, "JUSTID", 6);
        if (!say_last(stream, HELD_OURS, refs, count))
            break;
    }
    stream->begun.count = 0;
}

/* XCLAIM KEY GROUP NOBODY 0 ID ... IDLE LONG JUSTID */
static void say_back(stream *stream)
{
    source_ref refs[STREAM_WORDS_MAX];

    while (stream->back.count > 0) {
        size_t count = take_batch(&stream->back, refs);
        stream_words_begin(stream, "XCLAIM", stream->key, stream->group, STREAM_NOBODY, "0", NULL);
        for (size_t i = 0; i < count; i++)
            stream_words_entry(stream, refs[i]);
        stream_words_add(stream, "IDLE", 4);
        stream_words_add(stream, BACK_IDLE_MS, strlen(BACK_IDLE_MS));
        stream_words_add(stream, "JUSTID", 6);
        if (!say_last(stream, HELD_BACK, refs, count))
            return;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

void stream_mark(stream *stream, source_ref ref, held_state state)
{
    held_row *row = held_find(&stream->held, ref);

    if (row == NULL)
        return; /* somebody else's by now */
    row->state = (uint8_t)state;
    row->fetching = false;
    if (state == HELD_DONE)
        (void)stream_queue_add(&stream->done, ref);
    else if (state == HELD_BACK)
        (void)stream_queue_add(&stream->back, ref);
}

void stream_say_ends(stream *stream)
{
    if (stream->phase != STREAM_WORKS)
        return;
    say_begun(stream);
    say_done(stream);
    say_dead(stream);
    say_back(stream);
}

void stream_say_all_ends(stream *stream)
{
    stream->begun.count = stream->done.count = stream->back.count = 0;
    for (size_t i = 0; i < stream->held.room; i++) {
        const held_row *row = &stream->held.rows[i];
        if (row->state == HELD_DONE)
            (void)stream_queue_add(&stream->done, held_ref(row));
        else if (row->state == HELD_BACK)
            (void)stream_queue_add(&stream->back, held_ref(row));
    }
    for (letter *letter = stream->letters; letter != NULL; letter = letter->next)
        letter->said = false;
    stream_say_ends(stream);
}
