/*
 * main.c: `takt-jobs`: manages the jobs of a Redis stream: adds jobs, counts them, lists dead
 * letters and puts them back. It needs no policy.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <takt/takt.h>

#include "kit/argument.h"
#include "tool.h"

enum { KEY_REDIS = 256, KEY_GROUP, KEY_FROM_LINE, KEY_JSON, KEY_ALL };

static const struct command {
    const char *name;
    int (*run)(takt_tool *tool);
} commands[] = {{"add", takt_tool_add},
                {"show", takt_tool_show},
                {"dead", takt_tool_dead},
                {"retry", takt_tool_retry}};

typedef struct line {
    takt_tool tool;
    const struct command *command; /* NULL: none given yet */
    bool names_none;               /* the first word was a stream, not a command */
} line;

static const struct argp_option options[] = {
    {"store", 's', "URL", 0, "The Redis or Valkey server (else $TAKT_STORE)", 1},
    {"redis", KEY_REDIS, "URL", 0, "The same", 1},
    {"group", KEY_GROUP, "NAME", 0, "show: the consumer group of the workers (default: takt)", 1},
    {"json", KEY_JSON, 0, 0, "Print JSON", 1},
    {"input", 'i', "FILE", 0, "add: lines of JSON (default: standard input)", 2},
    {"from-line", KEY_FROM_LINE, "N", 0, "add: pass over the lines before that one", 2},
    {"all", KEY_ALL, 0, 0, "retry: all dead letters that there are now", 3},
    {0},
};

static const char doc[] =
    "The jobs of a stream: adds them from lines of JSON, shows how they stand, lists those that "
    "died (dead letters) and puts them back."
    "\vExit status: 0 all is done; 1 not all could be put back; 64 a wrong command line, 65 lines "
    "were refused, 66 no input, or no such stream, 69 no server, 74 the input could not be "
    "read.\n\n"
    "Example:\n"
    "  takt-jobs add mails -i jobs.jsonl -s redis://redis.internal";

static void read_line_number(struct argp_state *state, const char *word, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(word, &end, 10);
    if (errno != 0 || *end != '\0' || strspn(word, "0123456789") == 0 || *number == 0)
        argp_error(state, "--from-line takes a whole number, 1 or more, not %s",
                   takt_argument_shown(word));
}

/* The first word is a command, or the stream to show. After a command comes the stream. */
static void take_word(struct argp_state *state, char *word, line *line)
{
    takt_tool *tool = &line->tool;

    for (size_t i = 0; line->command == NULL && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(word, commands[i].name) == 0) {
            line->command = &commands[i];
            return;
        }
    if (tool->stream == NULL) {
        takt_error error;
        if (takt_stream_names_check(word, "stream", &error) != 0)
            argp_error(state, "%s: %s", takt_argument_shown(word), error.text);
        tool->stream = word;
        line->names_none = line->command == NULL;
        if (line->names_none)
            line->command = &commands[1];
    } else if (line->command->run == takt_tool_retry) {
        takt_job_ref ref;
        takt_reply name = {.type = TAKT_REPLY_STRING, .text = word, .size = strlen(word)};
        if (!takt_stream_names_read_entry(&name, &ref))
            argp_error(state, "%s is not a dead letter's name, such as 1763692800000-0",
                       takt_argument_shown(word));
        tool->entries[tool->entry_count++] = word;
    } else if (line->names_none) {
        argp_error(state,
                   "%s is not a command; write takt-jobs [add|show|dead|retry] STREAM, with one "
                   "stream at a time",
                   takt_argument_shown(tool->stream));
    } else {
        argp_error(state, "%s: one stream at a time", takt_argument_shown(word));
    }
}

static void check(struct argp_state *state, const line *line)
{
    const takt_tool *tool = &line->tool;
    bool adds = line->command != NULL && line->command->run == takt_tool_add;
    bool retries = line->command != NULL && line->command->run == takt_tool_retry;

    if (tool->stream == NULL)
        argp_error(state, "which stream? write takt-jobs [add|show|dead|retry] STREAM");
    if (tool->url == NULL || tool->url[0] == '\0')
        argp_error(state, "which server? write -s redis://HOST, or set $TAKT_STORE");
    if (!adds && (tool->input != NULL || tool->from_line > 1))
        argp_error(state, "--input and --from-line belong to takt-jobs add");
    if (retries ? (tool->entry_count > 0) == tool->all : tool->all)
        argp_error(state, "takt-jobs retry STREAM takes the names of dead letters, or --all");
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    line *line = state->input;
    takt_error error;

    switch (key) {
    case 's':
    case KEY_REDIS:
        line->tool.url = word;
        return 0;
    case 'i':
        line->tool.input = strcmp(word, "-") != 0 ? word : NULL;
        return 0;
    case KEY_GROUP:
        if (takt_stream_names_check(word, "group", &error) != 0)
            argp_error(state, "--group: %s", error.text);
        line->tool.group = word;
        return 0;
    case KEY_FROM_LINE:
        read_line_number(state, word, &line->tool.from_line);
        return 0;
    case KEY_JSON:
        line->tool.json = true;
        return 0;
    case KEY_ALL:
        line->tool.all = true;
        return 0;
    case ARGP_KEY_ARG:
        take_word(state, word, line);
        return 0;
    case ARGP_KEY_END:
        check(state, line);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_version(FILE *file, struct argp_state *state)
{
    (void)state;
    fprintf(file, "takt-jobs %s\n", takt_version());
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, "[add|show|dead|retry] STREAM [LETTER...]", doc, NULL, NULL, NULL};
    line line = {.tool = {.group = TAKT_STREAM_GROUP, .from_line = 1, .url = getenv("TAKT_STORE")}};
    int status;

    takt_message_set_name("takt-jobs");
    argp_program_version_hook = print_version;
    argp_err_exit_status = EX_USAGE;
    line.tool.entries = calloc((size_t)argc, sizeof *line.tool.entries);
    if (line.tool.entries == NULL)
        takt_message("%s", takt_strerror(TAKT_E_NOMEM));
    if (line.tool.entries == NULL || argp_parse(&argp, argc, argv, 0, NULL, &line) != 0)
        return EX_OSERR;
    status = takt_tool_open(&line.tool);
    if (status == 0)
        status = line.command->run(&line.tool);
    takt_tool_close(&line.tool);
    free(line.tool.entries);
    int output = takt_message_end_output();
    return output ? output : status;
}
