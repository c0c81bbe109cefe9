/*
 * options.c: the command line that all workers have, and a kind's own beside it.
 */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "kit/argument.h"
#include "worker.h"

enum {
    KEY_STATE = 0x100,
    KEY_DEAD,
    KEY_STREAM,
    KEY_REDIS,
    KEY_GROUP,
    KEY_TAKE_OVER,
    KEY_UNTIL_EMPTY,
    KEY_ATTEMPTS,
    KEY_RETRY_FIRST,
    KEY_RETRY_LONGEST,
    KEY_PARALLEL,
    KEY_WAITING,
    KEY_PUT_AWAY,
    KEY_RESULTS,
    KEY_DRAIN,
    KEY_LOG,
    KEY_METRICS_FILE,
    KEY_STATUS
};

static const struct argp_option options[] = {
    {"policy", 'p', "FILE", 0, "The limits (else $TAKT_POLICY, else ./takt.yaml)", 1},
    {"store", 's', "URL", 0,
     "Where ledgers live (else $TAKT_STORE, else the policy's, else a file of your own)", 1},
    {"limit", 'l', "NAME", 0, "The limit of jobs that name none", 1},
    {NULL, 0, NULL, 0, "Where jobs come from:", 2},
    {"input", 'i', "FILE", 0, "Lines of JSON (default: standard input)", 2},
    {"state", KEY_STATE, "FILE", 0,
     "What is done of the file, so that a rerun goes on (default: the file's name and .state; none "
     "for standard input)",
     2},
    {"dead", KEY_DEAD, "FILE", 0,
     "Jobs that cannot be done, and why (default: the file's name and .dead; none for standard "
     "input)",
     2},
    {"stream", KEY_STREAM, "NAME", 0, "A Redis stream instead of a file", 2},
    {"redis", KEY_REDIS, "URL", 0, "Where the stream is (default: the store, if it is a Redis)", 2},
    {"group", KEY_GROUP, "NAME", 0, "The consumer group (default: takt)", 2},
    {"take-over-after", KEY_TAKE_OVER, "DURATION", 0,
     "Jobs of a worker that is not heard of for so long are taken over (default 60s)", 2},
    {"until-empty", KEY_UNTIL_EMPTY, 0, 0, "End when the stream has nothing left", 2},
    {NULL, 0, NULL, 0, "How they are done:", 3},
    {"attempts", KEY_ATTEMPTS, "N", 0, "Give up a job after so many (default 5)", 3},
    {"retry-first", KEY_RETRY_FIRST, "DURATION", 0,
     "Wait up to that long after the first failure, twice as long after each further one (default "
     "1s)",
     3},
    {"retry-longest", KEY_RETRY_LONGEST, "DURATION", 0, "... up to that (default 5min)", 3},
    {"parallel", KEY_PARALLEL, "N", 0, "Jobs that run at once at most (default 256)", 3},
    {"waiting", KEY_WAITING, "N", 0,
     "Jobs of a limit and key that wait in memory; of more, only the place is remembered (default "
     "1000)",
     3},
    {"put-away", KEY_PUT_AWAY, "N", 0,
     "So many of those at most, then no more is read (default 1000000)", 3},
    {"results", KEY_RESULTS, "FILE", 0, "What jobs gave, as JSON lines (default: standard output)",
     3},
    {"drain", KEY_DRAIN, "DURATION", 0,
     "After SIGTERM or SIGINT, wait that long for what runs (default 30s)", 3},
    {NULL, 0, NULL, 0, "What is told:", 4},
    {"log", KEY_LOG, "auto|text|json|none", 0,
     "A line for each event, on standard error (default auto: a picture on a terminal, else text)",
     4},
    {"metrics-file", KEY_METRICS_FILE, "FILE", 0, "Figures in OpenMetrics' text, kept up to date",
     4},
    {"status", KEY_STATUS, "unix:PATH|PORT", 0,
     "Answer probes and scrapers there (a port of the loopback)", 4},
    {0},
};

static takt_report_log read_log(struct argp_state *state, const char *word)
{
    static const char *const names[] = {"auto", "text", "json", "none"};

    for (int i = 0; i < 4; i++)
        if (strcmp(word, names[i]) == 0)
            return (takt_report_log)i;
    argp_error(state, "--log takes auto, text, json or none, not %s", takt_argument_shown(word));
    return TAKT_REPORT_LOG_AUTO;
}

/* What belongs to files alone, or to streams alone. */
static void check(const takt_worker_options *options, struct argp_state *state)
{
    if (options->stream && (options->input || options->state || options->dead))
        argp_error(state, "--stream stands instead of a file: leave out --input, --state and "
                          "--dead");
    if (!options->stream &&
        (options->redis || options->group || options->take_over_us || options->until_empty))
        argp_error(state, "--redis, --group, --take-over-after and --until-empty belong to "
                          "--stream NAME");
}

/* Where jobs come from. */
static error_t parse_source(int key, char *word, takt_worker_options *options,
                            struct argp_state *state)
{
    switch (key) {
    case 'i':
        options->input = word;
        return 0;
    case KEY_STATE:
        options->state = word;
        return 0;
    case KEY_DEAD:
        options->dead = word;
        return 0;
    case KEY_STREAM:
        options->stream = word;
        return 0;
    case KEY_REDIS:
        options->redis = word;
        return 0;
    case KEY_GROUP:
        options->group = word;
        return 0;
    case KEY_TAKE_OVER:
        options->take_over_us = takt_argument_any_duration(state, "--take-over-after", word);
        return 0;
    case KEY_UNTIL_EMPTY:
        options->until_empty = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* How they are done. */
static error_t parse_run(int key, char *word, takt_worker_options *options,
                         struct argp_state *state)
{
    switch (key) {
    case KEY_ATTEMPTS:
        options->retry.attempts = (unsigned)takt_argument_number(state, "--attempts", word, 1, 100);
        return 0;
    case KEY_RETRY_FIRST:
        options->retry.first_us = takt_argument_any_duration(state, "--retry-first", word);
        return 0;
    case KEY_RETRY_LONGEST:
        options->retry.longest_us = takt_argument_any_duration(state, "--retry-longest", word);
        return 0;
    case KEY_PARALLEL:
        options->parallel = (unsigned)takt_argument_number(state, "--parallel", word, 1, 100000);
        return 0;
    case KEY_WAITING:
        options->waiting = (unsigned)takt_argument_number(state, "--waiting", word, 1, 1000000);
        return 0;
    case KEY_PUT_AWAY:
        options->put_away =
            (unsigned)takt_argument_number(state, "--put-away", word, 1, 1000000000);
        return 0;
    case KEY_RESULTS:
        options->results = word;
        return 0;
    case KEY_DRAIN:
        options->drain_us = takt_argument_any_duration(state, "--drain", word);
        return 0;
    default:
        return parse_source(key, word, options, state);
    }
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    takt_worker *worker = state->input;
    takt_worker_options *given = &worker->options;

    switch (key) {
    case ARGP_KEY_INIT:
        if (worker->kind->options)
            state->child_inputs[0] = worker->kind->self;
        return 0;
    case 'p':
        given->policy = word;
        return 0;
    case 's':
        given->store = word;
        return 0;
    case 'l':
        given->limit = word;
        return 0;
    case KEY_LOG:
        given->report.log = read_log(state, word);
        return 0;
    case KEY_METRICS_FILE:
        given->report.metrics_file = word;
        return 0;
    case KEY_STATUS:
        given->report.status = word;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: there are no arguments; jobs are read from --input or --stream",
                   takt_argument_shown(word));
        return 0;
    case ARGP_KEY_END:
        check(given, state);
        return 0;
    default:
        return parse_run(key, word, given, state);
    }
}

static void print_version(FILE *file, struct argp_state *state)
{
    fprintf(file, "%s %s\n", state->name, takt_version());
}

void takt_worker_options_parse(takt_worker *worker, int argc, char **argv)
{
    char name[64], text[1024];
    const char *store = getenv("TAKT_STORE");
    const takt_job_kind *kind = worker->kind;
    struct argp_child children[] = {{kind->options, 0, NULL, 5}, {0}};
    struct argp argp = {options, parse, NULL, text, kind->options ? children : NULL, NULL, NULL};

    snprintf(name, sizeof(name), "%s", kind->name);
    snprintf(text, sizeof(text),
             "%s\vExit status: 0 all is done, or what ran has ended after SIGTERM; 1 there are "
             "dead letters, or not all that ran has ended in time; 64 a wrong command line, 66 no "
             "input, 69 no store, 74 jobs or results could not be read or written, 78 a wrong "
             "policy; 128+n after a second signal n.",
             kind->summary);
    worker->options.retry = (takt_retry_rule){5, 1000000, 300000000};
    worker->options.parallel = 256;
    worker->options.waiting = 1000;
    worker->options.put_away = 1000000;
    worker->options.drain_us = 30000000;
    argp_program_version_hook = print_version;
    argp_err_exit_status = EX_USAGE;
    argv[0] = name;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, worker) != 0)
        exit(EX_OSERR);
    if (!worker->options.group)
        worker->options.group = "takt";
    if (worker->options.take_over_us == 0)
        worker->options.take_over_us = 60000000;
    if (!worker->options.store && store && *store)
        worker->options.store = store;
}
