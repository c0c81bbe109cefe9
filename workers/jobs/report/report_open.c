/*
 * report_open.c: what of a report is on the loop, from its beginning to its end.  The loop waits
 * for none of it: standard error takes what it takes, and the file of metrics is written by the
 * thread pool.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics.h"
#include "report_parts.h"

#define REDRAW_MS 250
#define AGAIN_MS  50
#define SLOW_MS   5000
#define DRAIN_MS  1000 /* for the last lines */

const figures *report_look(void *data)
{
    report *report = data;

    if (report->client)
        takt_get_stats(report->client, &report->figures.acts);
    report->figures.lines_lost = report->sink.lost;
    return &report->figures;
}

void report_tell_manager(report *report)
{
    const trouble *trouble = figures_first_trouble(&report->figures);
    char text[REPORT_STATUS_SIZE], line[160];

    if (report->notify.fd < 0)
        return;
    figures_line(&report->figures, line, sizeof(line));
    snprintf(text, sizeof(text), "STATUS=%s%s%.60s", line, trouble ? "; " : "",
             trouble ? trouble->text : "");
    for (char *at = text; *at; at++) /* a newline would begin another assignment */
        if ((unsigned char)*at < ' ')
            *at = ' ';
    if (strcmp(text, report->told) == 0)
        return;
    strcpy(report->told, text);
    notify_tell(&report->notify, text);
}

/* ---- standard error -------------------------------------------------------------------------- */

static void draw(report *report)
{
    const takt_policy *policy = report->client ? takt_get_policy(report->client) : NULL;

    screen_draw(&report->screen, &report->sink, report_look(report), policy);
}

static void flush(report *report);

static void on_again(uv_timer_t *timer)
{
    flush(timer->data);
}

static void flush(report *report)
{
    if (sink_flush(&report->sink) && !uv_is_active((uv_handle_t *)&report->again))
        uv_timer_start(&report->again, on_again, AGAIN_MS, 0);
}

/* Before the loop waits: all that this turn has said, in one piece. */
static void on_prepare(uv_prepare_t *prepare)
{
    report *report = prepare->data;

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
    report *report = timer->data;
    report_limit sum = figures_sum(&report->figures);
    uint64_t now_ms = uv_now(report->loop);

    rate_sample(&report->figures.rate, now_ms, sum.done + sum.dead);
    for (report_limit *at = report->figures.limits; at; at = at->next)
        rate_sample(&at->rate, now_ms, at->started);
    draw(report);
}

static void on_back(uv_signal_t *handle, int number)
{
    report *report = handle->data;
    (void)number;

    screen_forget(&report->screen);
}

/* ---- the file of metrics --------------------------------------------------------------------- */

static void free_when_ended(report *report)
{
    if (!report->closing || report->handles > 0 || report->metrics.under_way)
        return;
    figures_free(&report->figures);
    free(report);
}

static void note_write(report *report, int failed)
{
    char text[512];

    if (failed && failed != report->metrics.told) {
        snprintf(text, sizeof(text), "cannot write metrics to %.300s: %s",
                 report->options.metrics_file, strerror(failed));
        report_say(report, "trouble", text);
    }
    report->metrics.told = failed;
}

/* The last time; and the first, so that a wrong path is known at once. */
static int write_now(report *report)
{
    size_t size;
    char *text = metrics_text(report_look(report), &size);
    int failed = text ? metrics_write_file(report->options.metrics_file, text, size) : ENOMEM;

    free(text);
    return failed;
}

static void write_metrics(uv_work_t *request)
{
    report *report = request->data;
    metrics_job *job = &report->metrics;

    job->failed = metrics_write_file(report->options.metrics_file, job->text, job->size);
}

static void on_metrics(uv_work_t *request, int canceled)
{
    report *report = request->data;
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

static void begin_metrics(report *report)
{
    metrics_job *job = &report->metrics;

    if (job->under_way)
        return;
    job->text = metrics_text(report_look(report), &job->size);
    if (!job->text)
        return;
    job->request.data = report;
    job->under_way = uv_queue_work(report->loop, &job->request, write_metrics, on_metrics) == 0;
    if (!job->under_way)
        free(job->text);
}

static void on_slow(uv_timer_t *timer)
{
    report *report = timer->data;

    if (report->options.metrics_file)
        begin_metrics(report);
    report_tell_manager(report);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    report *report = handle->data;

    report->handles--;
    free_when_ended(report);
}

static void add_timer(report *report, uv_timer_t *timer)
{
    uv_timer_init(report->loop, timer);
    timer->data = report;
    report->handles++;
    uv_unref((uv_handle_t *)timer);
}

static void open_handles(report *report)
{
    uv_prepare_init(report->loop, &report->flush);
    report->flush.data = report;
    report->handles++;
    uv_prepare_start(&report->flush, on_prepare);
    uv_unref((uv_handle_t *)&report->flush);
    add_timer(report, &report->again);
    add_timer(report, &report->tick);
    add_timer(report, &report->slow);
    uv_signal_init(report->loop, &report->back);
    report->back.data = report;
    report->handles++;
    if (report->pictured) {
        uv_timer_start(&report->tick, on_tick, 0, REDRAW_MS);
        uv_signal_start(&report->back, on_back, SIGCONT);
    }
    uv_unref((uv_handle_t *)&report->back);
    if (report->options.metrics_file || report->notify.fd >= 0)
        uv_timer_start(&report->slow, on_slow, SLOW_MS, SLOW_MS);
}

static int fail(takt_error *error, int code, const char *what, const char *why)
{
    *error = (takt_error){.code = code};
    snprintf(error->text, sizeof(error->text), "%.300s: %s", what, why);
    return code;
}

int report_open(report **report, uv_loop_t *loop, const report_options *options, takt_error *error)
{
    struct report *made = calloc(1, sizeof(*made));

    if (!made)
        return fail(error, TAKT_E_NOMEM, "report", takt_strerror(TAKT_E_NOMEM));
    signal(SIGPIPE, SIG_IGN);
    made->loop = loop;
    made->options = *options;
    made->figures.name = options->name;
    made->figures.started_at_us = report_wall_us();
    made->opened_ms = uv_now(loop);
    made->pictured = options->log == REPORT_LOG_AUTO && screen_is_possible(STDERR_FILENO);
    made->log = options->log == REPORT_LOG_AUTO ? REPORT_LOG_TEXT : options->log;
    int failed = options->metrics_file ? write_now(made) : 0;
    int code = failed ? fail(error, TAKT_E_SYSTEM, options->metrics_file, strerror(failed)) : 0;
    if (code == 0 && options->status)
        code = status_open(&made->status, loop, options->status, report_look, made, error);
    if (code != 0) {
        free(made);
        return code;
    }
    sink_open(&made->sink, STDERR_FILENO);
    screen_open(&made->screen, STDERR_FILENO);
    notify_open(&made->notify, loop);
    open_handles(made);
    *report = made;
    return 0;
}

/* ---- closing --------------------------------------------------------------------------------- */

static void summarize(report *report)
{
    report_limit sum = figures_sum(&report->figures);
    int64_t took_us = (int64_t)(uv_now(report->loop) - report->opened_ms) * 1000;

    report_above(report,
                 "%" PRIu64 " done, %" PRIu64 " failed, %" PRIu64 " retried, %" PRIu64
                 " given back, in %" PRId64 ".%" PRId64 " s",
                 sum.done, sum.dead, sum.retried, sum.given_back, took_us / 1000000,
                 took_us / 100000 % 10);
    if (!report_begin_line(report, "ended"))
        return;
    log_number(&report->line, "done", sum.done);
    log_number(&report->line, "dead", sum.dead);
    log_number(&report->line, "retried", sum.retried);
    log_number(&report->line, "given_back", sum.given_back);
    log_number(&report->line, "lost", sum.lost);
    log_seconds(&report->line, "took_s", took_us);
    report_end_line(report);
}

static void close_handles(report *report)
{
    uv_handle_t *handles[] = {(uv_handle_t *)&report->flush, (uv_handle_t *)&report->again,
                              (uv_handle_t *)&report->tick, (uv_handle_t *)&report->slow,
                              (uv_handle_t *)&report->back};

    for (size_t i = 0; i < sizeof(handles) / sizeof(*handles); i++)
        uv_close(handles[i], on_closed);
    report->notify.beat.data = report; /* on_closed counts it as the others */
    report->handles += notify_close(&report->notify, on_closed);
}

void report_close(report *report)
{
    if (!report)
        return;
    report_set_client(report, NULL);
    summarize(report); /* where the picture was */
    sink_drain(&report->sink, DRAIN_MS);
    report->pictured = false;
    report->log = REPORT_LOG_NONE;
    report_set_phase(report, REPORT_DRAINING);
    report->closing = true;
    status_close(report->status);
    close_handles(report);
    if (report->options.metrics_file && !report->metrics.under_way)
        write_now(report);
    sink_close(&report->sink);
}
