/*
 * say.c: a message of a report becomes a line of the log, or, if there is a picture, a line above
 * it, when it matters to a person.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kit/text.h"
#include "kit/wall_clock.h"
#include "parts.h"

#define ABOVE_SIZE 1200

bool takt_report_say_begin(takt_report *report, const char *event)
{
    if (report->log == TAKT_REPORT_LOG_NONE || report->pictured)
        return false;
    takt_report_log_begin(&report->line, report->log == TAKT_REPORT_LOG_JSON, takt_wall_clock_now(),
                          report->figures.name, event);
    return true;
}

void takt_report_say_end(takt_report *report)
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

/* Replaces characters of foreign texts that would move the cursor or change the writing
 * direction. */
static void blot_hidden(char *text, size_t size)
{
    for (size_t at = 0, length; at < size; at += length) {
        uint32_t letter = 0;
        length = takt_utf8_decode(text + at, size - at, &letter);
        if (length == 0 || takt_quote_hides(letter)) {
            length = length > 0 ? length : 1;
            memset(text + at, '?', length);
        }
    }
}

void takt_report_say_above(takt_report *report, const char *format, ...)
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
    size_t size = strlen(text);
    blot_hidden(text, size);
    text[size++] = '\n';
    takt_report_print(report, text, size);
}

/* Messages before the work begins are for the person who started the worker. */
static bool is_for_starter(const takt_report *report)
{
    return report->figures.phase == TAKT_REPORT_STARTING && !report->pictured &&
           report->log != TAKT_REPORT_LOG_JSON;
}

void takt_report_say(takt_report *report, const char *event, const char *text)
{
    char line[ABOVE_SIZE];

    takt_report_say_above(report, "%s", text);
    if (is_for_starter(report)) {
        int size = snprintf(line, sizeof(line), "%s: %.1000s\n", report->figures.name, text);
        takt_sink_put(&report->sink, line, (size_t)size);
    } else if (takt_report_say_begin(report, event)) {
        takt_report_log_text(&report->line, "text", text);
        takt_report_say_end(report);
    }
}
