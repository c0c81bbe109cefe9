/*
 * open.c: the handles of a report on the loop, from opening to closing. The loop never waits for
 * them: standard error gets as much as it accepts, and the thread pool writes the metrics file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/openmetrics.h"
#include "kit/signals.h"
#include "kit/status_page.h"
#include "kit/terminal.h"
#include "kit/wall_clock.h"
#include "metrics.h"
#include "parts.h"

#define REDRAW_MS 250
#define AGAIN_MS  50
#define SLOW_MS   5000
#define DRAIN_MS  1000 /* for the last lines */

/* ---- standard error -------------------------------------------------------------------------- */

static void draw(takt_report *report)
{
    const takt_policy *policy = report->client ? takt_get_policy(report->client) : NULL;

    takt_screen_draw(&report->screen, &report->sink, takt_report_standing_look(report), policy);
}

static void flush(takt_report *report);

static void on_again(uv_timer_t *timer)
{
    flush(timer->data);
}

static void flush(takt_report *report)
{
    if (takt_sink_flush(&report->sink) && !uv_is_active((uv_handle_t *)&report->again))
        uv_timer_start(&report->again, on_again, AGAIN_MS, 0);
}

/* Before the loop waits: writes everything of this turn in one piece. */
static void on_prepare(uv_prepare_t *prepare)
{
    takt_report *report = prepare->data;

    if (report->sink.text.size == 0 || uv_is_active((uv_handle_t *)&report->again))
        return;
    flush(report);
    if (report->pictured && report->screen.drawn.count == 0 && report->sink.text.size == 0) {
        draw(report);
        flush(report);
    }
}

static void on_tick(uv_timer_t *timer)
{
    takt_report *report = timer->data;
    takt_report_limit sum = takt_figures_sum(&report->figures);
    uint64_t now_ms = uv_now(report->loop);

    takt_rate_sample(&report->figures.rate, now_ms, sum.done + sum.dead);
    for (takt_report_limit *at = report->figures.limits; at; at = at->next)
        takt_rate_sample(&at->rate, now_ms, at->started);
    draw(report);
}

/* ---- the file of metrics --------------------------------------------------------------------- */

static void free_when_ended(takt_report *report)
{
    if (!report->closing || report->handles > 0 || report->metrics.under_way)
        return;
    takt_figures_free(&report->figures);
    free(report);
}

static void note_write(takt_report *report, int failed)
{
    char text[512];

    if (failed && failed != report->metrics.told) {
        snprintf(text, sizeof(text), "cannot write metrics to %.300s: %s",
                 report->options.metrics_file, strerror(failed));
        takt_report_say(report, "trouble", text);
    }
    report->metrics.told = failed;
}

/* Writes at the end, and at the start, so that a wrong path is reported at once. */
static int write_now(takt_report *report)
{
    size_t size;
    char *text = takt_metrics_text(takt_report_standing_look(report), &size);
    int failed =
        text ? takt_openmetrics_write_file(report->options.metrics_file, text, size) : ENOMEM;

    free(text);
    return failed;
}

static void write_metrics(uv_work_t *request)
{
    takt_report *report = request->data;
    takt_metrics_job *job = &report->metrics;

    job->failed = takt_openmetrics_write_file(report->options.metrics_file, job->text, job->size);
}

static void on_metrics(uv_work_t *request, int canceled)
{
    takt_report *report = request->data;
    (void)canceled;

    free(report->metrics.text);
    report->metrics.under_way = false;
    if (report->closing) {
        write_now(report);
        free_when_ended(report);
        return;
    }
    note_write(report, report->metrics.failed);
}

static void begin_metrics(takt_report *report)
{
    takt_metrics_job *job = &report->metrics;

    if (job->under_way)
        return;
    job->text = takt_metrics_text(takt_report_standing_look(report), &job->size);
    if (!job->text)
        return;
    job->request.data = report;
    job->under_way = uv_queue_work(report->loop, &job->request, write_metrics, on_metrics) == 0;
    if (!job->under_way)
        free(job->text);
}

static void on_slow(uv_timer_t *timer)
{
    takt_report *report = timer->data;

    if (report->options.metrics_file)
        begin_metrics(report);
    takt_report_standing_tell(report);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    takt_report *report = handle->data;

    report->handles--;
    free_when_ended(report);
}

static void add_timer(takt_report *report, uv_timer_t *timer)
{
    uv_timer_init(report->loop, timer);
    timer->data = report;
    report->handles++;
    uv_unref((uv_handle_t *)timer);
}

static void open_handles(takt_report *report)
{
    uv_prepare_init(report->loop, &report->flush);
    report->flush.data = report;
    report->handles++;
    uv_prepare_start(&report->flush, on_prepare);
    uv_unref((uv_handle_t *)&report->flush);
    add_timer(report, &report->again);
    add_timer(report, &report->tick);
    add_timer(report, &report->slow);
    if (report->pictured)
        uv_timer_start(&report->tick, on_tick, 0, REDRAW_MS);
    if (report->options.metrics_file || report->notify.fd >= 0)
        uv_timer_start(&report->slow, on_slow, SLOW_MS, SLOW_MS);
}

static int fail(takt_error *error, int code, const char *what, const char *why)
{
    *error = (takt_error){.code = code};
    snprintf(error->text, sizeof(error->text), "%.300s: %s", what, why);
    return code;
}

static char *metrics(void *data, size_t *size)
{
    return takt_metrics_text(takt_report_standing_look(data), size);
}

/* Why it is not ready; NULL: it is. */
static const char *trouble_of(const takt_figures *figures, char *text, size_t size)
{
    const takt_report_trouble *trouble = takt_figures_first_trouble(figures);

    if (figures->phase != TAKT_REPORT_WORKING)
        return figures->phase == TAKT_REPORT_STARTING ? "starting" : "draining";
    if (trouble)
        snprintf(text, size, "%s: %s", trouble->who, trouble->text);
    return trouble ? text : NULL;
}

static char *page(void *data, const char *path, int *code, size_t *size, const char **type)
{
    char text[TAKT_FIGURES_TROUBLE_SIZE + 64];
    const char *trouble = trouble_of(takt_report_standing_look(data), text, sizeof(text));

    return takt_status_page(path, trouble, metrics, data, code, size, type);
}

static int open_status(takt_report *report, takt_error *error)
{
    takt_status_site site = {
        .address = report->options.status, .what = "its status", .page = page, .data = report};

    return takt_status_server_open(&report->status, report->loop, &site, error);
}

int takt_report_open(takt_report **report, uv_loop_t *loop, const takt_report_options *options,
                     takt_error *error)
{
    takt_report *made = calloc(1, sizeof(*made));

    if (!made)
        return fail(error, TAKT_E_NOMEM, "report", takt_strerror(TAKT_E_NOMEM));
    takt_signals_ignore_broken_pipes();
    made->loop = loop;
    made->options = *options;
    made->figures.name = options->name;
    made->figures.started_at_us = takt_wall_clock_now();
    made->opened_ms = uv_now(loop);
    made->pictured = options->log == TAKT_REPORT_LOG_AUTO && takt_terminal_can_draw(STDERR_FILENO);
    made->log = options->log == TAKT_REPORT_LOG_AUTO ? TAKT_REPORT_LOG_TEXT : options->log;
    int failed = options->metrics_file ? write_now(made) : 0;
    int code = failed ? fail(error, TAKT_E_SYSTEM, options->metrics_file, strerror(failed)) : 0;
    if (code == 0 && options->status)
        code = open_status(made, error);
    if (code != 0) {
        free(made);
        return code;
    }
    takt_sink_open(&made->sink, STDERR_FILENO);
    if (made->pictured)
        takt_screen_open(&made->screen, STDERR_FILENO);
    takt_notify_open(&made->notify, loop);
    open_handles(made);
    *report = made;
    return 0;
}

/* ---- closing --------------------------------------------------------------------------------- */

static void summarize(takt_report *report)
{
    takt_report_limit sum = takt_figures_sum(&report->figures);
    int64_t took_us = (int64_t)(uv_now(report->loop) - report->opened_ms) * 1000;

    takt_report_say_above(report,
                          "%" PRIu64 " done, %" PRIu64 " failed, %" PRIu64 " retried, %" PRIu64
                          " given back, in %" PRId64 ".%" PRId64 " s",
                          sum.done, sum.dead, sum.retried, sum.given_back, took_us / 1000000,
                          took_us / 100000 % 10);
    if (!takt_report_say_begin(report, "ended"))
        return;
    takt_report_log_number(&report->line, "done", sum.done);
    takt_report_log_number(&report->line, "dead", sum.dead);
    takt_report_log_number(&report->line, "retried", sum.retried);
    takt_report_log_number(&report->line, "given_back", sum.given_back);
    takt_report_log_number(&report->line, "lost", sum.lost);
    takt_report_log_seconds(&report->line, "took_s", took_us);
    takt_report_say_end(report);
}

static void close_handles(takt_report *report)
{
    uv_handle_t *handles[] = {(uv_handle_t *)&report->flush, (uv_handle_t *)&report->again,
                              (uv_handle_t *)&report->tick, (uv_handle_t *)&report->slow};

    for (size_t i = 0; i < sizeof(handles) / sizeof(*handles); i++)
        uv_close(handles[i], on_closed);
    report->notify.beat.data = report; /* on_closed counts it like the others */
    report->handles += takt_notify_close(&report->notify, on_closed);
}

void takt_report_close(takt_report *report)
{
    if (!report)
        return;
    takt_report_set_client(report, NULL);
    summarize(report); /* in the place of the picture */
    takt_sink_drain(&report->sink, DRAIN_MS);
    report->pictured = false;
    report->log = TAKT_REPORT_LOG_NONE;
    takt_report_set_phase(report, TAKT_REPORT_DRAINING);
    report->closing = true;
    takt_status_server_close(report->status);
    close_handles(report);
    if (report->options.metrics_file && !report->metrics.under_way)
        write_now(report);
    takt_sink_close(&report->sink);
}
