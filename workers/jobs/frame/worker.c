/*
 * worker.c: a worker from its start to its end: it opens its parts, runs the loop, drains when it
 * is told to, and closes them in order: the kind, the source, the client, the report.
 */
#include "worker.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "files.h"
#include "jobs/text/instant.h"
#include "kit/exit_status.h"
#include "kit/standard_files.h"

#define MEMORY_MAX ((size_t)64 * 1024 * 1024) /* of jobs that wait with their texts */

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, 0};

/* takt_worker_say has no other way to know who speaks, and whether there is a picture. */
static const char *name = "worker";
static takt_report *listener;

void takt_worker_say(const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (listener)
        takt_report_say(listener, "message", text);
    else
        fprintf(stderr, "%s: %s\n", name, text);
}

static void on_client_event(takt_client *client, const takt_event *event, void *data)
{
    takt_worker *worker = data;

    (void)client;
    worker->dirty = true;
    if (event->type == TAKT_EVENT_STORE_LOST)
        takt_report_set_trouble(worker->report, "store", event->text);
    else if (event->type == TAKT_EVENT_STORE_BACK)
        takt_report_set_trouble(worker->report, "store", NULL);
    else
        takt_report_say(worker->report, "takt", event->text);
}

static int open_client(takt_worker *worker)
{
    takt_error error = {0};
    takt_options options = {
        .store = worker->options.store, .on_event = on_client_event, .data = worker};
    const takt_policy *policy = worker->policies[0];
    int code = takt_open(&worker->client, &worker->loop, policy, &options, &error);

    if (code) {
        takt_worker_say("%s", error.text[0] ? error.text : takt_strerror(code));
        return takt_exit_status(code);
    }
    takt_report_set_client(worker->report, worker->client);
    return 0;
}

/* The limit of jobs that name none must be there: else all of them were dead. */
static int check_limit(const takt_worker *worker)
{
    const char *limit = worker->options.limit;

    if (!limit || takt_policy_has(takt_get_policy(worker->client), limit))
        return 0;
    takt_worker_say("--limit %s: the policy has no limit of that name", limit);
    return EX_USAGE;
}

/* Where nobody names another server the stream is in the store. */
static int open_stream(takt_worker *worker, takt_error *error)
{
    const takt_worker_options *options = &worker->options;
    const char *url = options->redis ? options->redis : options->store;

    if (!url)
        url = takt_policy_store(worker->policies[0]);
    return takt_job_source_open_stream(&worker->source, &worker->loop, url, options->stream,
                                       options->group, options->take_over_us, options->until_empty,
                                       &run_source_events, worker, error);
}

static int open_source(takt_worker *worker)
{
    const takt_worker_options *options = &worker->options;
    const takt_job_kind *kind = worker->kind;
    const char *rehearsal = kind->rehearses ? kind->rehearses(kind->self) : NULL;
    takt_error error = {0};

    if (rehearsal && options->stream) {
        takt_worker_say(
            "%s takes its jobs from a file, since a stream would lose them: write --input "
            "FILE instead of --stream",
            rehearsal);
        return EX_USAGE;
    }
    int code = options->stream
                   ? open_stream(worker, &error)
                   : takt_job_source_open_file(&worker->source, &worker->loop, options->input,
                                               options->state, options->dead, rehearsal != NULL,
                                               &run_source_events, worker, &error);

    if (code) {
        takt_worker_say("%s", error.text[0] ? error.text : takt_strerror(code));
        return code == TAKT_E_NOMEM          ? EX_OSERR
               : !options->stream            ? EX_NOINPUT
               : code == TAKT_E_SYSTEM       ? EX_OSERR
               : code == TAKT_E_STORE_ACCESS ? EX_UNAVAILABLE
                                             : EX_USAGE;
    }
    worker->source_is_open = true;
    return 0;
}

static int open_results(takt_worker *worker)
{
    takt_error error = {0};

    if (takt_results_open(&worker->results, &worker->loop, worker->options.results, worker->report,
                          &run_results_events, worker, &error) == 0)
        return 0;
    takt_worker_say("%s", error.text);
    return EX_CANTCREAT;
}

static int open_kind(takt_worker *worker)
{
    const takt_job_kind *kind = worker->kind;
    int status =
        kind->open ? kind->open(kind->self, &worker->loop, takt_get_policy(worker->client)) : 0;

    worker->kind_is_open = status == 0;
    return status;
}

static int open_report(takt_worker *worker)
{
    takt_error error = {0};

    if (takt_report_open(&worker->report, &worker->loop, &worker->options.report, &error) != 0) {
        takt_worker_say("%s", error.text);
        return EX_OSERR;
    }
    listener = worker->report;
    return 0;
}

static int check_files(const takt_worker *worker)
{
    takt_error error = {0};

    if (takt_worker_files_check(&worker->options, &error) == 0)
        return 0;
    takt_worker_say("%s", error.text);
    return EX_USAGE;
}

static int open_all(takt_worker *worker)
{
    int status;

    if ((status = check_files(worker)) != 0 || (status = open_report(worker)) != 0 ||
        (status = takt_worker_policy_open(worker)) != 0 || (status = open_client(worker)) != 0 ||
        (status = check_limit(worker)) != 0 || (status = open_results(worker)) != 0 ||
        (status = open_kind(worker)) != 0 || (status = open_source(worker)) != 0)
        return status;
    return 0;
}

static void forget_client(void *data)
{
    takt_worker *worker = data;

    worker->client = NULL;
    if (worker->report)
        takt_report_close(worker->report);
    listener = NULL;
    worker->report = NULL;
}

static void close_client(takt_worker *worker)
{
    if (worker->report)
        takt_report_set_client(worker->report, NULL);
    if (worker->client)
        takt_close(worker->client, forget_client, worker);
    else
        forget_client(worker);
}

void takt_worker_source_closed(takt_worker *worker)
{
    worker->source_is_open = false;
    close_client(worker);
}

/* The first step of closing; each of the others follows when the one before it has ended. */
static void begin_close(takt_worker *worker)
{
    if (worker->closing)
        return;
    worker->closing = true;
    uv_close((uv_handle_t *)&worker->pass, NULL);
    uv_close((uv_handle_t *)&worker->later_timer, NULL);
    uv_close((uv_handle_t *)&worker->drain_timer, NULL);
    takt_signals_close(&worker->signals);
    if (worker->kind_is_open && worker->kind->close)
        worker->kind->close(worker->kind->self);
    worker->kind_is_open = false;
    if (worker->source_is_open) {
        run_abandon(worker);
        takt_job_source_flush(worker->source);
        takt_job_source_close(worker->source);
    } else {
        close_client(worker);
    }
}

static void on_drained(uv_timer_t *timer)
{
    takt_worker *worker = timer->data;

    takt_report_say(worker->report, "drain",
                    "not all that ran has ended in time; it will come again");
    begin_close(worker);
}

void takt_worker_stop(takt_worker *worker, int status)
{
    if (status >= 0 && worker->status == 0)
        worker->status = status;
    worker->dirty = true;
    if (worker->draining || worker->closing)
        return;
    worker->draining = true;
    if (worker->source_is_open)
        takt_job_source_want(worker->source, 0);
    takt_report_set_phase(worker->report, TAKT_REPORT_DRAINING);
    uv_timer_start(&worker->drain_timer, on_drained, (uint64_t)worker->options.drain_us / 1000, 0);
}

/* SIGHUP reads a policy's file again, but where it says that our terminal is gone it ends us. */
static bool is_for_policy(int signal)
{
    return signal == SIGHUP && !isatty(STDERR_FILENO);
}

static void on_signal(uv_signal_t *handle, int signal)
{
    takt_worker *worker = handle->data;

    if (is_for_policy(signal)) {
        takt_worker_policy_reread(worker);
        return;
    }
    if (worker->signal == 0) {
        worker->signal = signal;
        takt_report_say(worker->report, "drain",
                        "told to stop: what runs will end, a second signal does not wait for it");
        takt_worker_stop(worker, -1);
        return;
    }
    worker->status = 128 + signal;
    begin_close(worker);
}

/* Runs before the loop waits: whatever happened in this turn is dealt with in one go. */
static void on_pass(uv_prepare_t *handle)
{
    takt_worker *worker = handle->data;

    while (worker->dirty && !worker->closing) {
        worker->dirty = false;
        if (worker->draining && !worker->drained) {
            worker->drained = true;
            run_drain(worker);
        }
        run_pass(worker);
    }
    if (!worker->closing && run_is_over(worker))
        begin_close(worker);
}

static void prepare(takt_worker *worker)
{
    uv_prepare_init(&worker->loop, &worker->pass);
    uv_timer_init(&worker->loop, &worker->later_timer);
    uv_timer_init(&worker->loop, &worker->drain_timer);
    worker->pass.data = worker->later_timer.data = worker->drain_timer.data = worker;
    worker->waiting.lane_max = worker->options.waiting;
    worker->waiting.size_max = MEMORY_MAX;
    worker->random = (uint64_t)takt_instant_now() ^ (uint64_t)getpid() << 40;
    signal(SIGPIPE, SIG_IGN);
    takt_signals_open(&worker->signals, &worker->loop, ending_signals, on_signal, worker);
    takt_signals_unref(&worker->signals);
}

static int status_of(const takt_worker *worker)
{
    if (worker->status || worker->left_some)
        return worker->status ? worker->status : EXIT_FAILURE;
    return worker->dead_count > 0 && !worker->signal ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void run(takt_worker *worker)
{
    worker->dirty = true;
    uv_prepare_start(&worker->pass, on_pass);
    takt_report_set_phase(worker->report, TAKT_REPORT_WORKING);
    uv_run(&worker->loop, UV_RUN_DEFAULT);
}

static void free_all(takt_worker *worker)
{
    takt_results_free(worker->results);
    free(worker->later);
    takt_worker_policy_free(worker);
    uv_loop_close(&worker->loop);
}

int takt_worker_main(int argc, char **argv, const takt_job_kind *kind)
{
    takt_worker worker = {.kind = kind};
    int failed;

    if (!takt_standard_files_hold())
        return EX_OSERR;
    name = kind->name;
    worker.options.report.name = kind->name;
    takt_worker_options_parse(&worker, argc, argv);
    if ((failed = uv_loop_init(&worker.loop)) != 0) {
        takt_worker_say("cannot wait for events: %s", uv_strerror(failed));
        return EX_OSERR;
    }
    prepare(&worker);
    worker.status = open_all(&worker);
    if (worker.status) {
        begin_close(&worker);
        uv_run(&worker.loop, UV_RUN_DEFAULT);
    } else {
        run(&worker);
    }
    int status = status_of(&worker);
    free_all(&worker);
    return status;
}
