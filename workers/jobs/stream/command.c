/*
 * command.c: what is said to the server: words are put together, sent, and their answer is
 * handed to whoever said them.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

void stream_words_add(stream *stream, const char *word, size_t size)
{
    stream_words *words = &stream->words;

    words->arguments[words->count] = word;
    words->sizes[words->count++] = size;
}

void stream_words_begin(stream *stream, ...)
{
    const char *word;
    va_list list;

    stream->words.count = stream->words.entry_count = 0;
    va_start(list, stream);
    while ((word = va_arg(list, const char *)) != NULL)
        stream_words_add(stream, word, strlen(word));
    va_end(list);
}

void stream_words_entry(stream *stream, source_ref ref)
{
    char *text = stream->words.entries[stream->words.entry_count++];

    stream_words_add(stream, text, stream_write_entry(text, ref));
}

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    saying *answered = command->data;
    stream *stream = answered->stream;

    answered->then(answered, reply, code);
    if (answered->to == stream->writer)
        stream->too_large = false; /* whatever it was, it was this one */
    free(answered);
    stream_step_close(stream);
}

bool stream_say(stream *stream, takt_redis *to,
                void (*then)(saying *saying, const takt_reply *reply, int code), source_ref ref)
{
    const stream_words *words = &stream->words;
    saying *made = malloc(sizeof *made);

    if (made == NULL)
        return false;
    *made = (saying){
        .command.answered = on_answered, .stream = stream, .to = to, .ref = ref, .then = then};
    made->command.data = made;
    if (takt_redis_send(to, &made->command, words->count, words->arguments, words->sizes) == 0)
        return true;
    free(made);
    return false;
}

bool stream_queue_add(stream_queue *queue, source_ref ref)
{
    if (queue->count == queue->room) {
        size_t room = queue->room > 0 ? queue->room * 2 : 64;
        source_ref *refs = realloc(queue->refs, room * sizeof *refs);
        if (refs == NULL)
            return false;
        queue->refs = refs;
        queue->room = room;
    }
    queue->refs[queue->count++] = ref;
    return true;
}
