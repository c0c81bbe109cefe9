/*
 * log.c: texts of others are quoted as JSON in both forms, so that no job can write a line of its
 * own.
 */
#include "log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kit/text.h"

#define SECOND_US 1000000

const char *takt_report_log_time(int64_t at_us, char text[TAKT_REPORT_LOG_TIME_SIZE])
{
    time_t seconds = at_us / SECOND_US;
    struct tm parts;

    gmtime_r(&seconds, &parts);
    size_t used = strftime(text, TAKT_REPORT_LOG_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + used, TAKT_REPORT_LOG_TIME_SIZE - used, ".%06dZ", (int)(at_us % SECOND_US));
    return text;
}

/* There is always room left for the end: what does not fit is not written. */
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

/* As JSON has it: a character beyond U+FFFF takes two. */
static void add_escaped(takt_report_line *line, uint32_t letter)
{
    if (letter <= 0xffff)
        add(line, "\\u%04x", (unsigned)letter);
    else
        add(line, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (letter >> 10)),
            (unsigned)(0xdc00 + (letter & 0x3ff)));
}

static void add_quoted(takt_report_line *line, const char *text)
{
    const char *end = text + strnlen(text, TAKT_REPORT_LOG_TEXT_MAX);

    add(line, "\"");
    while (text < end) {
        const char *from = text;
        uint32_t letter = 0;
        size_t size = takt_utf8_decode(text, (size_t)(end - text), &letter);
        text += size > 0 ? size : 1;
        if (size == 0)
            add(line, "\xef\xbf\xbd");
        else if (letter == '"' || letter == '\\')
            add(line, "\\%c", (char)letter);
        else if (takt_quote_hides(letter))
            add_escaped(line, letter);
        else
            add(line, "%.*s", (int)(text - from), from);
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
    char time[TAKT_REPORT_LOG_TIME_SIZE];

    line->json = json;
    line->used = 0;
    add(line, json ? "{\"time\":\"%s\",\"program\":\"%s\",\"event\":\"%s\"" : "%s %s %s",
        takt_report_log_time(at_us, time), program, event);
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
