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

int64_t report_wall_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

bool report_begin_line(report *report, const char *event)
{
    if (report->log == REPORT_LOG_NONE || report->pictured)
        return false;
    log_begin(&report->line, report->log == REPORT_LOG_JSON, report_wall_us(), report->figures.name,
              event);
    return true;
}

void report_end_line(report *report)
{
    log_end(&report->line);
    if (report->sink.text.size + report->line.used > SINK_SIZE_MAX / 2)
        sink_flush(&report->sink);
    sink_put(&report->sink, report->line.text, report->line.used);
}

bool report_has_picture(const report *report)
{
    return report->pictured;
}

void report_print(report *report, const char *text, size_t size)
{
    screen_wipe(&report->screen, &report->sink);
    sink_put(&report->sink, text, size);
}

void report_above(report *report, const char *format, ...)
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
    report_print(report, text, size);
}

/* ---- how the worker stands ------------------------------------------------------------------- */

void report_set_client(report *report, takt_client *client)
{
    report_look(report); /* the last that the one before did */
    report->client = client;
}

void report_set_phase(report *report, report_phase phase)
{
    static const char *const events[] = {
        [REPORT_STARTING] = "starting",
        [REPORT_WORKING] = "working",
        [REPORT_DRAINING] = "draining",
    };

    if (phase == report->figures.phase)
        return;
    report->figures.phase = phase;
    if (phase == REPORT_WORKING)
        notify_tell(&report->notify, "READY=1");
    else if (phase == REPORT_DRAINING)
        notify_tell(&report->notify, "STOPPING=1");
    report_tell_manager(report);
    if (report_begin_line(report, events[phase]))
        report_end_line(report);
}

void report_set_trouble(report *report, const char *who, const char *text)
{
    if (!figures_trouble(&report->figures, who, text))
        return;
    report_tell_manager(report);
    report_above(report, "%s: %s", who, text ? text : "works again");
    if (report_begin_line(report, text ? "trouble" : "recovered")) {
        log_word(&report->line, "who", who);
        log_text(&report->line, "why", text);
        report_end_line(report);
    }
}

void report_set_total(report *report, uint64_t jobs, bool exact)
{
    report->figures.total = jobs;
    report->figures.exact = exact;
}

/* Before the work begins what is said is for whoever started it. */
static bool is_for_starter(const report *report)
{
    return report->figures.phase == REPORT_STARTING && !report->pictured &&
           report->log != REPORT_LOG_JSON;
}

void report_say(report *report, const char *event, const char *text)
{
    char line[ABOVE_SIZE];

    report_above(report, "%s", text);
    if (is_for_starter(report)) {
        int size = snprintf(line, sizeof(line), "%s: %.1000s\n", report->figures.name, text);
        sink_put(&report->sink, line, (size_t)size);
    } else if (report_begin_line(report, event)) {
        log_text(&report->line, "text", text);
        report_end_line(report);
    }
}

/* ---- jobs ------------------------------------------------------------------------------------ */

report_limit *report_get_limit(report *report, const char *limit)
{
    return figures_get(&report->figures, limit);
}

static report_limit *counted(report *report, report_limit *limit)
{
    return limit ? limit : &report->figures.nowhere;
}

static bool begin_job(report *report, const char *event, const report_limit *limit, const char *id)
{
    if (!report_begin_line(report, event))
        return false;
    log_text(&report->line, "id", id);
    log_word(&report->line, "limit", limit ? limit->name : NULL); /* a name of the policy */
    return true;
}

void report_taken(report *report, report_limit *limit, bool again)
{
    limit = counted(report, limit);
    limit->taken += !again;
    figures_move(limit, REPORT_NOWHERE, REPORT_WAITING);
}

void report_put_away(report *report, report_limit *limit, bool away)
{
    figures_move(counted(report, limit), away ? REPORT_WAITING : REPORT_PUT_AWAY,
                 away ? REPORT_PUT_AWAY : REPORT_NOWHERE);
}

void report_started(report *report, report_limit *limit, const char *id, int64_t waited_us,
                    int64_t late_us)
{
    report_limit *figures = counted(report, limit);

    figures->started++;
    figures_move(figures, REPORT_WAITING, REPORT_RUNNING);
    histogram_add(&figures->waited, waited_us);
    histogram_add(&figures->late, late_us);
    if (begin_job(report, "started", limit, id)) {
        log_seconds(&report->line, "waited_s", waited_us);
        log_seconds(&report->line, "late_s", late_us);
        report_end_line(report);
    }
}

void report_done(report *report, report_limit *limit, const char *id, unsigned attempt,
                 int64_t took_us)
{
    report_limit *figures = counted(report, limit);

    figures->done++;
    figures_move(figures, REPORT_RUNNING, REPORT_NOWHERE);
    histogram_add(&figures->took, took_us);
    if (begin_job(report, "done", limit, id)) {
        log_number(&report->line, "attempt", attempt);
        log_seconds(&report->line, "took_s", took_us);
        report_end_line(report);
    }
}

void report_retried(report *report, report_limit *limit, const char *id, unsigned attempt,
                    int64_t after_us, const char *why)
{
    report_limit *figures = counted(report, limit);

    figures->retried++;
    figures_move(figures, REPORT_RUNNING, REPORT_WAITING);
    if (begin_job(report, "retry", limit, id)) {
        log_number(&report->line, "attempt", attempt);
        log_seconds(&report->line, "after_s", after_us);
        log_text(&report->line, "why", why);
        report_end_line(report);
    }
}

void report_dead(report *report, report_limit *limit, report_place from, const char *id,
                 const char *where, const char *why)
{
    report_limit *figures = counted(report, limit);

    figures->dead++;
    figures_move(figures, from, REPORT_NOWHERE);
    report_above(report, "%s%s%s%s: %s", id ? "job \"" : "", id ? id : "", id ? "\", " : "", where,
                 why);
    if (begin_job(report, "dead", limit, id)) {
        log_text(&report->line, "where", where);
        log_text(&report->line, "why", why);
        report_end_line(report);
    }
}

void report_given_back(report *report, report_limit *limit, report_place from, const char *id)
{
    report_limit *figures = counted(report, limit);

    figures->given_back++;
    figures_move(figures, from, REPORT_NOWHERE);
    if (begin_job(report, "given_back", limit, id))
        report_end_line(report);
}

void report_lost(report *report, report_limit *limit, report_place from, const char *id)
{
    report_limit *figures = counted(report, limit);

    figures->lost++;
    figures_move(figures, from, REPORT_NOWHERE);
    if (begin_job(report, "lost", limit, id))
        report_end_line(report);
}
