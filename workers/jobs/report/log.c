/*
 * log.c: quotes foreign texts as JSON in both formats, so that a job cannot forge a line of the
 * log.
 */
#include "log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "jobs/text/instant.h"
#include "kit/json.h"

#define SECOND_US 1000000

/* Keeps room for the end of the line; a field that does not fit is dropped. */
__attribute__((format(printf, 2, 3))) static void add(takt_report_line *line, const char *format,
                                                      ...)
{
    size_t room = sizeof(line->text) - 3 - line->used;
    va_list arguments;

    va_start(arguments, format);
    int count = vsnprintf(line->text + line->used, room, format, arguments);
    va_end(arguments);
    if (count > 0 && (size_t)count < room)
        line->used += (size_t)count;
}

static void add_quoted(takt_report_line *line, const char *text)
{
    size_t size = strnlen(text, TAKT_REPORT_LOG_TEXT_MAX);
    char character[TAKT_JSON_CHARACTER_SIZE];

    add(line, "\"");
    while (size > 0) {
        size_t count = takt_json_character(text, size, character);
        add(line, "%s", character);
        text += count;
        size -= count;
    }
    add(line, "\"");
}

static void add_name(takt_report_line *line, const char *name)
{
    add(line, line->json ? ",\"%s\":" : " %s=", name);
}

void takt_report_log_begin(takt_report_line *line, bool json, int64_t at_us, const char *program,
                           const char *event)
{
    char time[TAKT_INSTANT_SIZE];

    line->json = json;
    line->used = 0;
    add(line, json ? "{\"time\":\"%s\",\"program\":\"%s\",\"event\":\"%s\"" : "%s %s %s",
        takt_instant_write(at_us, time), program, event);
}

void takt_report_log_text(takt_report_line *line, const char *name, const char *text)
{
    if (!text)
        return;
    add_name(line, name);
    add_quoted(line, text);
}

void takt_report_log_word(takt_report_line *line, const char *name, const char *word)
{
    if (!word)
        return;
    add_name(line, name);
    add(line, line->json ? "\"%s\"" : "%s", word);
}

void takt_report_log_number(takt_report_line *line, const char *name, uint64_t number)
{
    add_name(line, name);
    add(line, "%" PRIu64, number);
}

void takt_report_log_seconds(takt_report_line *line, const char *name, int64_t value_us)
{
    if (value_us < 0)
        value_us = 0;
    add_name(line, name);
    add(line, "%" PRId64 ".%06d", value_us / SECOND_US, (int)(value_us % SECOND_US));
}

void takt_report_log_end(takt_report_line *line)
{
    if (line->json)
        line->text[line->used++] = '}';
    line->text[line->used++] = '\n';
    line->text[line->used] = '\0';
}
