/*
 * options.c: the command line that all workers share; a kind adds its own options.
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
    {"policy", 'p', "FILE", 0, "The policy file (default: $TAKT_POLICY, else ./takt.yaml)", 1},
    {"store", 's', "URL", 0,
     "The store (default: $TAKT_STORE, else the policy's, else a file in your home directory)", 1},
    {"limit", 'l', "NAME", 0, "The limit of jobs without a \"limit\"", 1},
    {NULL, 0, NULL, 0, "Job sources:", 2},
    {"input", 'i', "FILE", 0, "Jobs as lines of JSON (default: standard input)", 2},
    {"state", KEY_STATE, "FILE", 0,
     "Which jobs of the file are done, so that a rerun continues (default: FILE.state; none for "
     "standard input)",
     2},
    {"dead", KEY_DEAD, "FILE", 0,
     "Dead letters: jobs that failed for good, and why (default: FILE.dead; none for standard "
     "input)",
     2},
    {"stream", KEY_STREAM, "NAME", 0, "A Redis stream instead of a file", 2},
    {"redis", KEY_REDIS, "URL", 0,
     "The server of the stream (default: the store, if it is a Redis server)", 2},
    {"group", KEY_GROUP, "NAME", 0, "The consumer group (default: takt)", 2},
    {"take-over-after", KEY_TAKE_OVER, "DURATION", 0,
     "How long a worker is silent before others take over its jobs (default 60s)", 2},
    {"until-empty", KEY_UNTIL_EMPTY, 0, 0, "End when the stream is empty", 2},
    {NULL, 0, NULL, 0, "Retries and concurrency:", 3},
    {"attempts", KEY_ATTEMPTS, "N", 0, "Attempts before a job is dead (default 5)", 3},
    {"retry-first", KEY_RETRY_FIRST, "DURATION", 0,
     "Longest wait after the first failure; it doubles with each further one (default 1s)", 3},
    {"retry-longest", KEY_RETRY_LONGEST, "DURATION", 0, "Longest wait of all (default 5min)", 3},
    {"parallel", KEY_PARALLEL, "N", 0, "Most jobs that run at the same time (default 256)", 3},
    {"waiting", KEY_WAITING, "N", 0,
     "Waiting jobs of one limit and key that are kept in memory; of further ones only the position "
     "in the file (default 1000)",
     3},
    {"put-away", KEY_PUT_AWAY, "N", 0,
     "Most positions that are kept; then no more is read (default 1000000)", 3},
    {"results", KEY_RESULTS, "FILE", 0, "Results as lines of JSON (default: standard output)", 3},
    {"drain", KEY_DRAIN, "DURATION", 0,
     "After SIGTERM or SIGINT, wait that long for running jobs (default 30s)", 3},
    {NULL, 0, NULL, 0, "Output:", 4},
    {"log", KEY_LOG, "auto|text|json|none", 0,
     "One line per event on standard error (default auto: a live picture on a terminal, else text)",
     4},
    {"metrics-file", KEY_METRICS_FILE, "FILE", 0,
     "Metrics in OpenMetrics text format, kept up to date", 4},
    {"status", KEY_STATUS, "unix:PATH|PORT", 0, "Serve probes and metrics there (a loopback port)",
     4},
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

/* Refuses options for files together with a stream, and options for streams together with a
 * file. */
static void check(const takt_worker_options *options, struct argp_state *state)
{
    if (options->stream && (options->input || options->state || options->dead))
        argp_error(state, "--stream replaces a file: leave out --input, --state and --dead");
    if (!options->stream &&
        (options->redis || options->group || options->take_over_us || options->until_empty))
        argp_error(state, "--redis, --group, --take-over-after and --until-empty belong to "
                          "--stream NAME");
}

/* The options about the source of jobs. */
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

/* The options about running jobs. */
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
        argp_error(state, "%s: unexpected argument; jobs are read from --input or --stream",
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
             "%s\vExit status: 0 all jobs are done, or running ones ended after SIGTERM; 1 dead "
             "letters, "
             "or jobs still ran at the end of --drain; 64 wrong command line, 66 input unreadable, "
             "69 store unusable, 74 jobs or results cannot be read or written, 78 policy "
             "unusable; 128+n second signal n.",
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
