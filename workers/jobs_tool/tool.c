/*
 * tool.c: see tool.h.
 */
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define TIMEOUT_US INT64_C(10000000)

typedef struct question {
    takt_redis_command command;
    takt_tool *tool;
    takt_tool_reader *reader;
    void *data;
    bool answered;
    int result;
} question;

static void on_ready(void *data)
{
    (void)data;
}

/* A command tries to connect once; a worker would try again. */
static void on_lost(void *data, int code, const char *text)
{
    takt_tool *tool = data;

    if (!tool->lost)
        takt_message("%s", code == TAKT_E_STORE_SPACE
                               ? "an entry of the stream is too large to read (more than 64 MiB)"
                               : text);
    tool->lost = true;
}

int takt_tool_open(takt_tool *tool)
{
    takt_redis_options options = {.timeout_us = TIMEOUT_US,
                                  .key = tool->key,
                                  .on_ready = on_ready,
                                  .on_lost = on_lost,
                                  .data = tool};
    takt_error error = {0};
    int code;

    takt_stream_names_key(tool->key, tool->stream);
    takt_stream_names_dead_key(tool->dead_key, tool->stream);
    if (uv_loop_init(&tool->loop) != 0) {
        takt_message("%s", takt_strerror(TAKT_E_SYSTEM));
        return EX_OSERR;
    }
    code = takt_redis_open(&tool->redis, &tool->loop, tool->url, &options, &error);
    if (code != 0) {
        takt_message("%s", error.text);
        return code == TAKT_E_STORE_URL ? EX_USAGE : EX_UNAVAILABLE;
    }
    while (!takt_redis_is_ready(tool->redis))
        if (!takt_tool_turn(tool))
            return EX_UNAVAILABLE;
    return 0;
}

void takt_tool_close(takt_tool *tool)
{
    takt_redis_close(tool->redis);
    uv_run(&tool->loop, UV_RUN_DEFAULT);
    uv_loop_close(&tool->loop);
}

bool takt_tool_turn(takt_tool *tool)
{
    uv_run(&tool->loop, UV_RUN_ONCE);
    return !tool->lost;
}

void takt_tool_refused(takt_tool *tool, const takt_reply *reply)
{
    takt_error error = {0};

    takt_redis_refused(tool->redis, reply, &error);
    if (!tool->lost)
        takt_message("%s", error.text);
    tool->lost = true;
}

static bool begins_with(const takt_reply *reply, const char *words)
{
    return strncmp(reply->text, words, strlen(words)) == 0;
}

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    question *question = command->data;

    (void)code;
    question->answered = true;
    question->result = -1;
    if (reply == NULL)
        return;
    if (reply->type != TAKT_REPLY_ERROR) {
        question->result = 0;
        question->reader(question->data, reply);
    } else if (begins_with(reply, "NOGROUP") || begins_with(reply, "ERR no such key")) {
        question->result = 1;
    } else {
        takt_tool_refused(question->tool, reply);
    }
}

int takt_tool_ask_with(takt_tool *tool, takt_tool_reader *reader, void *data, int count,
                       const char *const *words, const size_t *sizes)
{
    question question = {
        .command.answered = on_answered, .tool = tool, .reader = reader, .data = data};

    question.command.data = &question;
    if (takt_redis_send(tool->redis, &question.command, count, words, sizes) != 0) {
        if (!tool->lost)
            takt_message("%s", takt_strerror(TAKT_E_NOMEM));
        return -1;
    }
    while (!question.answered)
        (void)takt_tool_turn(tool);
    return question.result;
}

int takt_tool_ask(takt_tool *tool, takt_tool_reader *reader, void *data, ...)
{
    const char *words[TOOL_WORDS_MAX];
    int count = 0;
    va_list list;

    va_start(list, data);
    while (count < TOOL_WORDS_MAX && (words[count] = va_arg(list, const char *)) != NULL)
        count++;
    va_end(list);
    return takt_tool_ask_with(tool, reader, data, count, words, NULL);
}

bool takt_tool_read_letter(const takt_reply *entry, takt_tool_letter *letter)
{
    takt_job_ref ref;

    if (entry->type != TAKT_REPLY_ARRAY || entry->count != 2 ||
        !takt_stream_names_read_entry(entry + 1, &ref))
        return false;
    *letter =
        (takt_tool_letter){.job = takt_stream_names_field(entry + 2, TAKT_STREAM_FIELD_JOB),
                           .id = takt_stream_names_field(entry + 2, TAKT_STREAM_FIELD_ID),
                           .entry = takt_stream_names_field(entry + 2, TAKT_STREAM_FIELD_ENTRY),
                           .why = takt_stream_names_field(entry + 2, TAKT_STREAM_FIELD_WHY)};
    (void)takt_stream_names_write_entry(letter->letter, ref);
    return true;
}
