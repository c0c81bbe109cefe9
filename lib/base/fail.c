/*
 * fail.c: fills a takt_error. It decides how a long text is cut: at its end and never inside a
 * character, so the location at its start ("takt.yaml:7: ...") is kept. Callers write the message.
 */
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

__attribute__((format(printf, 2, 0))) static void write_text(char text[TAKT_ERROR_TEXT_SIZE],
                                                             const char *format, va_list arguments)
{
    int length = vsnprintf(text, TAKT_ERROR_TEXT_SIZE, format, arguments);
    if (length < 0)
        text[0] = '\0';
    else if (length >= TAKT_ERROR_TEXT_SIZE)
        text[takt_utf8_whole(text, TAKT_ERROR_TEXT_SIZE - 1)] = '\0';
}

/* Both functions first write to a local text, because an argument may point into error->text. */
int takt_fail(takt_error *error, int code, const char *format, ...)
{
    if (error == NULL)
        return code;
    char text[TAKT_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    write_text(text, format, arguments);
    va_end(arguments);
    error->code = code;
    memcpy(error->text, text, strlen(text) + 1);
    return code;
}

void takt_fail_prefix(takt_error *error, const char *format, ...)
{
    if (error == NULL)
        return;
    char text[TAKT_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    write_text(text, format, arguments);
    va_end(arguments);

    size_t length = strlen(text);
    size_t rest = strlen(error->text);
    size_t space = sizeof text - 1 - length;
    int cut = rest > space;
    if (cut)
        rest = space;
    memcpy(text + length, error->text, rest);
    text[length + rest] = '\0';
    if (cut)
        text[takt_utf8_whole(text, strlen(text))] = '\0';
    memcpy(error->text, text, strlen(text) + 1);
}
