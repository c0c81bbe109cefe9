/*
 * report.c: each event is counted, and becomes a line of the log, or, where there is a picture, a
 * line above it, if a person would want to know.
 */
#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report_parts.h"

#define ABOVE_SIZE 1200

int64_t takt_report_wall_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

bool takt_report_begin_line(takt_report *report, const char *event)
{
    if (report->log == TAKT_REPORT_LOG_NONE || report->pictured)
        return false;
    takt_report_log_begin(&report->line, report->log == TAKT_REPORT_LOG_JSON, takt_report_wall_us(),
                          report->figures.name, event);
    return true;
}

void takt_report_end_line(takt_report *report)
{
    takt_report_log_end(&report->line);
    if (report->sink.text.size + report->line.used > TAKT_SINK_SIZE_MAX / 2)
        takt_sink_flush(&report->sink);
    takt_sink_put(&report->sink, report->line.text, report->line.used);
}

bool takt_report_has_picture(const takt_report *report)
{
    return report->pictured;
}

void takt_report_print(takt_report *report, const char *text, size_t size)
{
    takt_screen_wipe(&report->screen, &report->sink);
    takt_sink_put(&report->sink, text, size);
}

void takt_report_above(takt_report *report, const char *format, ...)
{
    char text[ABOVE_SIZE];
    va_list arguments;

    if (!report->pictured)
        return;
    int used = snprintf(text, sizeof(text), "%s: ", report->figures.name);
    va_start(arguments, format);
    int more = vsnprintf(text + used, sizeof(text) - (size_t)used - 1, format, arguments);
    va_end(arguments);
    if (more < 0)
        return;
    for (char *at = text; *at; at++) /* texts of others may not move the cursor */
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?';
    size_t size = strlen(text);
    text[size++] = '\n';
    takt_report_print(report, text, size);
}

/* ---- how the worker stands ------------------------------------------------------------------- */

void takt_report_set_client(takt_report *report, takt_client *client)
{
    takt_report_look(report); /* the last that the one before did */
    report->client = client;
}

void takt_report_set_phase(takt_report *report, takt_report_phase phase)
{
    static const char *const events[] = {
        [TAKT_REPORT_STARTING] = "starting",
        [TAKT_REPORT_WORKING] = "working",
        [TAKT_REPORT_DRAINING] = "draining",
    };

    if (phase == report->figures.phase)
        return;
    report->figures.phase = phase;
    if (phase == TAKT_REPORT_WORKING)
        takt_notify_tell(&report->notify, "READY=1");
    else if (phase == TAKT_REPORT_DRAINING)
        takt_notify_tell(&report->notify, "STOPPING=1");
    takt_report_tell_manager(report);
    if (takt_report_begin_line(report, events[phase]))
        takt_report_end_line(report);
}

void takt_report_set_trouble(takt_report *report, const char *who, const char *text)
{
    if (!takt_figures_trouble(&report->figures, who, text))
        return;
    takt_report_tell_manager(report);
    takt_report_above(report, "%s: %s", who, text ? text : "works again");
    if (takt_report_begin_line(report, text ? "trouble" : "recovered")) {
        takt_report_log_word(&report->line, "who", who);
        takt_report_log_text(&report->line, "why", text);
        takt_report_end_line(report);
    }
}

void takt_report_set_total(takt_report *report, uint64_t jobs, bool exact)
{
    report->figures.total = jobs;
    report->figures.exact = exact;
}

/* Before the work begins what is said is for whoever started it. */
static bool is_for_starter(const takt_report *report)
{
    return report->figures.phase == TAKT_REPORT_STARTING && !report->pictured &&
           report->log != TAKT_REPORT_LOG_JSON;
}

void takt_report_say(takt_report *report, const char *event, const char *text)
{
    char line[ABOVE_SIZE];

    takt_report_above(report, "%s", text);
    if (is_for_starter(report)) {
        int size = snprintf(line, sizeof(line), "%s: %.1000s\n", report->figures.name, text);
        takt_sink_put(&report->sink, line, (size_t)size);
    } else if (takt_report_begin_line(report, event)) {
        takt_report_log_text(&report->line, "text", text);
        takt_report_end_line(report);
    }
}

/* ---- jobs ------------------------------------------------------------------------------------ */

takt_report_limit *takt_report_get_limit(takt_report *report, const char *limit)
{
    return takt_figures_get(&report->figures, limit);
}

static takt_report_limit *counted(takt_report *report, takt_report_limit *limit)
{
    return limit ? limit : &report->figures.nowhere;
}

static bool begin_job(takt_report *report, const char *event, const takt_report_limit *limit,
                      const char *id)
{
    if (!takt_report_begin_line(report, event))
        return false;
    takt_report_log_text(&report->line, "id", id);
    takt_report_log_word(&report->line, "limit",
                         limit ? limit->name : NULL); /* a name of the policy */
    return true;
}

void takt_report_taken(takt_report *report, takt_report_limit *limit, bool again)
{
    limit = counted(report, limit);
    limit->taken += !again;
    takt_figures_move(limit, TAKT_REPORT_NOWHERE, TAKT_REPORT_WAITING);
}

void takt_report_put_away(takt_report *report, takt_report_limit *limit, bool away)
{
    takt_figures_move(counted(report, limit), away ? TAKT_REPORT_WAITING : TAKT_REPORT_PUT_AWAY,
                      away ? TAKT_REPORT_PUT_AWAY : TAKT_REPORT_NOWHERE);
}

void takt_report_started(takt_report *report, takt_report_limit *limit, const char *id,
                         int64_t waited_us, int64_t late_us)
{
    takt_report_limit *figures = counted(report, limit);

    figures->started++;
    takt_figures_move(figures, TAKT_REPORT_WAITING, TAKT_REPORT_RUNNING);
    takt_figures_histogram_add(&figures->waited, waited_us);
    takt_figures_histogram_add(&figures->late, late_us);
    if (begin_job(report, "started", limit, id)) {
        takt_report_log_seconds(&report->line, "waited_s", waited_us);
        takt_report_log_seconds(&report->line, "late_s", late_us);
        takt_report_end_line(report);
    }
}

void takt_report_done(takt_report *report, takt_report_limit *limit, const char *id,
                      unsigned attempt, int64_t took_us)
{
    takt_report_limit *figures = counted(report, limit);

    figures->done++;
    takt_figures_move(figures, TAKT_REPORT_RUNNING, TAKT_REPORT_NOWHERE);
    takt_figures_histogram_add(&figures->took, took_us);
    if (begin_job(report, "done", limit, id)) {
        takt_report_log_number(&report->line, "attempt", attempt);
        takt_report_log_seconds(&report->line, "took_s", took_us);
        takt_report_end_line(report);
    }
}

void takt_report_retried(takt_report *report, takt_report_limit *limit, const char *id,
                         unsigned attempt, int64_t after_us, const char *why)
{
    takt_report_limit *figures = counted(report, limit);

    figures->retried++;
    takt_figures_move(figures, TAKT_REPORT_RUNNING, TAKT_REPORT_WAITING);
    if (begin_job(report, "retry", limit, id)) {
        takt_report_log_number(&report->line, "attempt", attempt);
        takt_report_log_seconds(&report->line, "after_s", after_us);
        takt_report_log_text(&report->line, "why", why);
        takt_report_end_line(report);
    }
}

void takt_report_dead(takt_report *report, takt_report_limit *limit, takt_report_state from,
                      const char *id, const char *where, const char *why)
{
    takt_report_limit *figures = counted(report, limit);

    figures->dead++;
    takt_figures_move(figures, from, TAKT_REPORT_NOWHERE);
    takt_report_above(report, "%s%s%s%s: %s", id ? "job \"" : "", id ? id : "", id ? "\", " : "",
                      where, why);
    if (begin_job(report, "dead", limit, id)) {
        takt_report_log_text(&report->line, "where", where);
        takt_report_log_text(&report->line, "why", why);
        takt_report_end_line(report);
    }
}

void takt_report_given_back(takt_report *report, takt_report_limit *limit, takt_report_state from,
                            const char *id)
{
    takt_report_limit *figures = counted(report, limit);

    figures->given_back++;
    takt_figures_move(figures, from, TAKT_REPORT_NOWHERE);
    if (begin_job(report, "given_back", limit, id))
        takt_report_end_line(report);
}

void takt_report_lost(takt_report *report, takt_report_limit *limit, takt_report_state from,
                      const char *id)
{
    takt_report_limit *figures = counted(report, limit);

    figures->lost++;
    takt_figures_move(figures, from, TAKT_REPORT_NOWHERE);
    if (begin_job(report, "lost", limit, id))
        takt_report_end_line(report);
}
