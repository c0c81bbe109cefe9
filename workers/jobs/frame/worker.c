/*
 * worker.c: a worker from start to end: opens its parts, runs the loop, drains on a signal, and
 * closes the parts in order: kind, source, client, report.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "kit/message.h"
#include "kit/signals.h"
#include "kit/standard_files.h"
#include "kit/wall_clock.h"
#include "worker.h"

#define MEMORY_MAX ((size_t)64 * 1024 * 1024) /* of waiting jobs with their texts */

#define NOTICE_MS 250

static void forget_client(void *data)
{
    takt_worker *worker = data;

    worker->client = NULL;
    if (worker->report)
        takt_report_close(worker->report);
    takt_worker_say_to(NULL);
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

static void on_source_closed(takt_worker *worker)
{
    worker->end.source_is_open = false;
    close_client(worker);
}

/* Starts the first step of closing; each step follows when the one before has ended. */
static void begin_close(takt_worker *worker)
{
    if (worker->end.closing)
        return;
    worker->end.closing = true;
    uv_close((uv_handle_t *)&worker->handles.pass, NULL);
    uv_close((uv_handle_t *)&worker->handles.due, NULL);
    uv_close((uv_handle_t *)&worker->handles.drain, NULL);
    uv_close((uv_handle_t *)&worker->handles.notice, NULL);
    takt_signals_close(&worker->handles.signals);
    if (worker->end.kind_is_open && worker->kind->close)
        worker->kind->close(worker->kind->self);
    worker->end.kind_is_open = false;
    takt_rehearsal_close(worker);
    if (worker->end.source_is_open) {
        takt_drain_running(worker);
        takt_job_source_flush(worker->source);
        takt_job_source_close(worker->source);
    } else {
        close_client(worker);
    }
}

static void on_drained(uv_timer_t *timer)
{
    takt_worker *worker = timer->data;

    takt_report_say(worker->report, "drain", "some jobs did not end in time; they will run again");
    begin_close(worker);
}

static void on_signal(uv_signal_t *handle, int signal)
{
    takt_worker *worker = handle->data;

    if (takt_signals_reread(&worker->handles.signals, signal)) {
        takt_worker_policy_reread(worker);
        return;
    }
    if (worker->end.signal == 0) {
        worker->end.signal = signal;
        takt_report_say(worker->report, "drain",
                        "stopping: waiting for running jobs; a second signal stops at once");
        takt_drain_begin(worker, -1);
        return;
    }
    worker->end.status = 128 + signal;
    begin_close(worker);
}

/* Runs before the loop waits, and handles all events of this turn in one pass. */
static void on_pass(uv_prepare_t *handle)
{
    takt_worker *worker = handle->data;

    while (worker->dirty && !worker->end.closing) {
        worker->dirty = false;
        if (worker->end.draining && !worker->end.drained) {
            worker->end.drained = true;
            takt_drain_waiting(worker);
            uv_timer_start(&worker->handles.drain, on_drained,
                           (uint64_t)worker->options.drain_us / 1000, 0);
        }
        takt_pass_run(worker);
    }
    if (!worker->end.closing && takt_pass_is_over(worker))
        begin_close(worker);
}

/* On a terminal: shows what the oldest waiter waits for. A failure of the store is shown as a
 * trouble. */
static void on_notice(uv_timer_t *timer)
{
    takt_worker *worker = timer->data;
    const takt_job *first = worker->acquiring.first;
    takt_request request = TAKT_REQUEST(NULL);
    takt_wait_notice_waiter waiter = {&request, 0};
    char text[2 * TAKT_WAIT_NOTICE_SIZE];
    const char *notice;

    if (first) {
        request = takt_job_request(first);
        waiter.count = first->lane->acquiring;
    }
    notice = takt_wait_notice_tick(&worker->notice, worker->client, first ? &waiter : NULL,
                                   worker->starts, false, uv_now(&worker->loop));
    snprintf(text, sizeof(text), "%s%s%s%s%s", *notice ? request.limit : "",
             *notice && request.key ? ":" : "", *notice && request.key ? request.key : "",
             *notice ? ": " : "", notice);
    takt_report_set_notice(worker->report, text);
}

static void prepare(takt_worker *worker)
{
    uv_prepare_init(&worker->loop, &worker->handles.pass);
    uv_timer_init(&worker->loop, &worker->handles.due);
    uv_timer_init(&worker->loop, &worker->handles.drain);
    uv_timer_init(&worker->loop, &worker->handles.notice);
    worker->handles.pass.data = worker->handles.due.data = worker->handles.drain.data =
        worker->handles.notice.data = worker;
    takt_later_init(&worker->later);
    worker->lanes.lane_max = worker->options.waiting;
    worker->lanes.size_max = MEMORY_MAX;
    worker->source_closed = on_source_closed;
    worker->random = (uint64_t)takt_wall_clock_now() ^ (uint64_t)getpid() << 40;
    takt_signals_ignore_broken_pipes();
    worker->handles.signals.rereads = true;
    takt_signals_open(&worker->handles.signals, &worker->loop, takt_signals_ending, on_signal,
                      worker);
    takt_signals_unref(&worker->handles.signals);
}

static int status_of(const takt_worker *worker)
{
    if (worker->end.status || worker->end.left_some)
        return worker->end.status ? worker->end.status : EXIT_FAILURE;
    return worker->end.dead_count > 0 && !worker->end.signal ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void run(takt_worker *worker)
{
    worker->dirty = true;
    uv_prepare_start(&worker->handles.pass, on_pass);
    takt_report_set_phase(worker->report, TAKT_REPORT_WORKING);
    if (takt_report_has_picture(worker->report))
        uv_timer_start(&worker->handles.notice, on_notice, NOTICE_MS, NOTICE_MS);
    uv_unref((uv_handle_t *)&worker->handles.notice);
    uv_run(&worker->loop, UV_RUN_DEFAULT);
}

static void free_all(takt_worker *worker)
{
    takt_results_free(worker->results);
    takt_worker_policy_free(worker);
    takt_unit_names_free(worker->unit_names);
    json_decref(worker->misspelt);
    uv_loop_close(&worker->loop);
}

int takt_worker_main(int argc, char **argv, const takt_job_kind *kind)
{
    takt_worker worker = {.kind = kind};
    int failed;

    if (!takt_standard_files_hold())
        return EX_OSERR;
    takt_message_set_name(kind->name);
    worker.options.report.name = kind->name;
    takt_worker_options_parse(&worker, argc, argv);
    if ((failed = uv_loop_init(&worker.loop)) != 0) {
        takt_worker_say("cannot wait for events: %s", uv_strerror(failed));
        return EX_OSERR;
    }
    prepare(&worker);
    worker.end.status = takt_worker_open(&worker);
    if (worker.end.status) {
        begin_close(&worker);
        uv_run(&worker.loop, UV_RUN_DEFAULT);
    } else {
        run(&worker);
    }
    int status = status_of(&worker);
    free_all(&worker);
    return status;
}
