/*
 * command.c: builds and sends commands to the server, and passes each answer to the function given
 * with the command.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

void takt_stream_command_add(takt_stream *stream, const char *argument, size_t size)
{
    takt_stream_command *command = &stream->command;

    command->arguments[command->count] = argument;
    command->sizes[command->count++] = size;
}

void takt_stream_command_begin(takt_stream *stream, ...)
{
    const char *argument;
    va_list list;

    stream->command.count = stream->command.entry_count = 0;
    va_start(list, stream);
    while ((argument = va_arg(list, const char *)) != NULL)
        takt_stream_command_add(stream, argument, strlen(argument));
    va_end(list);
}

void takt_stream_command_entry(takt_stream *stream, takt_job_ref ref)
{
    char *text = stream->command.entries[stream->command.entry_count++];

    takt_stream_command_add(stream, text, takt_stream_names_write_entry(text, ref));
}

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    takt_stream_call *answered = command->data;
    takt_stream *stream = answered->stream;

    answered->then(answered, reply, code);
    if (answered->to == stream->connection.writer)
        stream->connection.too_large = false; /* the answer of this command was the large one */
    free(answered);
    stream->answered(stream);
}

bool takt_stream_command_send(takt_stream *stream, takt_redis *to, takt_stream_then *then,
                              takt_job_ref ref)
{
    const takt_stream_command *command = &stream->command;
    takt_stream_call *made = malloc(sizeof *made);

    if (made == NULL)
        return false;
    *made = (takt_stream_call){
        .command.answered = on_answered, .stream = stream, .to = to, .ref = ref, .then = then};
    made->command.data = made;
    if (takt_redis_send(to, &made->command, command->count, command->arguments, command->sizes) ==
        0)
        return true;
    free(made);
    return false;
}
