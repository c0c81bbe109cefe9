/*
 * main.c: the command line of takt-agent.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "kit/argument.h"
#include "kit/message.h"
#include "kit/standard_files.h"
#include "run.h"

#define PASSWORD_SIZE 256
#define DRAIN_US      INT64_C(30000000)

enum {
    KEY_LISTEN = 0x200,
    KEY_GROUP,
    KEY_PORT,
    KEY_PASSWORD_FILE,
    KEY_STATUS,
    KEY_METRICS_FILE,
    KEY_DRAIN
};

static const struct argp_option options[] = {
    {"policy", 'p', "FILE", 0,
     "The policy file (default: $TAKT_POLICY, else ./takt.yaml, else no limits)", 1},
    {"store", 's', "URL", 0,
     "The store (default: $TAKT_STORE, else the policy's, else a file in your home directory)", 1},
    {"listen", KEY_LISTEN, "PATH", 0,
     "The Unix socket (default: $XDG_RUNTIME_DIR/takt/agent.sock, else /run/takt/agent.sock)", 2},
    {"group", KEY_GROUP, "NAME", 0,
     "The group whose processes may connect (default: the agent's own)", 2},
    {"port", KEY_PORT, "N", 0, "Also listen at this port of the loopback; needs a password", 2},
    {"password-file", KEY_PASSWORD_FILE, "FILE", 0,
     "Its first line is the password for the port (default: $TAKT_AGENT_PASSWORD)", 2},
    {"status", KEY_STATUS, "ADDRESS", 0,
     "Serve /live, /ready and /metrics over HTTP at unix:PATH or a port of the loopback", 3},
    {"metrics-file", KEY_METRICS_FILE, "FILE", 0, "Write the metrics there every five seconds", 3},
    {"drain", KEY_DRAIN, "DURATION", 0,
     "How long to wait for held permits after SIGTERM (default 30s)", 3},
    {0},
};

static const char doc[] = "Serves the limits of a fleet to the processes of this host, in any "
                          "language, by the protocol of Redis."
                          "\vSIGHUP: read the policy file again. SIGTERM: cancel waiters and wait "
                          "for held permits; a second signal ends the agent "
                          "at once.\n\n"
                          "Exit status: 0; 1 some permits were still held; 64 wrong command line, "
                          "69 store unusable, 71 cannot listen, 78 "
                          "policy unusable.\n\n"
                          "Examples:\n"
                          "  takt agent --policy takt.yaml --listen /tmp/takt.sock\n"
                          "  redis-cli -s /tmp/takt.sock acquire mail";

/* The first line of a file, in static memory. */
static const char *read_password(struct argp_state *state, const char *path)
{
    static char password[PASSWORD_SIZE];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, password, sizeof(password) - 1);

    if (size < 0)
        argp_failure(state, EX_NOINPUT, errno, "--password-file %s", path);
    if (fd >= 0)
        close(fd);
    password[size > 0 ? size : 0] = '\0';
    password[strcspn(password, "\r\n")] = '\0';
    if (!password[0])
        argp_error(state, "--password-file %s: its first line is empty", path);
    return password;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    takt_agent_options *of = state->input;

    switch (key) {
    case 'p':
        of->policy = word;
        return 0;
    case 's':
        of->store = word;
        return 0;
    case KEY_LISTEN:
        of->listen = word;
        return 0;
    case KEY_GROUP:
        of->group = word;
        return 0;
    case KEY_PORT:
        of->port = (int)takt_argument_number(state, "--port", word, 1, 65535);
        return 0;
    case KEY_PASSWORD_FILE:
        of->password = read_password(state, word);
        return 0;
    case KEY_STATUS:
        of->status = word;
        return 0;
    case KEY_METRICS_FILE:
        of->metrics_file = word;
        return 0;
    case KEY_DRAIN:
        of->drain_us = takt_argument_any_duration(state, "--drain", word);
        return 0;
    case ARGP_KEY_END:
        if (of->port && !of->password)
            argp_error(
                state,
                "--port needs a password: set $TAKT_AGENT_PASSWORD, or write --password-file FILE");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_version(FILE *file, struct argp_state *state)
{
    (void)state;
    fprintf(file, "takt-agent %s\n", takt_version());
}

int main(int argc, char **argv)
{
    static const struct argp argp = {options, parse, NULL, doc, NULL, NULL, NULL};
    const char *password = getenv("TAKT_AGENT_PASSWORD");
    takt_agent_options of = {.drain_us = DRAIN_US,
                             .store = getenv("TAKT_STORE"),
                             .password = password && *password ? password : NULL};

    if (!takt_standard_files_hold())
        return EX_OSERR;
    takt_message_set_name("takt-agent");
    argp_program_version_hook = print_version;
    argp_err_exit_status = EX_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &of) != 0)
        return EX_OSERR;
    return takt_agent_run(&of);
}
