/*
 * `takt`: reads the options before the command's name and calls the command.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <takt/takt.h>

#include "commands.h"
#include "common/options.h"
#include "kit/message.h"
#include "kit/standard_files.h"
#include "program.h"

static const takt_cli_command commands[] = {
    {"run", "wait for a slot, then run a command", takt_cli_run},
    {"map", "run a command for each input line, at the pace of a limit", takt_cli_map},
    {"check", "validate a policy file and print its limits", takt_cli_check},
    {"apply", "put a policy into the store, for workers that follow it", takt_cli_apply},
    {"policy", "show the policy in the store, and its history", takt_cli_policy},
    {"top", "watch limits live; block and unblock them", takt_cli_top},
    {"peek", "show the state of a limit", takt_cli_peek},
    {"exporter", "serve the state of limits to Prometheus", takt_cli_exporter},
    {"block", "block a limit for a while, in the whole fleet", takt_cli_block},
    {"penalize", "report a vendor's \"too many requests\" to the whole fleet", takt_cli_penalize},
    {"unblock", "end a block", takt_cli_unblock},
    {"reset", "forget the tokens that were taken from a limit", takt_cli_reset},
    {"doctor", "check whether the store is suitable", takt_cli_doctor},
    {"simulate", "simulate a fleet under a limit, on virtual time", takt_cli_simulate},
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/* Programs that are installed with takt. */
static const struct {
    const char *name, *summary;
} programs[] = {
    {"agent", "serve limits to the programs of this host, in any language"},
    {"call", "call HTTP APIs at the pace of their limits"},
    {"jobs", "add jobs to queues in Redis, and show their state"},
    {"mail", "send bulk mail"},
};
#define PROGRAM_COUNT (sizeof(programs) / sizeof(programs[0]))

typedef struct cli_choice {
    takt_cli_settings settings;
    const takt_cli_command *command;
    bool asks_help; /* --help before a command */
    int argc;       /* the words from the command's name on */
    char **argv;
} cli_choice;

static const takt_cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* A command or a program with a similar name; NULL: none. */
static const char *find_like(const char *name, char like[TAKT_CLI_PROGRAM_SIZE])
{
    takt_suggestion meant;

    takt_suggest_begin(&meant, name);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        takt_suggest_offer(&meant, commands[i].name);
    if (meant.best)
        return meant.best;
    return takt_cli_find_like(name, like) ? like : NULL;
}

static void refuse_command(const char *name)
{
    char shown[TAKT_QUOTE_SIZE], found[TAKT_CLI_PROGRAM_SIZE];
    const char *like = find_like(name, found);

    takt_quote(name, shown);
    if (like)
        takt_message("there is no command %s; did you mean \"%s\"?", shown, like);
    else
        takt_message("there is no command %s; `takt --help` lists all commands", shown);
    exit(EX_USAGE);
}

static void print_version(FILE *file, struct argp_state *state)
{
    (void)state;
    fprintf(file, "takt %s\n", takt_version());
}

/* `takt help` is `takt --help`, and `takt help NAME` is `takt NAME --help`. */
static void turn_help(cli_choice *choice)
{
    static char help[] = "--help";
    static char *words[3];

    if (choice->argc < 2) {
        choice->asks_help = true;
        return;
    }
    words[0] = choice->argv[1];
    words[1] = help;
    choice->argc = 2;
    choice->argv = words;
    choice->command = find_command(words[0]);
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    cli_choice *choice = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &choice->settings;
        return 0;
    case ARGP_KEY_ARG:
        choice->command = find_command(word);
        choice->argv = state->argv + state->next - 1;
        choice->argc = state->argc - state->next + 1;
        state->next = state->argc;
        if (strcmp(word, "help") == 0)
            turn_help(choice);
        if (choice->asks_help)
            argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        if (strcmp(word, "version") == 0) {
            print_version(stdout, state);
            exit(0);
        }
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static _Noreturn void refuse_help(void)
{
    takt_message("cannot list the commands: %s", strerror(errno));
    exit(EX_OSERR);
}

/* Puts the list of commands into the help text. */
static char *fill_help(int key, const char *text, void *input)
{
    char *list = NULL;
    size_t size = 0;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)(uintptr_t)text;
    FILE *file = open_memstream(&list, &size);
    if (!file)
        refuse_help();
    fputs("Commands:\n", file);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(file, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fputs("Programs beside takt or in $PATH (`takt NAME` runs takt-NAME):\n", file);
    for (size_t i = 0; i < PROGRAM_COUNT; i++)
        fprintf(file, "  %-9s %s\n", programs[i].name, programs[i].summary);
    fprintf(file, "\n%s", text);
    if (fclose(file) != 0)
        refuse_help();
    return list;
}

static const struct argp_child children[] = {{&takt_cli_location_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    NULL,
    parse,
    "COMMAND ...",
    "Paces work for a whole fleet: processes share limits, and each job waits until its slot is "
    "due."
    "\v`takt help COMMAND` describes a command, with examples.\n\n"
    "Example:\n"
    "  takt run mail --rate 10/s -- ./send-one-mail",
    children,
    fill_help,
    NULL,
};

int main(int argc, char **argv)
{
    char name[32];
    cli_choice choice = {0};

    if (!takt_standard_files_hold())
        return EX_OSERR;
    argp_program_version_hook = print_version;
    argp_err_exit_status = EX_USAGE;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice) != 0)
        return EX_OSERR;
    if (!choice.command) {
        takt_cli_become_program(choice.argc, choice.argv, &choice.settings);
        refuse_command(choice.argv[0]);
    }
    snprintf(name, sizeof(name), "takt %s", choice.command->name);
    takt_message_set_name(name);
    return choice.command->run(choice.argc, choice.argv, &choice.settings);
}
