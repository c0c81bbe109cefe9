/*
 * `takt map`: one job for each line of input, at most N at a time, each started when its slot is
 * due. Decides when lines are read, and when and how the map ends. Callbacks of jobs and of the
 * input only note events; one pass in each turn of the loop acts on them.
 */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "commands.h"
#include "common/options.h"
#include "jobs.h"
#include "kit/files.h"
#include "kit/message.h"
#include "kit/signals.h"
#include "kit/text.h"
#include "kit/wait_notice.h"

typedef struct mapping {
    takt_cli_settings *settings;
    takt_cli_target target;
    takt_cli_wish wish;
    const char *input_path;
    takt_cli_session session;
    takt_lines input;
    takt_cli_map_jobs jobs;
    takt_cli_map_report report;
    takt_wait_notice notice;
    uv_prepare_t pass;
    takt_signals signals;
    bool told_rest; /* the message about reading the rest of a pipe was printed */
    bool over;
    int input_status; /* the exit status if reading the input has failed; 0 */
    int signal;       /* the signal that stopped the map; 0: none */
} mapping;

enum { KEY_RETRIES = 0x200, KEY_UNDONE, KEY_LOG };

static error_t parse(int key, char *word, struct argp_state *state)
{
    mapping *map = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &map->wish;
        for (int i = 1; i < 4; i++)
            state->child_inputs[i] = map->settings;
        return 0;
    case 'j':
        map->jobs.max =
            (unsigned)takt_argument_number(state, "--jobs", word, 1, TAKT_CLI_MAP_JOBS_MAX);
        return 0;
    case 'i':
        map->input_path = strcmp(word, "-") == 0 ? NULL : word;
        return 0;
    case 'q':
        map->report.quiet = true;
        return 0;
    case KEY_RETRIES:
        map->jobs.retries = (unsigned)takt_argument_number(state, "--retries", word, 0, 1000);
        return 0;
    case KEY_UNDONE:
        map->report.undone_path = word;
        return 0;
    case KEY_LOG:
        map->report.log_path = word;
        return 0;
    default:
        return takt_cli_parse_command_line(key, word, state, &map->target, &map->jobs.command);
    }
}

static const struct argp_option options[] = {
    {"jobs", 'j', "N", 0, "At most N at a time (default 1)", 1},
    {"input", 'i', "FILE", 0, "Read lines from FILE (default: standard input)", 1},
    {"retries", KEY_RETRIES, "K", 0,
     "Try a failed job again, up to K times, each with a permit of its own", 1},
    {"undone", KEY_UNDONE, "FILE", 0,
     "Write every line that was not done to FILE, for a rerun with -i FILE", 1},
    {"log", KEY_LOG, "FILE", 0, "Append a JSON line to FILE for each start and each end", 1},
    {"quiet", 'q', 0, 0, "No progress and no summary on standard error", 1},
    {0},
};
static const struct argp_child children[] = {{&takt_cli_wish_argp, 0, NULL, 0},
                                             {&takt_cli_json_argp, 0, NULL, 0},
                                             {&takt_cli_rate_argp, 0, NULL, 0},
                                             {&takt_cli_location_argp, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    options,
    parse,
    "LIMIT[:KEY] -- COMMAND [ARGUMENT...]",
    "Runs COMMAND once for each line of input, each time when a slot of LIMIT is due. Every {} in "
    "COMMAND becomes the line; without {} the line becomes the last argument. No shell is "
    "involved. Empty lines are skipped."
    "\vThe first Ctrl-C (or SIGTERM) starts no more jobs and lets running ones end; a second one "
    "kills them. SIGHUP reads the policy file again; without a file, or if the terminal has "
    "closed, it is like SIGTERM.\n\n"
    "Exit status: 0 all jobs ended with 0, 1 a job failed, 64 wrong command line, 66 input "
    "unreadable, 69 store unusable, 73 and 74 file not writable, 75 LIMIT is full (max_waiting), "
    "78 policy unusable, 126 COMMAND cannot be run, 127 COMMAND not found, 128+n signal n.\n\n"
    "Examples:\n"
    "  takt map mail -j 8 -i addresses.txt -- ./send-mail --to {}\n"
    "  seq 100 | takt map api --rate 50/s -j 20 --retries 2 -- curl -sfo {} example.com/{}\n"
    "  takt map mail -j 8 -i addresses.txt --undone rest.txt -- ./send-mail --to {}\n"
    "  takt map mail -j 8 -i rest.txt -- ./send-mail --to {}",
    children,
    NULL,
    NULL,
};

/* What the jobs wait for, on a terminal; NULL: nothing to tell. */
static const char *waited_for(mapping *map)
{
    takt_wait_notice_waiter waiter = {&map->jobs.request, map->jobs.waiting};
    const char *text;

    if (!map->report.progress.terminal)
        return map->session.store_lost ? TAKT_WAIT_NOTICE_STORE : NULL;
    text = takt_wait_notice_tick(&map->notice, map->session.client,
                                 map->jobs.waiting > 0 ? &waiter : NULL, map->report.starts,
                                 map->session.store_lost, uv_now(&map->session.loop));
    return map->session.store_lost ? TAKT_WAIT_NOTICE_STORE : *text ? text : NULL;
}

static void look(void *data, takt_cli_figures *figures)
{
    mapping *map = data;
    const char *waited = waited_for(map);
    bool exact;
    uint64_t total = takt_lines_total(&map->input, &exact);

    figures->ended = map->report.done + map->report.failed;
    figures->failed = map->report.failed;
    figures->running = map->jobs.running;
    figures->waiting = map->jobs.waiting;
    figures->total = total > map->input.empty ? total - map->input.empty : 0;
    figures->exact = exact;
    figures->trouble = waited ? waited : map->jobs.stopping ? "stopping" : NULL;
}

static void on_event(void *data, const char *text)
{
    mapping *map = data;

    takt_cli_progress_message(&map->report.progress, "%s%s", text,
                              map->session.store_lost ? "; retrying" : "");
}

static void close_all(mapping *map)
{
    if (map->over)
        return;
    map->over = true;
    takt_cli_progress_close(&map->report.progress);
    takt_lines_close(&map->input, NULL);
    takt_signals_close(&map->signals);
    uv_close((uv_handle_t *)&map->pass, NULL);
    takt_cli_map_jobs_close(&map->jobs);
    takt_cli_shadows_read(&map->session, &map->report.shadows);
    takt_close(map->session.client, NULL, NULL);
    map->session.client = NULL;
}

/* After a stop, when all jobs have ended: writes the rest of the input to the file of undone lines.
 * A file ends, a pipe may not: a second signal stops this. */
static void put_rest_aside(mapping *map)
{
    takt_text_line line;

    while (map->report.undone_path && !map->report.file_failed &&
           (!map->jobs.killed || map->input.is_file)) {
        takt_lines_state state = takt_lines_next(&map->input, &line);
        if (state == TAKT_LINES_END)
            break;
        if (state == TAKT_LINES_LATER) {
            if (!map->input.is_file && !map->told_rest)
                takt_cli_progress_message(
                    &map->report.progress,
                    "copying the rest of the input to %s; a signal stops that",
                    map->report.undone_path);
            map->told_rest = true;
            return;
        }
        if (line.text)
            takt_cli_map_report_left(&map->report, line.text, line.size, line.number);
        else
            takt_cli_map_report_refused(&map->report, &line);
    }
    close_all(map);
}

/* Starts the next jobs, and ends the map after the last. */
static void run_pass(mapping *map)
{
    takt_text_line line;

    while (!map->over && !map->jobs.stopping && map->jobs.busy < map->jobs.max) {
        takt_lines_state state = takt_lines_next(&map->input, &line);
        if (state == TAKT_LINES_LATER)
            return;
        if (state == TAKT_LINES_LINE && line.text && !memchr(line.text, '\0', line.size)) {
            takt_cli_map_jobs_begin(&map->jobs, &line);
        } else if (state == TAKT_LINES_LINE) {
            takt_cli_map_report_refused(&map->report, &line);
        } else {
            if (map->input.error && !map->input_status) {
                takt_cli_progress_message(
                    &map->report.progress, "cannot read the input beyond line %llu: %s",
                    (unsigned long long)map->input.number, uv_strerror(map->input.error));
                map->input_status = EX_NOINPUT;
            }
            if (map->jobs.busy == 0)
                close_all(map);
            return;
        }
    }
    if (map->jobs.stopping && map->jobs.busy == 0 && !map->over)
        put_rest_aside(map);
}

static void on_pass(uv_prepare_t *handle)
{
    run_pass(handle->data);
}

static void on_ready(void *data)
{
    (void)data; /* the pass takes the lines */
}

static void reread(mapping *map)
{
    takt_error error;

    if (takt_cli_reread(&map->session, map->settings, &map->target, &error))
        takt_cli_progress_message(&map->report.progress, "the policy was read again and is in use");
    else
        takt_cli_progress_message(&map->report.progress, "%s; the policy is unchanged", error.text);
}

static void on_signal(uv_signal_t *handle, int signal)
{
    mapping *map = handle->data;

    if (!takt_cli_is_ad_hoc(map->settings) && takt_signals_reread(&map->signals, signal)) {
        reread(map);
        return;
    }
    if (map->signal == 0)
        map->signal = signal;
    if (!map->jobs.stopping) {
        if (map->jobs.running > 0)
            takt_cli_progress_message(
                &map->report.progress,
                "stopping: waiting for %u running job%s; a second signal kills %s",
                map->jobs.running, takt_plural(map->jobs.running),
                map->jobs.running == 1 ? "it" : "them");
        takt_cli_map_jobs_stop(&map->jobs, 0);
    } else if (!map->jobs.killed) {
        takt_cli_map_jobs_kill(&map->jobs);
    }
}

static void watch_signals(mapping *map)
{
    takt_signals_ignore_broken_pipes();
    takt_signals_open(&map->signals, &map->session.loop, takt_signals_ending, on_signal, map);
}

/* The first failure counts; `report_status` is the result of closing the report. */
static int status_of(const mapping *map, int report_status)
{
    if (map->input_status)
        return map->input_status;
    if (map->jobs.status)
        return map->jobs.status;
    if (map->report.file_failed)
        return EX_IOERR;
    if (map->signal)
        return 128 + map->signal;
    return report_status ? report_status : map->report.failed > 0;
}

/* 0, or the exit status after a message. */
static int check_files(const mapping *map)
{
    takt_files files = {0};

    takt_files_add(&files, "--policy", map->settings->policy);
    takt_files_add(&files, "--input", map->input_path);
    if (!map->input_path)
        takt_files_add_open(&files, "standard input", STDIN_FILENO);
    takt_files_add(&files, "--undone", map->report.undone_path);
    takt_files_add(&files, "--log", map->report.log_path);
    if (!files.error.code)
        return 0;
    takt_message("%s", files.error.text);
    return EX_USAGE;
}

/* 0, or the exit status after a message. */
static int work(mapping *map)
{
    takt_error error;
    int status;

    if (takt_lines_open(&map->input, &map->session.loop, map->input_path, TAKT_CLI_MAP_LINE_MAX,
                        on_ready, map, &error) != 0) {
        takt_message("%s", error.text);
        return EX_NOINPUT;
    }
    if ((status = takt_cli_map_report_open(&map->report)) != 0 ||
        (status = takt_cli_map_jobs_open(&map->jobs)) != 0) {
        takt_lines_close(&map->input, NULL);
        return status;
    }
    watch_signals(map);
    takt_cli_progress_open(&map->report.progress, &map->session.loop, !map->report.quiet, look,
                           map);
    uv_prepare_init(&map->session.loop, &map->pass);
    map->pass.data = map;
    uv_prepare_start(&map->pass, on_pass);
    uv_run(&map->session.loop, UV_RUN_DEFAULT);
    status = takt_cli_map_report_close(&map->report, &map->input);
    return status_of(map, status);
}

int takt_cli_map(int argc, char **argv, takt_cli_settings *settings)
{
    mapping map = {
        .settings = settings, .wish = {.cost = 1, .priority = TAKT_PRIORITY_POLICY}, .jobs.max = 1};

    setlocale(LC_CTYPE, ""); /* for the reasons shown on a terminal */
    takt_cli_parse(&argp, argc, argv, true, &map);
    map.session.on_event = on_event;
    map.session.data = &map;
    map.jobs.session = &map.session;
    map.jobs.target = &map.target;
    map.jobs.report = &map.report;
    map.report.left_max = map.jobs.max;
    map.report.json = settings->json;
    int status = takt_cli_open(&map.session, settings, &map.target);
    if (status)
        return status;
    status = takt_cli_request(&map.session, &map.target, &map.wish, &map.jobs.request);
    if (!status)
        status = check_files(&map);
    if (!status)
        status = work(&map);
    takt_cli_close(&map.session);
    takt_cli_map_jobs_free(&map.jobs);
    takt_cli_map_report_free(&map.report);
    return status;
}
