/*
 * Draws the bar. The rate is that of the last seconds, so that a change shows at once; the end is
 * estimated from it.
 */
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/page.h"
#include "kit/message.h"
#include "kit/terminal.h"
#include "kit/wait_notice.h"
#include "kit/wall_clock.h"

#define REDRAW_MS     250
#define LINE_MS       5000
#define BAR_SIZE      24
#define LINE_SIZE     512
#define HORIZON_YEARS 10 /* a later end is not shown */

static void wipe(takt_cli_progress *progress)
{
    if (progress->drawn && takt_terminal_is_ours(STDERR_FILENO))
        fputs(TAKT_TERMINAL_WIPE, stderr);
    progress->drawn = false;
}

static int write_bar(char *text, size_t size, const takt_cli_figures *figures)
{
    char bar[BAR_SIZE + 1];
    uint64_t filled = figures->ended * BAR_SIZE / figures->total;

    for (unsigned i = 0; i < BAR_SIZE; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_SIZE] = '\0';
    return snprintf(text, size, "[%s] ", bar);
}

static void write_end(char *text, size_t size, const takt_cli_figures *figures, double rate)
{
    char moment[TAKT_WALL_CLOCK_TEXT_SIZE], span[TAKT_SPAN_SIZE];

    if (figures->total <= figures->ended || rate <= 0)
        return;
    double left_s = (double)(figures->total - figures->ended) / rate;
    if (left_s > HORIZON_YEARS * 365.0 * 86400.0)
        return;
    int64_t left_us = (int64_t)left_s * 1000000;
    snprintf(text, size, ", ends %s (in %s)",
             takt_wall_clock_text(takt_wall_clock_now() + left_us, moment),
             left_us < 1000000 ? "1 s" : takt_format_span(left_us, span));
}

/* Everything on one line, the most important first, since a narrow terminal cuts it. */
static void write_line(takt_cli_progress *progress, char *text, size_t size, bool with_bar)
{
    takt_cli_figures figures = {0};
    char total[48] = "", failed[48] = "", end[160] = "", trouble[TAKT_WAIT_NOTICE_SIZE + 8] = "";

    progress->look(progress->data, &figures);
    double rate = takt_rate_now(&progress->rate);
    if (figures.total > 0)
        snprintf(total, sizeof(total), " of %s%llu", figures.exact ? "" : "about ",
                 (unsigned long long)figures.total);
    if (figures.failed > 0)
        snprintf(failed, sizeof(failed), ", %llu failed", (unsigned long long)figures.failed);
    if (figures.trouble)
        snprintf(trouble, sizeof(trouble), "%s; ", figures.trouble);
    write_end(end, sizeof(end), &figures, rate);
    int used = with_bar && figures.total > 0 && figures.total >= figures.ended
                   ? write_bar(text, size, &figures)
                   : 0;
    snprintf(text + used, size - (size_t)used,
             "%s%llu%s done%s, %.1f/s, %llu running, %llu waiting%s", trouble,
             (unsigned long long)figures.ended, total, failed, rate,
             (unsigned long long)figures.running, (unsigned long long)figures.waiting, end);
}

static void draw(takt_cli_progress *progress)
{
    char text[LINE_SIZE];
    unsigned columns, rows;

    write_line(progress, text, sizeof(text), progress->terminal);
    if (!progress->terminal) {
        takt_message("%s", text);
        return;
    }
    if (!takt_terminal_is_ours(STDERR_FILENO)) {
        progress->drawn = false; /* other output has followed the bar, so it must not be wiped */
        return;
    }
    takt_terminal_size(STDERR_FILENO, &columns, &rows);
    fputs(TAKT_TERMINAL_WIPE, stderr);
    takt_cli_fit(stderr, text, (int)columns - 1);
    progress->drawn = true;
}

static void on_timer(uv_timer_t *timer)
{
    takt_cli_progress *progress = timer->data;
    takt_cli_figures figures = {0};

    progress->look(progress->data, &figures);
    takt_rate_sample(&progress->rate, uv_now(timer->loop), figures.ended);
    draw(progress);
}

int takt_cli_progress_open(takt_cli_progress *progress, uv_loop_t *loop, bool shown,
                           void (*look)(void *data, takt_cli_figures *figures), void *data)
{
    *progress = (takt_cli_progress){.look = look, .data = data};
    progress->terminal = takt_terminal_can_draw(STDERR_FILENO);
    int failed = uv_timer_init(loop, &progress->timer);
    if (failed)
        return failed;
    progress->open = true;
    progress->timer.data = progress;
    if (!shown)
        return 0;
    takt_rate_sample(&progress->rate, uv_now(loop), 0);
    uint64_t every_ms = progress->terminal ? REDRAW_MS : LINE_MS;
    return uv_timer_start(&progress->timer, on_timer, every_ms, every_ms);
}

void takt_cli_progress_message(takt_cli_progress *progress, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    bool drawn = progress->drawn;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    wipe(progress);
    takt_message("%s", text);
    if (drawn)
        draw(progress);
}

void takt_cli_progress_close(takt_cli_progress *progress)
{
    wipe(progress);
    if (progress->open)
        uv_close((uv_handle_t *)&progress->timer, NULL);
    progress->open = false;
}
