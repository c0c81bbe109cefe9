/*
 * add.c: `takt-jobs add`: lines of JSON become entries.
 *
 * Each line is checked before it is sent. A line that can never be a job is refused with its
 * number, and the others are added. Several commands are under way at a time; their number is
 * bounded, and so is the memory.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "jobs/frame/job_parse.h"
#include "jobs/sources/source.h"
#include "kit/lines.h"
#include "kit/text.h"
#include "tool.h"

#define UNDER_WAY_MAX   1024
#define UNDER_WAY_BYTES ((size_t)8 * 1024 * 1024)
#define ANY_LIMIT       "-" /* a worker may have one for jobs that name none */

typedef struct adding {
    takt_tool *tool;
    takt_lines lines;
    unsigned under_way;
    size_t bytes;
    uint64_t added, refused, last; /* last: the line that was confirmed last */
    bool ended, closed;
} adding;

/* An XADD under way. */
typedef struct entry {
    takt_redis_command command;
    adding *adding;
    uint64_t line;
    size_t size;
} entry;

static const char *input_name(const takt_tool *tool)
{
    return tool->input != NULL ? tool->input : "standard input";
}

static void on_added(takt_redis_command *command, const takt_reply *reply, int code)
{
    entry *entry = command->data;
    adding *adding = entry->adding;

    (void)code;
    adding->under_way--;
    adding->bytes -= entry->size;
    if (reply != NULL && reply->type == TAKT_REPLY_ERROR)
        takt_tool_refused(adding->tool, reply);
    else if (reply != NULL && !adding->tool->lost) {
        adding->added++;
        adding->last = entry->line;
    }
    free(entry);
}

static void give_up(takt_tool *tool)
{
    if (!tool->lost)
        takt_message("%s", takt_strerror(TAKT_E_NOMEM));
    tool->lost = true;
}

static void send_entry(adding *adding, const takt_text_line *line)
{
    takt_tool *tool = adding->tool;
    const char *words[] = {"XADD", tool->key, "*", TAKT_STREAM_FIELD_JOB, line->text};
    size_t sizes[] = {4, strlen(tool->key), 1, strlen(TAKT_STREAM_FIELD_JOB), line->size};
    entry *made = calloc(1, sizeof *made);

    if (made != NULL) {
        made->command.answered = on_added;
        made->command.data = made;
        made->adding = adding;
        made->line = line->number;
        made->size = line->size;
        if (takt_redis_send(tool->redis, &made->command, 5, words, sizes) == 0) {
            adding->under_way++;
            adding->bytes += line->size;
            return;
        }
        free(made);
    }
    give_up(tool);
}

static void add_line(adding *adding, const takt_text_line *line)
{
    takt_error error = {.text = "it is longer than 1 MiB"};
    json_t *fields = NULL;
    takt_job_head head;
    int code = TAKT_E_INVALID;

    if (line->number < adding->tool->from_line)
        return;
    if (line->text != NULL)
        code = takt_job_parse(line->text, line->size, ANY_LIMIT, &fields, &head, &error);
    if (code == TAKT_E_NOMEM) {
        give_up(adding->tool);
        return;
    }
    if (code != 0) {
        adding->refused++;
        takt_message("%s:%" PRIu64 ": %s", input_name(adding->tool), line->number, error.text);
        return;
    }
    json_decref(fields);
    send_entry(adding, line);
}

static void pump(adding *adding)
{
    takt_text_line line;

    while (!adding->ended && !adding->tool->lost && adding->under_way < UNDER_WAY_MAX &&
           adding->bytes < UNDER_WAY_BYTES) {
        takt_lines_state state = takt_lines_next(&adding->lines, &line);
        if (state == TAKT_LINES_LATER)
            return;
        if (state == TAKT_LINES_END)
            adding->ended = true;
        else
            add_line(adding, &line);
    }
}

static void on_lines(void *data)
{
    (void)data; /* answers are handled after each turn of the loop */
}

static void on_lines_closed(void *data)
{
    ((adding *)data)->closed = true;
}

/* After a lost connection it is unknown whether the last jobs were added. */
static int tell(const adding *adding)
{
    const takt_tool *tool = adding->tool;

    if (tool->lost) {
        takt_message(
            "%" PRIu64 " job%s added, up to line %" PRIu64
            "; later lines may have been added or not: check with takt-jobs show, and continue "
            "with --from-line %" PRIu64,
            adding->added, takt_plural(adding->added), adding->last, adding->last + 1);
        return EX_UNAVAILABLE;
    }
    if (adding->lines.error != 0) {
        takt_message("%s: %s", input_name(tool), uv_strerror(adding->lines.error));
        return EX_IOERR;
    }
    printf(tool->json ? "{\"added\": %" PRIu64 ", \"refused\": %" PRIu64 "}\n"
                      : "%" PRIu64 " added, %" PRIu64 " refused\n",
           adding->added, adding->refused);
    return adding->refused > 0 ? EX_DATAERR : 0;
}

int takt_tool_add(takt_tool *tool)
{
    adding adding = {.tool = tool};
    takt_error error = {0};

    if (takt_lines_open(&adding.lines, &tool->loop, tool->input, TAKT_JOB_SOURCE_TEXT_MAX, on_lines,
                        &adding, &error) != 0) {
        takt_message("%s", error.text);
        return EX_NOINPUT;
    }
    do
        pump(&adding);
    while ((!adding.ended || adding.under_way > 0) && !tool->lost && takt_tool_turn(tool));
    takt_lines_close(&adding.lines, on_lines_closed);
    while (!adding.closed || adding.under_way > 0)
        (void)takt_tool_turn(tool);
    return tell(&adding);
}
